<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** Exceptions and warnings as the extension has them: in its words, and where the application has called. */
final class Thrown
{
    /** The error of an argument of the method or function that the application has called. */
    public static function value(int $argument, string $must, string $class = \ValueError::class): \Throwable
    {
        $function = self::reflect(self::trace()[0]);
        $parameters = $function->getParameters();
        $name = $parameters[min($argument, count($parameters)) - 1]->getName();
        $name = $function->isVariadic() ? '' : " (\$$name)";
        return self::at(new $class(self::name() . "(): Argument #$argument$name $must"));
    }

    /** A wrong number of tokens, hits or permits, or seconds; by the positions of their arguments. */
    public static function limit(LimitError $error, int $count, int $time): \Throwable
    {
        return self::value($error->isOfCount() ? $count : $time, $error->getMessage());
    }

    /** Throws if the application has passed more arguments than there are parameters: PHP ignores those. */
    public static function tooMany(int $given): never
    {
        $function = self::reflect(self::trace()[0]);
        $most = $function->getNumberOfParameters();
        $how = $function->getNumberOfRequiredParameters() === $most ? 'exactly' : 'at most';
        $arguments = $most === 1 ? 'argument' : 'arguments';
        throw self::at(new \ArgumentCountError(self::name() . "() expects $how $most $arguments, $given given"));
    }

    /** A count of tokens: 0 or more. */
    public static function unlessCount(int $count, int $argument = 1): int
    {
        return $count >= 0 ? $count : throw self::value($argument, 'must be greater than or equal to 0');
    }

    /** Checks an identifier, which is 1 to 4,096 bytes long. */
    public static function unlessIdentifier(string $identifier, int $argument = 2): string
    {
        $isValid = $identifier !== '' && strlen($identifier) <= 4096;
        return $isValid ? $identifier : throw self::value($argument, 'must be between 1 and 4096 bytes long');
    }

    /**
     * Gives an exception the place and the trace of the application's call.
     *
     * @template T of \Throwable
     *
     * @param T $exception
     *
     * @return T
     */
    public static function at(\Throwable $exception): \Throwable
    {
        $trace = self::trace();
        $own = $exception instanceof \Error ? \Error::class : \Exception::class;
        foreach (['file' => $trace[0]['file'] ?? '', 'line' => $trace[0]['line'] ?? 0, 'trace' => $trace] as $name => $value) {
            (new \ReflectionProperty($own, $name))->setValue($exception, $value);
        }
        return $exception;
    }

    /** The name of the method or function that the application has called. */
    public static function name(): string
    {
        [$call] = self::trace();
        return isset($call['class']) ? "{$call['class']}::{$call['function']}" : $call['function'];
    }

    private static function reflect(array $call): \ReflectionFunctionAbstract
    {
        ['class' => $class, 'function' => $function] = $call + ['class' => null];
        return $class === null ? new \ReflectionFunction($function) : new \ReflectionMethod($class, $function);
    }

    /** The calls, without those inside the stand-in. */
    private static function trace(): array
    {
        // Before 8.2 PHP hides no argument that may hold a password.
        $hasArguments = PHP_VERSION_ID >= 80200 && !ini_get('zend.exception_ignore_args');
        $trace = debug_backtrace($hasArguments ? 0 : DEBUG_BACKTRACE_IGNORE_ARGS);
        $own = __DIR__ . DIRECTORY_SEPARATOR;
        while (count($trace) > 1 && str_starts_with($trace[0]['file'] ?? '', $own)) {
            array_shift($trace);
        }
        return $trace;
    }
}
