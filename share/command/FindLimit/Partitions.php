<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** The requests that were read, in files by client: all of a client's are in the file of one number. */
final class Partitions
{
    public const COUNT = 64;
    /** Added to each time, so that all have the same number of digits. */
    private const TIME_BASE = 10_000_000_000_000;
    private const TIME_LENGTH = 14;

    /** @var list<TemporaryFile> */
    private array $files = [];

    public function __construct()
    {
        for ($number = 0; $number < self::COUNT; $number++) {
            $this->files[] = new TemporaryFile();
        }
    }

    public function add(string $client, int $milliseconds, string $agent_code): void
    {
        $this->files[crc32($client) % self::COUNT]->write((self::TIME_BASE + $milliseconds) . "$agent_code$client\n");
    }

    public function flush(): void
    {
        foreach ($this->files as $file) {
            $file->flush();
        }
    }

    /** @return array<string, int> how many requests each client of one number has */
    public function volumes(int $number): array
    {
        $volumes = [];
        foreach ($this->files[$number]->lines() as $line) {
            $client = substr($line, self::TIME_LENGTH + UserAgents::CODE_LENGTH);
            $volumes[$client] = ($volumes[$client] ?? 0) + 1;
        }
        return $volumes;
    }

    /** @return \Generator<ClientHits> all clients of one number */
    public function clients(int $number): \Generator
    {
        $counts = $agents = [];
        foreach ($this->files[$number]->lines() as $line) {
            $milliseconds = (int) substr($line, 0, self::TIME_LENGTH) - self::TIME_BASE;
            $agent = substr($line, self::TIME_LENGTH, UserAgents::CODE_LENGTH);
            $client = substr($line, self::TIME_LENGTH + UserAgents::CODE_LENGTH);
            $counts[$client][$milliseconds] = ($counts[$client][$milliseconds] ?? 0) + 1;
            if (!isset($agents[$client])) {
                $agents[$client] = $agent;
            } elseif (strlen($agents[$client]) < ClientHits::MOST_AGENTS * UserAgents::CODE_LENGTH && !self::has($agents[$client], $agent)) {
                $agents[$client] .= $agent;
            }
        }
        foreach ($counts as $client => $times) {
            ksort($times);
            yield new ClientHits((string) $client, $times, $agents[$client]);
        }
    }

    private static function has(string $codes, string $code): bool
    {
        return in_array($code, str_split($codes, UserAgents::CODE_LENGTH), true);
    }
}
