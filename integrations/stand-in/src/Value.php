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
