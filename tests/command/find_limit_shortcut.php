<?php
declare(strict_types=1);

/*
 * The shortcuts decide as a plain replay does, of every candidate, hit by hit: the deepest level tells which capacities deny something,
 * and takeUpTo() with skipped denials tells how many requests.
 */

require __DIR__ . '/harness.inc';
load_command_classes();
// As the command does, whose buckets have any numbers.
ini_set('token_bucket.warn_of_mistakes', '0');

use TokenBucket\Command\FindLimit\DeepestLevel;
use TokenBucket\Command\FindLimit\Rate;
use TokenBucket\Command\FindLimit\Replay;
use TokenBucket\TestClock;

/** How many hits a bucket denies, each of them one consume() at its own time. */
function plain_replay(TokenBucket $bucket, array $times): int
{
    $denied = 0;
    foreach ($times as $time => $count) {
        // From the first hit on: a float has no nanoseconds left for the seconds since 1970.
        TestClock::freeze(1000 + ($time - array_key_first($times)) / 1000);
        for ($hit = 0; $hit < $count; $hit++) {
            $denied += $bucket->consume() ? 0 : 1;
        }
    }
    return $denied;
}

/** @return array<int, int> hits by time in milliseconds: bursts, steady stretches, pauses, at whole seconds or not */
function random_hits(): array
{
    $times = [];
    $time = 1_790_000_000_000;
    $unit = [1, 10, 100, 1000][mt_rand(0, 3)];
    for ($stretch = mt_rand(1, 6); $stretch > 0; $stretch--) {
        $gap = mt_rand(0, 3) * [1, 7, 100, 1000, 6000, 60000][mt_rand(0, 5)];
        for ($hit = mt_rand(1, 60); $hit > 0; $hit--) {
            $at = $time - $time % $unit;
            $times[$at] = ($times[$at] ?? 0) + mt_rand(1, 3);
            $time += mt_rand(0, 4) === 0 ? mt_rand(0, 5000) : $gap;
        }
        $time += mt_rand(0, 2) * 3_600_000;
    }
    ksort($times);
    return $times;
}

mt_srand((int) (getenv('SEED') ?: 16));
$rates = array_map([Rate::class, 'fromText'], ['1000/s', '8/s', '10/s', '1/s', '10/min', '1/min', '100/h', '7/70', '1/h', '1/d']);
$meters = array_map(static fn (Rate $rate): DeepestLevel => new DeepestLevel($rate), $rates);
$capacities = [1, 2, 3, 5, 8, 13, 30, 70, 150];
$wrong_levels = $wrong_denials = $wrong_suggestions = [];
$compared = $partly_denied = 0;
for ($client = 0; $client < 60; $client++) {
    $times = random_hits();
    foreach ($rates as $number => $rate) {
        $level = $meters[$number]->of($times);
        foreach ([...$capacities, $level - 1, $level] as $capacity) {
            if ($capacity < 1 || $capacity > $rate->largestCapacity()) {
                continue;
            }
            $denied = plain_replay($rate->bucket($capacity), $times);
            // What the suggestion says, where its seconds are whole: see Rate::bucket().
            $interval = $rate->interval($capacity);
            if (floor($interval) === $interval && plain_replay(TokenBucket::per(new TokenBucket\ArrayStorage(), 'client', $capacity, $interval), $times) !== $denied) {
                $wrong_suggestions[] = [$client, $rate->label, $capacity, $denied];
            }
            if (($denied > 0) !== ($level > $capacity)) {
                $wrong_levels[] = [$client, $rate->label, $capacity, $level, $denied];
            }
            $replayed = (new Replay($rate, $capacity))->denied(array_keys($times), array_values($times));
            if ($replayed !== $denied) {
                $wrong_denials[] = [$client, $rate->label, $capacity, $replayed, $denied];
            }
            $compared++;
            $partly_denied += $denied > 0 && $denied < array_sum($times) ? 1 : 0;
        }
    }
}
check('the deepest level tells which capacities deny something', $wrong_levels === [], array_slice($wrong_levels, 0, 5));
check('the replay denies as many requests', $wrong_denials === [], array_slice($wrong_denials, 0, 5));
check('TokenBucket::per() denies as many', $wrong_suggestions === [], array_slice($wrong_suggestions, 0, 5));
check('many candidates deny some of the requests', $compared > 5000 && $partly_denied > 1000, [$compared, $partly_denied]);

// Exactly as fast as the rate.
$times = array_fill_keys(range(1_790_000_000_000, 1_790_000_000_000 + 100 * 9_999, 100), 1);
check('hits as fast as the rate need one token', $meters[2]->of($times) === 1 && $meters[1]->of($times) > 1, [$meters[2]->of($times), $meters[1]->of($times)]);

// A capacity that is larger than any bucket of the rate may be: four years of refill.
$slow = Rate::fromText('1/d');
$level = (new DeepestLevel($slow))->of([1_790_000_000_000 => $slow->largestCapacity() + 1]);
check('more hits than the largest bucket holds', $level === $slow->largestCapacity() + 1, $level);

// The same objects again: nothing of the client before is left.
check('clients do not see each other', $meters[3]->of([5000 => 4]) === 4 && $meters[3]->of([1000 => 3]) === 3);
