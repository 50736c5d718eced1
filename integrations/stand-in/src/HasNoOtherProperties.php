<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** For objects to which no property can be added. */
trait HasNoOtherProperties
{
    public function __set(string $name, mixed $value): void
    {
        throw Thrown::at(new \Error('Cannot create dynamic property ' . self::class . "::\$$name"));
    }
}
