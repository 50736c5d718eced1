<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/**
 * Likely mistakes in code: each kind is said once in a process, and by pages, which forget all after each request, once a day. None is while
 * token_bucket.warn_of_mistakes is off.
 */
final class Mistake
{
    private static array $said = [];

    /** Whether to say a mistake of this kind now. */
    public static function claim(string $kind): bool
    {
        if (isset(self::$said[$kind]) || !Settings::get('warn_of_mistakes')) {
            return false;
        }
        self::$said[$kind] = true;
        return PHP_SAPI === 'cli' || Transaction::undisturbed(static fn(): bool => self::claimForADay($kind));
    }

    /** Notes that a page of this user says it; false if one has since yesterday. */
    private static function claimForADay(string $kind): bool
    {
        try {
            $file = FileStore::ownFolder()[0] . '/said.' . strtr($kind, ' ', '_');
        } catch (\TokenBucket\TokenBucketException) {
            return true;
        }
        return (int) filemtime($file) < time() - 86_400 && touch($file);
    }

    /** A line of PHP's log, if it has one. */
    public static function log(string $text): void
    {
        if (ini_get('log_errors')) {
            error_log("token_bucket: $text");
        }
    }

    /** A warning; where the application handles warnings, a line of the log, for the call has an answer. */
    public static function warn(string $text): void
    {
        $hasHandler = set_error_handler(null) !== null;
        restore_error_handler();
        if ($hasHandler) {
            self::log($text);
        } else {
            trigger_error(Thrown::name() . "(): $text", E_USER_WARNING);
        }
    }

    /** A rate that is probably a period: `new TokenBucket(null, $id, 5, 300)` gets 300 tokens back each second. */
    public static function warnOfPeriod(int $capacity, float $rate): void
    {
        if ($rate <= $capacity || fmod($rate, 60) !== 0.0 || !self::claim('period')) {
            return;
        }
        $seconds = $capacity / $rate;
        $decimals = $seconds < 1 ? (int) min(1 - floor(log10($seconds)), 20) : 3;
        $refill = rtrim(rtrim(number_format($seconds, $decimals, '.', ''), '0'), '.');
        self::warn("A bucket of $capacity is full again in $refill s, for the fourth argument is a rate per second; $capacity in "
            . "$rate seconds is TokenBucket::per(..., $capacity, $rate)");
    }

    /** Seconds that are probably milliseconds: whole half minutes in milliseconds and no whole days in seconds. */
    public static function warnOfMilliseconds(string $parameter, float $seconds): void
    {
        $isWhole = static fn(float $of): bool => fmod($seconds, $of) === 0.0;
        if ($seconds < 30_000 || !$isWhole(30_000) || $isWhole(86_400) && !$isWhole(3_600_000) || !self::claim('milliseconds')) {
            return;
        }
        $hours = $seconds / 3_600;
        $time = $hours < 48 ? sprintf('%.1F hours', $hours) : sprintf('%.1F days', $hours / 24);
        $meant = $seconds / 1_000;
        self::warn("$parameter is in seconds, and $seconds are $time; if milliseconds were meant, write $meant");
    }
}

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

    /** The length of a block or a lifetime in nanoseconds, from argument 1. */
    public static function unlessDuration(float $seconds): int
    {
        try {
            return Limit::duration($seconds);
        } catch (LimitError $e) {
            throw self::value(1, $e->getMessage());
        }
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

    public static function configuration(string $message): \Throwable { return self::at(new \TokenBucket\ConfigurationException($message)); }
    public static function logic(string $message): \Throwable { return self::at(new \LogicException($message)); }

    /** The name of the method or function that the application has called. */
    public static function name(): string
    {
        [$call] = self::trace();
        return isset($call['class']) ? "{$call['class']}::{$call['function']}" : $call['function'];
    }

    /** The file and the line in which the application has called. */
    public static function place(): string
    {
        [$call] = self::trace();
        return Text::path($call['file'] ?? '') . ':' . ($call['line'] ?? 0);
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

/** Text of a caller or an operator in a message. */
final class Text
{
    /** Makes a text fit for a message: short, and without what is not printable. */
    public static function cut(string $text): string
    {
        $characters = self::characters($text);
        $shown = implode('', array_map([self::class, 'escape'], array_slice($characters, 0, 64)));
        return count($characters) > 64 ? "$shown..." : $shown;
    }

    /** The same without what may be the rest of a password. */
    public static function quoteUnlessSecret(string $text): string { return str_contains($text, '@') ? '' : ' "' . self::cut($text) . '"'; }

    /** A name as printable ASCII, all that a field of HTTP may hold: other bytes are percent-encoded. */
    public static function percentEncode(string $text): string
    {
        return preg_replace_callback('/[^ -~]/', static fn(array $byte): string => sprintf('%%%02X', ord($byte[0])), $text);
    }

    public static function isAbsolute(string $path): bool { return preg_match('~^(/|[A-Za-z]:[/\\\\]|\\\\\\\\)~', $path) === 1; }

    /** A path in a message, however long it is: without control characters. */
    public static function path(string $path): string
    {
        return preg_replace_callback('/[\x00-\x1f\x7f]/', static fn(array $it): string => self::escape($it[0]), $path);
    }

    /** A text in a message as it was written, with escapes where it could break a line. */
    public static function debug(string $text): string
    {
        $isPlain = static fn(string $it): bool => preg_match('/^[^\p{C}"\'\\\\]$/u', $it) === 1;
        $escape = static fn(string $it): string => $isPlain($it) ? $it : ($it === "\0" ? '\0' : self::escape($it));
        return implode('', array_map($escape, self::characters($text)));
    }

    /** The text; without its bytes above ASCII if it is not UTF-8. */
    public static function utf8(string $text): string
    {
        return preg_match('//u', $text) ? $text : preg_replace('/[\x80-\xff]/', "\u{fffd}", $text);
    }

    private static function characters(string $text): array { return preg_split('//u', self::utf8($text), -1, PREG_SPLIT_NO_EMPTY); }

    private static function escape(string $character): string
    {
        return match (true) {
            $character === "\n" => '\n',
            $character === "\r" => '\r',
            $character === "\t" => '\t',
            in_array($character, ["'", '"', '\\'], true) => "\\$character",
            $character >= ' ' && $character <= '~' => $character,
            default => sprintf('\u{%x}', self::codePoint($character)),
        };
    }

    private static function codePoint(string $character): int
    {
        $bytes = array_values(unpack('C*', $character));
        $first = $bytes[0] & [1 => 0x7f, 2 => 0x1f, 3 => 0x0f, 4 => 0x07][count($bytes)];
        return array_reduce(array_slice($bytes, 1), static fn(int $point, int $byte): int => ($point << 6) | ($byte & 0x3f), $first);
    }
}
