<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** What kind of client sent some requests, so far as a log shows it. */
final class Behaviour
{
    /** A person, or several behind one address, or a client of which the log shows too little. */
    public const PEOPLE = 'people';
    public const BURST = 'one-off burst';
    public const MACHINE = 'machine';
    public const GROUPS = [self::PEOPLE, self::MACHINE, self::BURST];

    private const MINUTE = 60_000;
    private const HOUR = 3_600_000;
    private const DAY = 24 * self::HOUR;
    /** So many times as many requests as nearly all others have, and so many at least, are a sign of a machine. */
    private const MANY = [10, 100];
    /** These are enough to call a client a machine. */
    private const TOO_MANY = [100, 1000];

    /**
     * @param string       $group    one of GROUPS
     * @param string       $sureness high, medium or low
     * @param list<string> $reasons
     */
    private function __construct(public readonly string $group, public readonly string $name, public readonly string $sureness, public readonly array $reasons)
    {
    }

    /**
     * @param list<UserAgent> $agents        of the client
     * @param int             $log_length    from the first to the last request of the log, in milliseconds
     * @param int             $usual         how many requests nearly all clients have at most; 0 if that is not known
     */
    public static function of(ClientHits $hits, array $agents, int $log_length, int $usual): self
    {
        if (in_array(UserAgent::Crawler, $agents, true)) {
            return new self(self::MACHINE, 'crawler', 'high', ['its user agent says so']);
        }
        $times = array_keys($hits->times);
        $length = end($times) - $times[0];
        $evidence = self::signsOfMachine($hits, $times, $length);
        $is_script = in_array(UserAgent::Script, $agents, true);
        if ($is_script && count($agents) === 1) {
            return new self(self::MACHINE, 'script', $evidence === [] ? 'medium' : 'high', ['its user agent is a program', ...$evidence]);
        }
        // Programs that pretend to be browsers have one name or change it with each request; people in one network have some.
        if (count($agents) >= 3 && count($evidence) < 2) {
            return new self(self::PEOPLE, 'several people', $evidence === [] ? 'medium' : 'low', [self::atLeast(count($agents)) . ' user agents', ...$evidence]);
        }
        // Many people in one network would have these, too.
        array_push($evidence, ...self::signsOfOneMachine($hits, $times, $usual));
        if ($is_script || in_array(UserAgent::Missing, $agents, true)) {
            $evidence[] = $is_script ? 'one of its user agents is a program' : 'sends no user agent';
        }
        $is_burst = $hits->requests >= 10 && $length <= 10 * self::MINUTE && $log_length >= 2 * self::HOUR;
        if ($is_burst) {
            return new self(self::BURST, 'one-off burst', $hits->requests >= 20 ? 'medium' : 'low', [
                "all $hits->requests requests within " . self::duration($length) . ' of a log of ' . self::duration($log_length),
                ...$evidence,
            ]);
        }
        if (count($evidence) >= 2 || self::isFarAbove($hits, $usual, self::TOO_MANY)) {
            return new self(self::MACHINE, 'likely a machine', count($evidence) >= 3 ? 'high' : 'medium', $evidence);
        }
        if ($evidence !== []) {
            return new self(self::PEOPLE, 'unclear', 'low', $evidence);
        }
        if ($hits->requests < 10) {
            return new self(self::PEOPLE, 'likely a person', 'low', ['few requests']);
        }
        $pause = self::longestPause($times);
        return $pause >= 5 * self::HOUR
            ? new self(self::PEOPLE, 'likely a person', 'medium', ['uneven', 'pauses of up to ' . self::duration($pause)])
            : new self(self::PEOPLE, 'likely a person', 'low', ['uneven']);
    }

    /**
     * @param list<int> $times
     *
     * @return list<string>
     */
    private static function signsOfMachine(ClientHits $hits, array $times, int $length): array
    {
        $signs = [];
        if (count($times) >= 20) {
            $mean = $length / (count($times) - 1);
            $squares = 0.0;
            for ($index = 1, $count = count($times); $index < $count; $index++) {
                $squares += ($times[$index] - $times[$index - 1] - $mean) ** 2;
            }
            // Log times are whole seconds: gaps of one or two seconds look uneven for that alone, and count by their pace below.
            $deviation = sqrt($squares / (count($times) - 1));
            if ($deviation < 0.35 * $mean) {
                $signs[] = 'steady, one each ' . self::duration((int) $mean);
            }
        }
        if ($length >= 10 * self::MINUTE && $hits->requests / ($length / self::MINUTE) >= 30) {
            $signs[] = sprintf('%d a minute for %s', $hits->requests / ($length / self::MINUTE), self::duration($length));
        }
        if (self::isAroundTheClock($hits, $times)) {
            $signs[] = 'active around the clock';
        }
        return $signs;
    }

    /**
     * Whether the client takes no time to sleep. The log may be that of a day, whose requests begin and end within it.
     *
     * @param list<int> $times
     */
    private static function isAroundTheClock(ClientHits $hits, array $times): bool
    {
        return $hits->requests >= 100 && self::longestStretch($times, 4 * self::HOUR) >= 20 * self::HOUR;
    }

    /**
     * @param list<int> $times
     *
     * @return list<string>
     */
    private static function signsOfOneMachine(ClientHits $hits, array $times, int $usual): array
    {
        $signs = [];
        $stretch = self::longestStretch($times, 10 * self::MINUTE);
        if ($stretch >= 12 * self::HOUR && !self::isAroundTheClock($hits, $times)) {
            $signs[] = 'no pause of 10 min in ' . self::duration($stretch);
        }
        if (self::isFarAbove($hits, $usual, self::MANY)) {
            $signs[] = 'nearly all others have ' . number_format($usual) . ' requests at most';
        }
        return $signs;
    }

    /** @param array{int, int} $bound how many times as many as usual, and how many at least */
    private static function isFarAbove(ClientHits $hits, int $usual, array $bound): bool
    {
        return $usual > 0 && $hits->requests >= max($bound[0] * $usual, $bound[1]);
    }

    /**
     * How long the client went on at most without such a pause.
     *
     * @param list<int> $times
     */
    private static function longestStretch(array $times, int $pause): int
    {
        $longest = 0;
        $begin = $times[0];
        for ($index = 1, $count = count($times); $index < $count; $index++) {
            if ($times[$index] - $times[$index - 1] >= $pause) {
                $begin = $times[$index];
            }
            $longest = max($longest, $times[$index] - $begin);
        }
        return $longest;
    }

    /** @param list<int> $times */
    private static function longestPause(array $times): int
    {
        $longest = 0;
        for ($index = 1, $count = count($times); $index < $count; $index++) {
            $longest = max($longest, $times[$index] - $times[$index - 1]);
        }
        return $longest;
    }

    private static function atLeast(int $agents): string
    {
        return $agents >= ClientHits::MOST_AGENTS ? "$agents or more" : (string) $agents;
    }

    public static function duration(int $milliseconds): string
    {
        return match (true) {
            $milliseconds < 2000 => round($milliseconds / 1000, 1) . ' s',
            $milliseconds < 2 * self::MINUTE => round($milliseconds / 1000) . ' s',
            $milliseconds < 2 * self::HOUR => round($milliseconds / self::MINUTE) . ' min',
            $milliseconds < 2 * self::DAY => round($milliseconds / self::HOUR) . ' h',
            default => round($milliseconds / self::DAY) . ' days',
        };
    }
}
