<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** What a storage object carries. */
final class StorageValue extends Value
{
    /** The size of a full bucket in nanoseconds, while a consume() runs its bootstrap closure. */
    public ?int $bootstrapping = null;
    /** Whether bootstrap() has started the bucket; null if it was not called. */
    public ?bool $hasStarted = null;

    public function __construct(public Limiter $limiter, private string $dsn) { parent::__construct(); }
    public function shown(): array { return ['dsn' => $this->dsn]; }
}
