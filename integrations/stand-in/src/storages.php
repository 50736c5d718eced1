<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** What a storage object carries. */
final class StorageValue extends Value
{
    /** @var array<int, int> the size of a full bucket in nanoseconds, while a consume() runs its bootstrap closure; by the fiber's id */
    public array $bootstrapping = [];
    /** @var array<int, bool> whether bootstrap() has started the bucket, if it was called */
    public array $hasStarted = [];

    public function __construct(public Limiter $limiter, private string $dsn) { parent::__construct(); }
    public function shown(): array { return ['dsn' => $this->dsn]; }
}

/** A storage of ours, for code that was written for the contract TokenBucketStorage. A limiter takes the store out of such an object. */
trait CarriesStorage
{
    use CarriesValue;
    use HasNoOtherProperties;

    private function make(string $dsn, int $given): void
    {
        $given > 1 && Thrown::tooMany($given);
        $parsed = Dsn::parse($dsn);
        if ($parsed->scheme !== self::SCHEME) {
            throw Thrown::configuration('The DSN of this storage must begin with ' . self::BEGINS_WITH);
        }
        // Each object of array: has its own buckets, so that tests do not affect each other.
        $limiter = self::SCHEME === 'array' ? Limiter::with(new ArrayStore(), $parsed) : Limiter::on($dsn);
        $this->value = new StorageValue($limiter, $dsn);
    }

    public function prepare(): void
    {
        try {
            Transaction::run([[$this->value()->limiter->store, '']], static fn(): array => [null, []]);
        } catch (Doubt $doubt) {
            FileStore::failToWrite($doubt);
        }
    }

    public function bootstrap($identifier, $microtime): void
    {
        $identifier = Thrown::unlessIdentifier($identifier, 1);
        $microtime = self::number($microtime, 2);
        $full = $this->value()->bootstrapping[self::fiber()] ?? throw Thrown::logic(
            'bootstrap() must be called by the closure that was passed to consume(); a bucket without a record is full',
        );
        // The record is told the time of day, also where a test's clock is frozen.
        $missing = (int) min(max($full - Limit::nearest((microtime(true) - $microtime) * 1e9), 0), $full);
        $limit = TokenBucket::perNanosecond($full);
        $answer = $this->value()->limiter->decide($identifier, $limit, new Op(Op::START, time: $missing));
        $this->value()->hasStarted[self::fiber()] = $answer?->isAccepted;
    }

    public function consume($identifier, $microtime, $full_microtime, $bootstrap_closure): bool
    {
        $identifier = Thrown::unlessIdentifier($identifier, 1);
        // Rounded down: ten times a tenth of a bucket must not cost more than one bucket.
        $cost = (int) min(floor(self::nanoseconds($microtime, 2)), PHP_INT_MAX);
        $full = (int) min(floor(self::nanoseconds($full_microtime, 3) + 0.5), PHP_INT_MAX);
        try {
            $limit = TokenBucket::perNanosecond($full);
        } catch (LimitError) {
            throw Thrown::value(3, 'must be above 0 and at most four years, in seconds');
        }
        $value = $this->value();
        $decide = static fn(Op $op) => $value->limiter->decide($identifier, $limit, $op);
        if ($bootstrap_closure !== null && $decide(new Op(Op::PEEK))?->resetAfter() === 0.0) {
            is_callable($bootstrap_closure) || throw Thrown::value(4, 'must be a callable or null');
            $fiber = self::fiber();
            [$outer, $outerStarted] = [$value->bootstrapping[$fiber] ?? null, $value->hasStarted[$fiber] ?? null];
            [$value->bootstrapping[$fiber], $value->hasStarted[$fiber]] = [$full, null];
            try {
                $result = (bool) $bootstrap_closure();
                $hasStarted = $value->hasStarted[$fiber];
            } finally {
                [$value->bootstrapping[$fiber], $value->hasStarted[$fiber]] = [$outer, $outerStarted];
            }
            // Another process may have started the bucket meanwhile. Then this call takes from it, as below.
            if ($hasStarted !== false) {
                return $result;
            }
        }
        $answer = $decide(Op::take($cost));
        return $answer === null || $answer->isAccepted || !$value->limiter->isEnforced;
    }

    /** The id of the fiber that runs; 0 outside fibers. */
    private static function fiber(): int
    {
        $fiber = \Fiber::getCurrent();
        return $fiber === null ? 0 : spl_object_id($fiber);
    }

    private static function nanoseconds(mixed $seconds, int $argument): float
    {
        $seconds = self::number($seconds, $argument);
        $isValid = is_finite($seconds) && $seconds >= 0;
        return $isValid ? $seconds * 1e9 : throw Thrown::value($argument, 'must be a finite number of seconds, 0 or above');
    }

    /** The contract has no types: a number is what PHP takes for one. */
    private static function number(mixed $value, int $argument): float
    {
        $isNumber = is_numeric($value) || is_bool($value);
        $must = 'must be of type float, ' . get_debug_type($value) . ' given';
        return $isNumber ? (float) $value : throw Thrown::value($argument, $must, \TypeError::class);
    }
}

/** For stores on servers, which the stand-in has not: each DSN is refused. */
trait NeedsServer
{
    use CarriesStorage;

    public function __construct(#[\SensitiveParameter] string $dsn) { $this->make($dsn, func_num_args()); }
}

namespace TokenBucket;

final class SharedMemoryStorage implements \TokenBucketStorage
{
    use StandIn\CarriesStorage;

    private const SCHEME = 'shm';
    private const BEGINS_WITH = '"shm:"';

    public function __construct(#[\SensitiveParameter] string $dsn = 'shm:') { $this->make($dsn, func_num_args()); }
}

final class ArrayStorage implements \TokenBucketStorage
{
    use StandIn\CarriesStorage;

    private const SCHEME = 'array';
    private const BEGINS_WITH = '"array:"';

    public function __construct(#[\SensitiveParameter] string $dsn = 'array:') { $this->make($dsn, func_num_args()); }
}

final class RedisStorage implements \TokenBucketStorage
{
    use StandIn\NeedsServer;

    private const SCHEME = 'redis';
    private const BEGINS_WITH = '"redis:" or "rediss:"';
}

final class MemcachedStorage implements \TokenBucketStorage
{
    use StandIn\NeedsServer;

    private const SCHEME = 'memcached';
    private const BEGINS_WITH = '"memcached:"';
}

final class MysqlStorage implements \TokenBucketStorage
{
    use StandIn\NeedsServer;

    private const SCHEME = 'mysql';
    private const BEGINS_WITH = '"mysql:"';
}
