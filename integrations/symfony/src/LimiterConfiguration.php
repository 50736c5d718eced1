<?php

declare(strict_types=1);

namespace TokenBucket\Symfony;

use Symfony\Component\OptionsResolver\OptionsResolver;

/** The configuration of one limiter, checked. */
final class LimiterConfiguration
{
    /** What to do about a limiter that only Symfony can have. */
    public const LEAVE = 'or leave the limiter to Symfony: with the bundle, name it in token_bucket.left_to_symfony';

    private const POLICIES = ['token_bucket', 'fixed_window', 'sliding_window', 'no_limit'];

    /** @param float $seconds how long a window is, or how long an empty bucket takes to become full */
    private function __construct(
        public readonly string $id,
        public readonly string $policy,
        public readonly int $limit,
        public readonly float $seconds,
    ) {
    }

    /** @param array<string, mixed> $config */
    public static function fromArray(array $config): self
    {
        $options = new OptionsResolver();
        $options->define('id')->required()->allowedTypes('string');
        $options->define('policy')->required()->allowedValues(...self::POLICIES);
        $options->define('limit')->allowedTypes('int', 'null')->default(null);
        $options->define('interval')->allowedTypes('string', 'null')->default(null);
        $options->define('rate')->allowedTypes('array', 'null')->default(null);
        // Only its absence can be had: Symfony 8.1 gives it to every limiter.
        $options->define('anchor_at')->default(null);
        $resolved = $options->resolve($config);

        $id = $resolved['id'];
        if ($id === '' || strlen($id) > 256) {
            throw new \InvalidArgumentException('The option "id" of a limiter must have 1 to 256 bytes.');
        }
        if ($resolved['anchor_at'] !== null) {
            throw new \InvalidArgumentException("The limiter \"$id\" has \"anchor_at\", which token_bucket's fixed windows do not have: use a TokenBucket\CalendarWindow, " . self::LEAVE . '.');
        }
        if ($resolved['policy'] === 'no_limit') {
            return new self($id, 'no_limit', 0, 0.0);
        }
        $limit = $resolved['limit'] ?? throw self::missing($id, 'limit', $resolved['policy']);
        if ($resolved['policy'] === 'token_bucket') {
            $seconds = $limit * self::secondsPerToken($id, $resolved['rate']);
        } else {
            $seconds = self::seconds($id, $resolved['interval'] ?? throw self::missing($id, 'interval', $resolved['policy']));
        }

        return new self($id, $resolved['policy'], $limit, (float) $seconds);
    }

    /** @param array<mixed>|null $rate */
    private static function secondsPerToken(string $id, ?array $rate): float
    {
        $options = new OptionsResolver();
        $options->define('interval')->required()->allowedTypes('string');
        $options->define('amount')->allowedTypes('int')->default(1)->allowedValues(static fn (int $amount): bool => $amount > 0);
        $resolved = $options->resolve($rate ?? throw self::missing($id, 'rate', 'token_bucket'));

        return self::seconds($id, $resolved['interval']) / $resolved['amount'];
    }

    /** The length of "15 minutes" in seconds, from now on and in UTC: a month has as many days as the one that begins now. */
    private static function seconds(string $id, string $interval): int
    {
        $now = new \DateTimeImmutable('@' . time());
        try {
            $end = @$now->modify("+$interval");
        } catch (\Exception) { // PHP 8.3 throws where 8.2 returns false
            $end = false;
        }
        if ($end === false) {
            throw new \LogicException("Cannot parse the interval \"$interval\" of the limiter \"$id\": write a number and a unit, as in \"15 minutes\".");
        }
        $seconds = $end->getTimestamp() - $now->getTimestamp();
        if ($seconds <= 0) {
            throw new \InvalidArgumentException("The interval \"$interval\" of the limiter \"$id\" must be longer than 0 seconds.");
        }

        return $seconds;
    }

    private static function missing(string $id, string $option, string $policy): \InvalidArgumentException
    {
        return new \InvalidArgumentException("The limiter \"$id\" has the policy \"$policy\", which needs the option \"$option\".");
    }
}
