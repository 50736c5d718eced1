<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/**
 * The four passes over the requests.
 *
 * First the log is read and its requests are filed by client. The second pass counts each client's requests. The third one finds each
 * client's deepest level at each rate, so how many clients every possible capacity would deny. The last one replays the clients that
 * the chosen capacities deny.
 */
final class Passes
{
    private Partitions $partitions;
    private DenialCandidates $candidates;
    private UserAgents $agents;

    public function __construct(private ProgressBar $progress)
    {
        $this->partitions = new Partitions();
        $this->candidates = new DenialCandidates();
        $this->agents = new UserAgents();
    }

    /** @param array<int, LogReading> $logs by their numbers */
    public function read(array $logs, Copies $copies, RequestPattern $pattern): HitCollector
    {
        $size = 0;
        foreach ($logs as $log) {
            $size = $size === null || $log->log->size === null ? null : $size + $log->log->size;
        }
        $collector = new HitCollector($pattern, $this->partitions, $this->agents);
        $position = 0;
        foreach ($logs as $number => $log) {
            foreach ($log->log->blocks() as $block) {
                foreach (explode("\n", $block) as $line) {
                    if ($line === '' || $line === "\r") {
                        continue;
                    }
                    $copies->check($number, $line);
                    $collector->add($line, $log);
                }
                $this->progress->show('Reading', $position + $log->log->position, $size);
            }
            $position += $log->log->position;
        }
        $this->partitions->flush();
        return $collector;
    }

    public function volumes(): Volumes
    {
        $volumes = new Volumes();
        for ($number = 0; $number < Partitions::COUNT; $number++) {
            foreach ($this->partitions->volumes($number) as $client => $requests) {
                $volumes->add((string) $client, $requests);
            }
        }
        return $volumes;
    }

    /**
     * @param list<Rate> $rates
     * @param int        $length of the log, in milliseconds
     */
    public function survey(array $rates, int $length, Volumes $volumes): Survey
    {
        $usual = $volumes->usual();
        $levels = array_map(static fn (Rate $rate): DeepestLevel => new DeepestLevel($rate), $rates);
        $survey = new Survey(count($rates));
        for ($number = 0; $number < Partitions::COUNT; $number++) {
            foreach ($this->partitions->clients($number) as $hits) {
                $of_client = array_map(static fn (DeepestLevel $level): int => $level->of($hits->times), $levels);
                $agents = $this->agents->of($hits->agents);
                $behaviour = Behaviour::of($hits, array_column($agents, 'kind'), $length, $usual);
                $survey->add($hits, $of_client, $behaviour, $agents[0]['text']);
                $this->candidates->add($hits, $of_client);
            }
            $this->progress->show('Counting clients', $number + 1, Partitions::COUNT);
        }
        $this->candidates->flush();
        return $survey;
    }

    /**
     * How many requests each limit denies.
     *
     * @param list<Rate>      $rates
     * @param list<list<int>> $capacities for each rate
     *
     * @return array<int, array<int, int>> by the number of the rate and the capacity
     */
    public function deniedRequests(array $rates, array $capacities): array
    {
        $this->progress->show('Replaying', 0, 1);
        return $this->candidates->denied($rates, $capacities);
    }
}
