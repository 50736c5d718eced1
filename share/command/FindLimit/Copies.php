<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\UsageError;

/** Finds logs that are named twice: the same file, its copy, its .gz, or a part of it. */
final class Copies
{
    /** @var array<int, LogInput> by their numbers */
    private array $logs = [];
    /** @var array<int, int> how many of each log's first requests another one has had in a row */
    private array $had = [];

    /**
     * @return LogInput|null a log before this one that has the same lines
     *
     * @throws UsageError if they only begin with the same lines
     */
    public function find(int $number, LogInput $log): ?LogInput
    {
        foreach ($this->logs as $other) {
            if ($log->begin === $other->begin) {
                return $log->digest() !== '' && $log->digest() === $other->digest() ? $other
                    : throw new UsageError("$log->name and $other->name begin with the same lines, which would count twice; name one of them");
            }
        }
        $this->logs[$number] = $log;
        $this->had[$number] = 0;
        return null;
    }

    /**
     * Called for each line of the logs, one log after the other.
     *
     * @throws UsageError if it has the first lines of another log
     */
    public function check(int $number, string $line): void
    {
        foreach (count($this->logs) > 1 ? $this->logs : [] as $other => $log) {
            if ($other === $number) {
                continue;
            }
            if ($line === $log->begin[$this->had[$other]]) {
                if (++$this->had[$other] === count($log->begin)) {
                    throw new UsageError("{$this->logs[$number]->name} has lines of $log->name, which would count twice; name logs that do not overlap");
                }
            } elseif ($this->had[$other] > 0 && preg_match(LogInput::LIKE_REQUEST, $line) === 1) {
                $this->had[$other] = (int) ($line === $log->begin[0]);
            }
        }
    }
}
