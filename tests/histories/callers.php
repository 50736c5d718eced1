<?php
/*
 * What is called: the limiter of this project, and rivals that a checker must find out.
 */
use TokenBucket\{Decision, FixedWindow, StorageException};

/** A bucket that hardly refills, one that refills during the calls, and a window. Limit, and seconds. */
const LIMITS = [['token_bucket', 60, 60_000], ['token_bucket', 20, 0.05], ['fixed_window', 50, 3_600], ['fixed_window', 10, 0.02]];
const OPS = ['attempt 1 0', 'attempt 1 0', 'attempt 1 0', 'attempt 3 0', 'attempt 1 5', 'takeUpTo 4 2', 'peek 1', 'refund 1', 'refund 2'];

const CALLERS = ['ours' => 'ours', 'get-and-set' => 'get_and_set'];

/** This project's classes. Returns a function that makes one call and tells its answer, null if that is not known. */
function ours(string $dsn, string $key, string $algorithm, int $limit, float $interval): Closure
{
    $limiter = $algorithm === 'fixed_window' ? new FixedWindow($dsn, $key, $limit, $interval) : TokenBucket::per($dsn, $key, $limit, $interval);
    return function (array $op) use ($limiter): ?string {
        $method = array_shift($op);
        try {
            $answer = $limiter->$method(...array_map(intval(...), $op));
        } catch (StorageException) {
            return null;
        }
        return is_bool($answer) ? ($answer ? 'yes' : 'no') : told($answer);
    };
}

function told(Decision $decision): string
{
    return ($decision->isAccepted() ? 'yes' : 'no') . ' ' . $decision->getRemainingTokens() . ' ' . var_export($decision->getResetAfter(), true);
}

/** The recipe that reads a count, adds to it and writes it back, on files in /dev/shm. It must be found out. */
function get_and_set(string $folder, string $key, string $algorithm, int $limit): Closure
{
    return function (array $op) use ($folder, $key, $limit): string {
        $file = "$folder/count-$key";
        $used = (int) @file_get_contents($file);
        [$method, $cost, $more] = $op + [1 => 0, 2 => 0];
        $left = $limit - $used;
        $taken = match ($method) {
            'attempt' => $left >= $cost + $more ? (int) $cost : null,
            'takeUpTo' => $left >= $more ? min((int) $cost, $left) : null,
            'peek' => $left >= $cost ? 0 : null,
            'refund' => -min((int) $cost, $used),
        };
        if ($taken) {
            file_put_contents("$file.new." . getmypid(), (string) ($used + $taken));
            rename("$file.new." . getmypid(), $file);
        }
        return $method === 'refund' ? 'yes' : ($taken === null ? 'no' : 'yes') . ' ' . ($left - (int) $taken) . ' -';
    };
}
