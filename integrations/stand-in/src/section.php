<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** A section of the file of limits: a limit, or a set of limits. */
final class Section
{
    private const ALGORITHMS = ['token_bucket', 'leaky_bucket', 'fixed_window', 'sliding_window', 'calendar', 'concurrency'];
    private const KEYS = ['algorithm', 'limit', 'interval', 'unit', 'timezone', 'lifetime', 'storage'];
    private const MOST_MEMBERS = 16;

    /** @var array<string, array{int, mixed}> the values, with their lines */
    private array $given = [];

    /** Whose buckets it has: its own name, or that of the limit it is like. */
    public string $key;
    public string $algorithm = 'token_bucket';
    /** Null for a set and for a limit of how many run at once. */
    public ?Limit $limit = null;
    public ?Calendar $calendar = null;
    public int $count = 0;
    public float $interval = 0.0;
    public float $lifetime = 60.0;
    public ?string $storage = null;
    public array $overrides = [];
    public int $leave = 0;
    public ?string $like = null;
    /** The clients that are treated differently: those of `except`, and those of `clients`. */
    public ?Clients $except = null;
    public ?Clients $clients = null;
    /** The names of a set's limits; of `all` or of `first`. */
    public ?array $members = null;
    public bool $isFirst = false;

    public function __construct(public int $line, public string $name)
    {
        if (!preg_match('/^[\w.-]{1,56}$/D', $name)) {
            throw new Wrong('the name of a limit must be 1 to 56 letters, digits, "_", "-" and "."', $line);
        }
        $this->key = $name;
    }

    public function set(int $line, string $key, string $value, string $folder): void
    {
        $words = preg_split('/\s+/', $value, -1, PREG_SPLIT_NO_EMPTY);
        $isSet = static fn(int $least): bool => count($words) >= $least && count($words) <= self::MOST_MEMBERS;
        [$isRight, $must, $parsed] = match ($key) {
            'algorithm' => [
                in_array($value, self::ALGORITHMS, true),
                'token_bucket, leaky_bucket, fixed_window, sliding_window, calendar or concurrency',
                $value,
            ],
            'limit' => [preg_match('/^[+-]?\d+$/D', $value) && is_int(0 + $value), 'a whole number', (int) $value],
            'interval', 'lifetime' => [self::isNumber($value), 'a number', self::number($value)],
            'unit' => [Calendar::isUnit($value), Calendar::UNITS, $value],
            'timezone' => [
                Calendar::find('day', $value) !== null,
                'a time zone that PHP knows, such as Europe/Berlin',
                $value,
            ],
            'storage' => [self::checkStorage($line, $value), '', $value],
            'all' => [$isSet(1), 'the names of 1 to 16 limits, with spaces between', $words],
            'first' => [$isSet(2), 'the names of 2 to 16 limits, with spaces between', $words],
            'like' => [true, '', $value],
            'except' => [true, '', Clients::ofExcept($line, $value)],
            'clients' => [true, '', self::readClients($line, Text::isAbsolute($value) ? $value : "$folder/$value")],
            'leave' => [preg_match('/^\+?\d+$/D', $value) && 0 + $value <= 0xffffffff, 'a whole number, 0 or more', (int) $value],
            default => self::setting($line, $key, $value),
        };
        $isRight || throw new Wrong("$key must be $must", $line);
        isset($this->given[$key]) && throw new Wrong("$key must not be there twice: it is in line {$this->given[$key][0]}, too", $line);
        $this->given[$key] = [$line, $parsed];
    }

    public static function isNumber(string $text): bool
    {
        return preg_match('/^[+-]?(\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?|inf(inity)?|nan)$/Di', $text) === 1;
    }

    private static function readClients(int $line, string $path): Clients
    {
        try {
            return LimitsFile::clients($path);
        } catch (Wrong $wrong) {
            throw new Wrong("clients: {$wrong->getMessage()}", $line);
        }
    }

    public static function number(string $text): float
    {
        $sign = str_starts_with($text, '-') ? -1.0 : 1.0;
        return match (strtolower(ltrim($text, '+-'))) {
            'inf', 'infinity' => $sign * INF,
            'nan' => NAN,
            default => (float) $text,
        };
    }

    private static function checkStorage(int $line, string $dsn): bool
    {
        $quote = 'an ini file has probably cut it at ";", "(", "!", "?" or the like: write it in double quotes';
        try {
            Dsn::parse($dsn);
            return Dsn::isProbablyCut($dsn) ? throw new Wrong("storage: $quote", $line) : true;
        } catch (\TokenBucket\ConfigurationException $e) {
            throw new Wrong('storage: ' . (Dsn::isProbablyCut($dsn) ? "$quote. As it is: " : '') . $e->getMessage(), $line);
        }
    }

    private static function setting(int $line, string $key, string $value): array
    {
        if (!in_array($key, Settings::OF_SECTION, true)) {
            $known = implode(', ', [...self::KEYS, ...Settings::OF_SECTION, 'leave', 'except', 'clients']);
            throw new Wrong('"' . Text::cut($key) . "\" is unknown: a key must be $known, like, all or first", $line);
        }
        $parsed = Settings::parse($key, $value, $must);
        return [$must === null, $must, $parsed];
    }

