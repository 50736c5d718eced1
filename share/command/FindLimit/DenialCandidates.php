<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** The clients that a limit might deny something, with their requests, kept in a file between the second and third pass. */
final class DenialCandidates
{
    private TemporaryFile $file;

    public function __construct()
    {
        $this->file = new TemporaryFile();
    }

    /** @param list<int> $levels for each rate the client's deepest level */
    public function add(ClientHits $hits, array $levels): void
    {
        // Every limit grants one request.
        if (max($levels) > 1) {
            $this->file->write(implode(',', $levels) . ';' . implode(',', array_keys($hits->times)) . ';' . implode(',', $hits->times) . "\n");
        }
    }

    public function flush(): void
    {
        $this->file->flush();
    }

    /**
     * How many requests each limit denies.
     *
     * @param list<Rate>            $rates
     * @param list<list<int>>       $capacities for each rate
     *
     * @return array<int, array<int, int>> by the number of the rate and the capacity
     */
    public function denied(array $rates, array $capacities): array
    {
        // A rate whose bucket can hold none of the capacities has no limit.
        $denied = array_fill_keys(array_keys($rates), []);
        $replays = [];
        foreach ($rates as $number => $rate) {
            foreach ($capacities[$number] as $capacity) {
                $denied[$number][$capacity] = 0;
                $replays[$number][$capacity] = new Replay($rate, $capacity);
            }
        }
        foreach ($this->file->lines() as $line) {
            $levels = explode(',', (string) strstr($line, ';', true));
            $times = $counts = [];
            foreach ($replays as $number => $of_rate) {
                foreach ($of_rate as $capacity => $replay) {
                    if ($levels[$number] <= $capacity) {
                        continue;
                    }
                    if ($times === []) {
                        [$times, $counts] = array_map(
                            static fn (string $numbers): array => array_map('intval', explode(',', $numbers)),
                            array_slice(explode(';', $line), 1),
                        );
                    }
                    $denied[$number][$capacity] += $replay->denied($times, $counts);
                }
            }
        }
        return $denied;
    }
}
