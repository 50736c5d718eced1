<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** An object of the surface: shows what it was given, is equal to no other, and is neither copied nor kept. */
trait CarriesValue
{
    private ?Value $value = null;

    /** The value. Throws if the call has passed more arguments than there are parameters, which PHP ignores. */
    private function value(int $given = 0, int $most = 0): Value
    {
        $given <= $most || Thrown::tooMany($given);
        $message = 'The object is not initialized: a constructor that overrides must call parent::__construct()';
        return $this->value ?? throw Thrown::at(new \Error($message));
    }

    public function __debugInfo(): array
    {
        $own = (array) $this;
        unset($own["\0" . self::class . "\0value"]);
        return $own + ($this->value === null ? [] : $this->value->shown());
    }

    public function __clone()
    {
        // The copy that PHP has made must not give a permit back.
        $this->value = null;
        throw Thrown::at(new \Error('Trying to clone an uncloneable object of class ' . static::class));
    }

    public function __serialize(): array { throw Thrown::at(new \Exception("Serialization of '" . static::class . "' is not allowed")); }

    public function __unserialize(array $data): void
    {
        throw Thrown::at(new \Exception("Unserialization of '" . static::class . "' is not allowed"));
    }
}