    private function value(string $key): mixed { return $this->given[$key][1] ?? null; }

    /** @throws Wrong in the line of this key, or of the section */
    private function fail(?string $key, string $message): never { throw new Wrong($message, $this->given[$key][0] ?? $this->line); }

    /** Makes the limit of what was set. */
    public function finish(): void
    {
        $others = array_diff_key($this->given, ['leave' => 0, 'like' => 0]);
        $this->leave = $this->value('leave') ?? 0;
        $this->like = $this->value('like');
        if ($this->like !== null) {
            $others === [] || $this->fail('like', 'like must stand alone, or with leave: the other limit has the other keys');
            return;
        }
        [$this->storage, $this->except, $this->clients] = [$this->value('storage'), $this->value('except'), $this->value('clients')];
        foreach (Settings::OF_SECTION as $name) {
            $this->overrides += isset($this->given[$name]) ? [$name => $this->value($name)] : [];
        }
        foreach (['all', 'first'] as $kind) {
            if (isset($this->given[$kind])) {
                count($this->given) === 1 || $this->fail($kind, "$kind must stand alone: its limits have the other keys");
                [$this->members, $this->isFirst] = [$this->value($kind), $kind === 'first'];
                return;
            }
        }
        $this->algorithm = $this->value('algorithm') ?? 'token_bucket';
        $this->count = $this->value('limit') ?? 0;
        $this->interval = $this->value('interval') ?? 0.0;
        $ofCalendar = array_intersect_key($this->given, ['unit' => 0, 'timezone' => 0]);
        match (true) {
            $this->algorithm === 'calendar' => $this->makeCalendar(),
            $ofCalendar !== [] => $this->fail(isset($this->given['unit']) ? 'unit' : 'timezone', 'unit and timezone are for algorithm = calendar'),
            $this->algorithm === 'concurrency' => $this->makeConcurrency(),
            default => $this->makeLimit(),
        };
        foreach ($this->clients?->extremes() ?? [] as [$line, $count, $interval]) {
            try {
                $this->withNumbers($count, $interval);
            } catch (Wrong $wrong) {
                $this->fail('clients', "clients: {$this->clients->path}: line $line: {$wrong->what}");
            }
        }
    }

    /** Whether it has all of some keys and none of others. */
    private function has(array $keys, array $not): bool
    {
        return array_diff($keys, array_keys($this->given)) === [] && array_intersect($not, array_keys($this->given)) === [];
    }

    private function makeCalendar(): void
    {
        $this->has(['limit', 'unit'], ['interval', 'lifetime'])
            || $this->fail(null, 'a limit of the calendar must have limit and unit, and no interval or lifetime');
        $this->limit = $this->make('', $this->maker());
        $this->calendar = Calendar::find($this->value('unit'), $this->value('timezone') ?? 'UTC');
    }

    private function makeConcurrency(): void
    {
        $this->has(['limit'], ['interval']) || $this->fail(null, 'a limit of how many run at once must have limit, and no interval');
        $this->lifetime = $this->value('lifetime') ?? 60.0;
        try {
            PermitsValue::check($this->count, $this->lifetime);
        } catch (LimitError $e) {
            $key = $e->isOfCount() ? 'limit' : 'lifetime';
            $this->fail($key, "$key {$e->getMessage()}");
        }
    }

    private function makeLimit(): void
    {
        $this->has(['limit', 'interval'], []) || $this->fail(null, "[$this->name] must have limit and interval, or all, or first, or like");
        isset($this->given['lifetime']) && $this->fail('lifetime', 'lifetime is for algorithm = concurrency');
        $this->limit = $this->make('interval', $this->maker());
    }

    private function maker(): callable
    {
        return match ($this->algorithm) {
            'calendar' => static fn(int $count): Limit => new CalendarWindow($count),
            'fixed_window' => static fn(int $count, float $interval): Limit => new FixedWindow($count, $interval),
            'sliding_window' => static fn(int $count, float $interval): Limit => new SlidingWindow($count, $interval),
            default => TokenBucket::perPeriod(...),
        };
    }

    private function make(string $time, callable $make): Limit
    {
        try {
            return $make($this->count, $this->interval);
        } catch (LimitError $e) {
            $message = $e->getMessage() === LimitError::RATE_TOO_HIGH
                ? 'must be at least one nanosecond for each unit of limit'
                : LimitError::INTERVAL;
            $e->isOfCount() ? $this->fail('limit', "limit {$e->getMessage()}") : $this->fail($time, "$time $message");
        }
    }

    /** Takes the buckets and numbers of another limit of the file. */
    public function become(?self $other): void
    {
        if ($other === null || $other->members !== null) {
            $this->fail('like', 'like must name a limit of this file, and [' . Text::cut($this->like) . '] is none');
        }
        foreach (['key', 'algorithm', 'limit', 'calendar', 'count', 'interval', 'lifetime', 'storage', 'overrides', 'except', 'clients'] as $name) {
            $this->$name = $other->$name;
        }
    }

