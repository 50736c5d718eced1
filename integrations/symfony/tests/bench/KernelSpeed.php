<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\Tests\bench;

/** Requests per second of a kernel in one process: all variants take turns, and the median of the rounds counts. */
final class KernelSpeed
{
    private const ROUNDS = 41;
    private const REQUESTS = 100;
    private const CLIENTS = 50;
    /** So large that every request is accepted. */
    private const LIMITER = ['policy' => 'fixed_window', 'limit' => 1_000_000, 'interval' => '1 hour'];

    /** @param list<Variant> $variants */
    public static function print(array $variants): void
    {
        $kernels = array_map(static fn (Variant $variant) => $variant->kernel(self::LIMITER), $variants);
        $rates = [];
        for ($round = -1; $round < self::ROUNDS; $round++) {
            foreach ($kernels as $i => $kernel) {
                $begun = hrtime(true);
                for ($request = 0; $request < self::REQUESTS; $request++) {
                    Variant::isAccepted($kernel, 'client' . $request % self::CLIENTS);
                }
                // The first round only warms up.
                if ($round >= 0) {
                    $rates[$i][] = self::REQUESTS / (hrtime(true) - $begun) * 1e9;
                }
            }
        }
        echo "\n| limiter | requests/s | time that the limiter adds |\n|---|---|---|\n";
        foreach ($variants as $i => $variant) {
            sort($rates[$i]);
            $rate = $rates[$i][intdiv(self::ROUNDS, 2)];
            $without ??= $rate;
            $added = $variant->isLimited() ? sprintf('%.0f µs', (1 / $rate - 1 / $without) * 1e6) : '';
            printf("| %s | %s | %s |\n", $variant->name, number_format($rate), $added);
        }
    }
}
