<?php
declare(strict_types=1);

/*
 * What the stand-in has beyond the extension. For the analyser alone (mago.toml): never run.
 */

namespace TokenBucket\StandIn;

/** @param array<string, mixed> $directives */
function configure(array $directives): void
{
}