    /** Every limit of a set must be there, and be no set itself. */
    public function checkMembers(array $limits): void
    {
        $kind = $this->isFirst ? 'first' : 'all';
        $buckets = array_map(static fn(string $name): ?string => ($limits[$name] ?? null)?->key, $this->members ?? []);
        foreach ($this->members ?? [] as $i => $name) {
            $member = $limits[$name] ?? null;
            $wrong = match (true) {
                $member === null => 'limits of this file, and [' . Text::cut($name) . '] is not there',
                $member->members !== null => "limits, and [$name] is a set itself",
                $member->algorithm === 'concurrency' => "other limits, and [$name] is one of how many run at once",
                count(array_keys($this->members, $name, true)) > 1 => "each limit once, and $name is there twice",
                default => null,
            };
            $wrong === null || throw new Wrong("$kind must name $wrong", $this->line);
            if (count(array_keys($buckets, $buckets[$i], true)) > 1) {
                throw new Wrong("$kind must not name two limits of the same buckets, and $name is like another one", $this->line);
            }
        }
    }

    /** The section with the numbers of one client. */
    private function withNumbers(int $count, ?float $interval): self
    {
        $own = clone $this;
        [$own->count, $own->interval, $own->given] = [$count, $interval ?? $this->interval, []];
        if ($interval !== null && in_array($this->algorithm, ['calendar', 'concurrency'], true)) {
            throw new Wrong('must be client = limit: this algorithm has no interval');
        }
        if ($this->algorithm === 'concurrency') {
            $count >= 1 && $count <= Limit::MAX_PERMITS || throw new Wrong('limit ' . LimitError::PERMITS);
        } else {
            $own->limit = $own->make('interval', $own->maker());
        }
        return $own;
    }

    /** The terms of a client, the file that says so, and the line; null if the client is limited as others are. */
    public function terms(string $client): ?array
    {
        [$except, $own] = [$this->except?->find($client), $this->clients?->find($client)];
        $isOwn = $own !== null && ($except === null || $own[0] > $except[0]);
        $found = $isOwn ? $own : $except;
        return $found === null ? null : [$isOwn ? $this->clients->path : null, ...$found[1]];
    }

    /** The section for a client, and whether the client is exempt. */
    public function forClient(string $client): array
    {
        [, , $count, $interval] = $this->terms($client) ?? [null, null, $this->count, null];
        return [$count === null || $count === $this->count && $interval === null ? $this : $this->withNumbers($count, $interval), $count === null];
    }

    /** A limit must be able to leave as much as it has to, also that of a client with other numbers. */
    public function checkLeave(): void
    {
        if ($this->leave === 0 || $this->members !== null) {
            return;
        }
        $fewest = [$this->count, null];
        foreach ($this->clients?->extremes() ?? [] as [$line, $count]) {
            $fewest = $count < $fewest[0] ? [$count, $line] : $fewest;
        }
        $whose = $fewest[1] === null ? '' : ", which {$this->clients->path}: line $fewest[1] sets to $fewest[0]";
        if ($fewest[0] <= $this->leave) {
            throw new Wrong("[$this->name] must leave less than its limit$whose: leave is $this->leave", $this->line);
        }
    }

    /** The limiter on the section's storage. */
    public function limiter(): Limiter
    {
        return $this->storage === null ? Limiter::ofDirective($this->overrides) : Limiter::on($this->storage, $this->overrides);
    }

    /** The identifier of a client: the name and the client. */
    public function identifier(string $client): string
    {
        $most = 4096 - strlen($this->key) - 1;
        return strlen($client) <= $most ? "$this->key:$client" : throw Thrown::value(2, "must be at most $most bytes long");
    }

    /** What the limiter of a client carries. */
    public function limiterValue(string $client): LimiterValue
    {
        [$own, $isExempt] = $this->forClient($client);
        return $own->valueOf($client, $isExempt);
    }

    private function valueOf(string $client, bool $isExempt): LimiterValue
    {
        $arguments = match (true) {
            $this->calendar !== null => ['limit' => $this->count, 'unit' => $this->calendar->unit, 'timezone' => $this->calendar->zone->getName()],
            $this->algorithm === 'token_bucket' => [
                'bucket_capacity' => $this->count,
                'tokens_per_second' => $this->count / $this->interval,
            ],
            default => ['limit' => $this->count, 'interval' => $this->interval],
        };
        $identifier = $this->identifier($client);
        return new LimiterValue($this->limiter(), $identifier, $this->limit, $arguments, $this->name, $this->leave, $this->calendar, $isExempt);
    }

    /** The class of its limiters. */
    public function className(): string
    {
        return match ($this->algorithm) {
            'leaky_bucket' => \TokenBucket\LeakyBucket::class,
            'fixed_window' => \TokenBucket\FixedWindow::class,
            'sliding_window' => \TokenBucket\SlidingWindow::class,
            'calendar' => \TokenBucket\CalendarWindow::class,
            default => \TokenBucket::class,
        };
    }
}
