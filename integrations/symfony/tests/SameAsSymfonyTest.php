<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\Tests;

use Symfony\Component\RateLimiter\RateLimiterFactory as SymfonyFactory;
use Symfony\Component\RateLimiter\RateLimit;
use Symfony\Component\RateLimiter\Storage\InMemoryStorage;

/** The same calls on Symfony's own limiters and on these have the same results, as long as no time passes that matters. */
final class SameAsSymfonyTest extends FrozenTime
{
    private const CALLS = 2_000;

    public function testRandomCallsHaveTheSameResults(): void
    {
        mt_srand(17);
        foreach (self::LIMITED as $config) {
            $config = array_replace_recursive($config, isset($config['rate']) ? ['rate' => ['interval' => '1 day']] : ['interval' => '1 day']);
            $theirs = (new SymfonyFactory($config + ['id' => 'x'], new InMemoryStorage()))->create('client');
            $ours = $this->limiter($config);
            for ($i = 0; $i < self::CALLS; $i++) {
                if (mt_rand(1, 5) === 1) {
                    $theirs->reset();
                    $ours->reset();
                }
                $tokens = mt_rand(1, 4);
                self::assertSame(self::described($theirs->consume($tokens)), self::described($ours->consume($tokens)), $config['policy']);
            }
        }
    }

    /** @return array{bool, int, int} */
    private static function described(RateLimit $limit): array
    {
        return [$limit->isAccepted(), $limit->getRemainingTokens(), $limit->getLimit()];
    }
}
