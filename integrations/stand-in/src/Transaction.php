<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** Changes the states of some keys in one step: no other process sees or changes them meanwhile. */
final class Transaction
{
    /** What PHP has last said of a file in this step. */
    public static string $reason = '';

    /**
     * @param list<array{Store, string}> $places stores and keys
     * @param callable(list<string>, int, list<Shelf>): array{mixed, list<array{string, int}|null>} $decide gets the states and the time;
     *     returns the result, and for each place its new state and when that expires, or null if it stays as it is
     */
    public static function run(array $places, callable $decide): mixed
    {
        // No code of the application runs in between: neither its handler of errors nor one of signals.
        $hasSignals = function_exists('pcntl_async_signals') && pcntl_async_signals(false);
        set_error_handler(static function (int $level, string $message): bool {
            self::$reason = preg_replace('/^.*: /s', '', $message);
            return true;
        });
        $shelves = $named = $opened = [];
        try {
            foreach ($places as $i => [$store, $key]) {
                $shelves[$i] = $store->shelf($key);
                $named[$shelves[$i]->name()] = $shelves[$i];
            }
            ksort($named);
            foreach ($named as $shelf) {
                $shelf->open();
                $opened[] = $shelf;
            }
            return self::change($places, $shelves, $decide);
        } finally {
            foreach ($opened as $shelf) {
                $shelf->close();
            }
            restore_error_handler();
            if ($hasSignals) {
                pcntl_async_signals(true);
                pcntl_signal_dispatch();
            }
        }
    }

    private static function change(array $places, array $shelves, callable $decide): mixed
    {
        $now = Clock::now();
        $states = [];
        foreach ($places as $i => [, $key]) {
            $states[$i] = $shelves[$i]->find($key);
        }
        [$result, $changes] = $decide($states, $now, $shelves);
        $changed = [];
        foreach (array_filter($changes) as $i => [$state, $expiresAt]) {
            $shelves[$i]->put($places[$i][1], $state, $expiresAt);
            $changed[$shelves[$i]->name()] = $shelves[$i];
        }
        foreach ($changed as $shelf) {
            $shelf->prepare($now);
        }
        foreach ($changed as $shelf) {
            $shelf->publish();
        }
        return $result;
    }
}
