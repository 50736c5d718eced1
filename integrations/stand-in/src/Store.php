<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** Keeps states by their keys. */
interface Store
{
    /** The shelf on which the state of a key lies. */
    public function shelf(string $key): Shelf;
}
