<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/**
 * The four passes over the requests, each in several processes.
 *
 * First the log is read and its requests are filed by client. The second pass counts each client's requests. The third one finds each
 * client's deepest level at each rate, so how many clients every possible capacity would deny. The last one replays the clients that
 * the chosen capacities deny.
 */
final class Passes
{
    /** @var list<Partitions> */
    private array $partitions = [];
    /** @var list<DenialCandidates> */
    private array $candidates = [];

    public function __construct(private int $processes, private ProgressBar $progress)
    {
        for ($process = 0; $process < $processes; $process++) {
            $this->partitions[] = new Partitions();
            $this->candidates[] = new DenialCandidates();
        }
    }

    /**
     * @param list<LogInput>        $logs
     * @param array<int, LogFormat> $formats by the number of the log; an empty log has none
     */
    public function read(array $logs, array $formats, RequestPattern $pattern, ClientKey $key): Reading
    {
        $size = 0;
        foreach ($logs as $log) {
            $size = $size === null || $log->size === null ? null : $size + $log->size;
        }
        $workers = new Workers($this->processes, function (int $process, Channel $blocks) use ($formats, $pattern, $key): array {
            $agents = new UserAgents($process);
            $collector = new HitCollector($formats, $pattern, $key, $this->partitions[$process], $agents);
            while (($block = $blocks->receive()) !== null) {
                [$number, $lines] = explode(' ', $block, 2);
                $collector->add((int) $number, $lines);
            }
            return $collector->finish() + ['agents' => $agents->all()];
        });
        $position = 0;
        foreach (array_intersect_key($logs, $formats) as $number => $log) {
            foreach ($log->blocks() as $block) {
                $workers->send("$number $block");
                $this->progress->show('Reading', $position + $log->position, $size);
            }
            $position += $log->position;
        }
        return Reading::fromResults($workers->finish(static fn (): bool => true));
    }

    public function volumes(): Volumes
    {
        $workers = new Workers($this->processes, function (int $process): array {
            $volumes = new Volumes();
            for ($number = $process; $number < Partitions::COUNT; $number += $this->processes) {
                array_map($volumes->add(...), Partitions::volumes($this->partitions, $number));
            }
            return $volumes->export();
        });
        $volumes = new Volumes();
        array_map($volumes->merge(...), $workers->finish(static fn (): bool => true));
        return $volumes;
    }

    /** @param list<Rate> $rates */
    public function survey(array $rates, Reading $reading, Volumes $volumes): Survey
    {
        $usual = $volumes->usual();
        $workers = new Workers($this->processes, function (int $process, Channel $parent) use ($rates, $reading, $usual): array {
            $levels = array_map(static fn (Rate $rate): DeepestLevel => new DeepestLevel($rate), $rates);
            $survey = new Survey(count($rates));
            for ($number = $process; $number < Partitions::COUNT; $number += $this->processes) {
                foreach (Partitions::clients($this->partitions, $number) as $hits) {
                    $of_client = array_map(static fn (DeepestLevel $level): int => $level->of($hits->times), $levels);
                    $agents = $reading->agents($hits->agents);
                    $kinds = array_map(static fn (array $agent): UserAgent => UserAgent::from($agent['kind']), $agents);
                    $behaviour = Behaviour::of($hits, $kinds, $reading->last - $reading->first, $usual);
                    $survey->add($hits, $of_client, $behaviour, $agents[0]['text']);
                    $this->candidates[$process]->add($hits, $of_client);
                }
                Workers::reportProgress($parent);
            }
            $this->candidates[$process]->flush();
            return $survey->export();
        });
        $survey = new Survey(count($rates));
        $done = 0;
        foreach ($workers->finish(function () use (&$done): void {
            $this->progress->show('Counting clients', ++$done, Partitions::COUNT);
        }) as $exported) {
            $survey->merge($exported);
        }
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
        $workers = new Workers($this->processes, fn (int $process): array => $this->candidates[$process]->denied($rates, $capacities));
        $this->progress->show('Replaying', 0, 1);
        // A rate whose bucket can hold none of the capacities has no limit.
        $sums = array_fill_keys(array_keys($rates), []);
        foreach ($workers->finish(static fn (): bool => true) as $denied) {
            foreach ($denied as $rate => $counts) {
                foreach ($counts as $capacity => $count) {
                    $sums[$rate][$capacity] = ($sums[$rate][$capacity] ?? 0) + $count;
                }
            }
        }
        return $sums;
    }
}
