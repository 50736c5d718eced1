<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** The requests that one process has read, in files by client: all of a client's are in the file of one number. */
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

    /**
     * How many requests each client of one number has.
     *
     * @param list<Partitions> $all of every process that has read
     *
     * @return array<string, int>
     */
    public static function volumes(array $all, int $number): array
    {
        $volumes = [];
        foreach ($all as $partitions) {
            foreach ($partitions->files[$number]->lines() as $line) {
                $client = substr($line, self::TIME_LENGTH + UserAgents::CODE_LENGTH);
                $volumes[$client] = ($volumes[$client] ?? 0) + 1;
            }
        }
        return $volumes;
    }

    /**
     * All clients of one number.
     *
     * @param list<Partitions> $all of every process that has read
     *
     * @return \Generator<ClientHits>
     */
    public static function clients(array $all, int $number): \Generator
    {
        $counts = $agents = [];
        foreach ($all as $partitions) {
            foreach ($partitions->files[$number]->lines() as $line) {
                $milliseconds = (int) substr($line, 0, self::TIME_LENGTH) - self::TIME_BASE;
                $agent = substr($line, self::TIME_LENGTH, UserAgents::CODE_LENGTH);
                $client = substr($line, self::TIME_LENGTH + UserAgents::CODE_LENGTH);
                $counts[$client][$milliseconds] = ($counts[$client][$milliseconds] ?? 0) + 1;
                if (!isset($agents[$client])) {
                    $agents[$client] = $agent;
                } elseif (strlen($agents[$client]) < ClientHits::MOST_AGENTS * UserAgents::CODE_LENGTH && !str_contains($agents[$client], $agent)) {
                    $agents[$client] .= $agent;
                }
            }
        }
        foreach ($counts as $client => $times) {
            ksort($times);
            yield new ClientHits((string) $client, $times, str_split($agents[$client], UserAgents::CODE_LENGTH));
        }
    }
}
