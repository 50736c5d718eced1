<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** What an object of a public class carries. Each has a number of its own: PHP takes no two objects for equal. */
abstract class Value
{
    private static int $last = 0;
    private int $number;

    public function __construct() { $this->number = ++self::$last; }

    /** What var_dump() shows. */
    abstract public function shown(): array;

    /** Makes an object of a class whose constructor is not for applications. */
    public static function wrap(string $class, self $value): object
    {
        $object = (new \ReflectionClass($class))->newInstanceWithoutConstructor();
        $scope = $object instanceof \TokenBucket ? \TokenBucket::class : $class;
        \Closure::bind(static fn() => $object->value = $value, null, $scope)();
        return $object;
    }

    /** The value of an object of one of the public classes; null before its constructor has run. */
    public static function of(object $object): ?self
    {
        $scope = $object instanceof \TokenBucket ? \TokenBucket::class : $object::class;
        return \Closure::bind(static fn(): ?Value => $object->value, null, $scope)();
    }
}

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

/** For objects to which no property can be added. */
trait HasNoOtherProperties
{
    public function __set(string $name, mixed $value): void
    {
        throw Thrown::at(new \Error('Cannot create dynamic property ' . self::class . "::\$$name"));
    }
}
