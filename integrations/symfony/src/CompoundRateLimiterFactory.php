<?php

declare(strict_types=1);

namespace TokenBucket\Symfony;

use Symfony\Component\RateLimiter\LimiterInterface;

/** Makes limiters of several limits, charged all or nothing: the policy "compound" of Symfony 7.3 and later. */
final class CompoundRateLimiterFactory implements LimiterFactory
{
    /**
     * @param iterable<LimiterFactory> $factories factories of this package
     * @param array<array-key, string> $keys a factory's own key in place of the one given to create(), as Symfony 8.1 has it
     */
    public function __construct(private iterable $factories, private array $keys = [])
    {
    }

    public function create(?string $key = null): LimiterInterface
    {
        $limiters = [];
        $unknown = $this->keys;
        foreach ($this->factories as $name => $factory) {
            $limiters[] = $factory->create($this->keys[$name] ?? $key);
            unset($unknown[$name]);
        }
        if ($unknown !== []) {
            throw new \LogicException('The keys name limiters that the compound does not have: ' . implode(', ', array_keys($unknown)) . '.');
        }

        return new CompoundLimiter($limiters);
    }
}
