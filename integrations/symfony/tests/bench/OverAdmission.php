<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\Tests\bench;

/** How many requests of eight processes at once are accepted by one limit of 100. */
final class OverAdmission
{
    private const ROUNDS = 5;
    private const PROCESSES = 8;
    private const REQUESTS = 100;
    private const LIMIT = 100;
    private const LIMITER = ['policy' => 'fixed_window', 'limit' => self::LIMIT, 'interval' => '1 hour'];

    /** @param list<Variant> $variants */
    public static function print(array $variants): void
    {
        printf("\n| limiter | accepted of %d with a limit of %d, in %d rounds |\n|---|---|\n", self::PROCESSES * self::REQUESTS, self::LIMIT, self::ROUNDS);
        $limited = array_values(array_filter($variants, static fn (Variant $variant): bool => $variant->isLimited()));
        // Compiles the containers, so that the processes only read them.
        foreach ($limited as $variant) {
            $variant->kernel(self::LIMITER)->shutdown();
        }
        $accepted = [];
        for ($round = 0; $round < self::ROUNDS; $round++) {
            foreach ($limited as $variant) {
                $accepted[$variant->name][] = self::acceptedInOneRound($variant, "round$round");
            }
        }
        foreach ($accepted as $name => $counts) {
            sort($counts);
            printf("| %s | %s |\n", $name, implode(', ', $counts));
        }
    }

    private static function acceptedInOneRound(Variant $variant, string $client): int
    {
        [$start, $gate] = self::pair();
        $results = [];
        for ($process = 0; $process < self::PROCESSES; $process++) {
            [$result, $sender] = self::pair();
            $pid = pcntl_fork();
            if ($pid === 0) {
                fclose($start);
                self::attack($variant, $client, $gate, $sender);
                // Not exit(), which would end the servers of the parent, too.
                posix_kill((int) getmypid(), SIGKILL);
            }
            fclose($sender);
            $results[$pid] = $result;
        }
        // All processes wait until this end is closed.
        foreach ($results as $result) {
            fread($result, 1);
        }
        fclose($start);
        $accepted = array_sum(array_map(static fn ($result): int => (int) stream_get_contents($result), $results));
        foreach (array_keys($results) as $pid) {
            pcntl_waitpid($pid, $status);
        }

        return $accepted;
    }

    /**
     * @param resource $gate
     * @param resource $sender
     */
    private static function attack(Variant $variant, string $client, $gate, $sender): void
    {
        $kernel = $variant->kernel(self::LIMITER);
        fwrite($sender, ' ');
        stream_get_contents($gate);
        $accepted = 0;
        for ($request = 0; $request < self::REQUESTS; $request++) {
            $accepted += (int) Variant::isAccepted($kernel, $client);
        }
        fwrite($sender, (string) $accepted);
        fclose($sender);
    }

    /** @return array{resource, resource} */
    private static function pair(): array
    {
        $pair = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        if ($pair === false) {
            throw new \RuntimeException('There are no more sockets.');
        }

        return [$pair[0], $pair[1]];
    }
}
