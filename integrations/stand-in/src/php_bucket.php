<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** A bucket on a storage written in PHP: an object of any class that implements TokenBucketStorage. */
final class PhpBucket extends Value
{
    /** @param float $left what the call leaves in a full bucket, in seconds */
    private function __construct(private \TokenBucketStorage $storage, private string $identifier, private float $left)
    {
        parent::__construct();
    }

    public function shown(): array { return []; }

    /** Takes tokens. Only whether the storage accepts is known: the times are those of an empty bucket, and no tokens are left. */
    public static function decide(LimiterValue $value, string $method, int $cost): LimitDecision
    {
        $limit = $value->limit($method);
        $isAccepted = $cost === 0;
        if ($cost > 0 && $cost <= $limit->capacity) {
            $isAccepted = self::consume($value, $method, $limit, $cost);
        }
        $retryAt = $cost > $limit->capacity ? Answer::NEVER : TokenBucket::ceil($limit->costInTime($cost));
        $taken = $isAccepted ? $cost : 0;
        $answer = new Answer($isAccepted, 0, $isAccepted ? 0 : $retryAt, $limit->window(), Answer::NOTHING, $taken);
        return $value->decision($answer, $limit, Op::take($cost));
    }

    private static function consume(LimiterValue $value, string $method, TokenBucket $limit, int $cost): bool
    {
        $storage = $value->backend;
        foreach (debug_backtrace(0) as $call) {
            // A call from another fiber, while one waits in there, is another one.
            if (($call['class'] ?? '') === self::class && $call['function'] === 'ask' && $call['args'][0] === $value) {
                throw Thrown::logic("$method(): a storage must not call the bucket for which its consume() is running");
            }
        }
        $capacity = $limit->capacity;
        $rate = $value->arguments['tokens_per_second'] ?? $capacity / $value->arguments['interval'];
        $bootstrap = self::wrap(\TokenBucket\Bootstrap::class, new self($storage, $value->identifier, ($capacity - $cost) / $rate));
        $accepted = self::ask($value, $cost / $rate, $capacity / $rate, \Closure::fromCallable($bootstrap));
        if (!is_bool($accepted)) {
            $type = get_debug_type($accepted);
            throw Thrown::at(new \TypeError($storage::class . "::consume(): Return value must be of type bool, $type returned"));
        }
        return $accepted;
    }

    private static function ask(LimiterValue $value, float $cost, float $full, \Closure $bootstrap): mixed
    {
        return $value->backend->consume($value->identifier, $cost, $full, $bootstrap);
    }

    public function bootstrap(): void { $this->storage->bootstrap($this->identifier, microtime(true) - $this->left); }
}

namespace TokenBucket;

final class Bootstrap
{
    use StandIn\CarriesValue;
    use StandIn\HasNoOtherProperties;

    private function __construct() {}

    public function __invoke(): bool
    {
        $this->value(func_num_args())->bootstrap();
        return true;
    }
}
