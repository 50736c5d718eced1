<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** A section of the file of limits: a limit, or a set of limits. */
final class Section
{
    private const CLASSES = [
        'token_bucket' => \TokenBucket::class, 'leaky_bucket' => \TokenBucket\LeakyBucket::class,
        'fixed_window' => \TokenBucket\FixedWindow::class, 'sliding_window' => \TokenBucket\SlidingWindow::class,
        'calendar' => \TokenBucket\CalendarWindow::class, 'concurrency' => \TokenBucket\ConcurrencyLimit::class,
    ];
    private const KEYS = ['algorithm', 'limit', 'interval', 'unit', 'timezone', 'lifetime', 'storage'];
    private const DEFAULTS = [
        'algorithm' => 'token_bucket', 'limit' => 0, 'interval' => 0.0, 'timezone' => 'UTC', 'lifetime' => 60.0, 'storage' => null,
        'except' => null, 'clients' => null,
    ];
    private const MOST_MEMBERS = 16;

    /** @var array<string, int> the lines of the keys */
    private array $lines = [];
    /** @var array<string, mixed> the values of the keys: except and clients are lists of clients that are treated differently */
    private array $values = [];

    /** Whose buckets it has: its own name, or that of the limit it is like. */
    public string $key;
    /** Null for a set and for a limit of how many run at once. */
    public ?Limit $limit = null;
    public ?Calendar $calendar = null;
    public int $leave = 0;
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
        $words = preg_split('/[\s,]+/', $value, -1, PREG_SPLIT_NO_EMPTY);
        $isSet = static fn(int $least): bool => count($words) >= $least && count($words) <= self::MOST_MEMBERS;
        [$isRight, $must, $parsed] = match ($key) {
            'algorithm' => [
                isset(self::CLASSES[$value]),
                'token_bucket, leaky_bucket, fixed_window, sliding_window, calendar or concurrency',
                $value,
            ],
            'limit' => [preg_match('/^[+-]?\d+$/D', $value) && is_int(0 + $value), 'a whole number', (int) $value],
            'interval', 'lifetime' => [self::number($value) !== null, 'a number of seconds', self::number($value)],
            'unit' => [Calendar::isUnit($value), Calendar::UNITS, $value],
            'timezone' => [Calendar::find('day', $value) !== null, 'UTC, an offset such as +01:00, or a place that PHP knows, such as Europe/Berlin', $value],
            'storage' => [self::checkStorage($line, $value), '', $value],
            'all' => [$isSet(1), 'the names of 1 to 16 limits, with spaces or commas between', $words],
            'first' => [$isSet(2), 'the names of 2 to 16 limits, with spaces or commas between', $words],
            'like' => [true, '', $value],
            'except' => [true, '', Clients::ofExcept($line, $value)],
            'clients' => str_contains($value, '://') ? [false, 'the path of a file', null] : [true, '', self::readClients($line, Text::isAbsolute($value) ? $value : "$folder/$value")],
            'leave' => [preg_match('/^\+?\d+$/D', $value) && 0 + $value <= 0xffffffff, 'a whole number, 0 or more', (int) $value],
            default => self::setting($line, $key, $value),
        };
        if (!$isRight) {
            // A DSN under another key may have a password.
            $shown = Text::quoteUnlessSecret($value);
            throw new Wrong("$key must be $must" . ($shown === '' ? '' : "; it is$shown"), $line);
        }
        isset($this->lines[$key]) && throw new Wrong("$key is set twice: the first time in line {$this->lines[$key]}", $line);
        [$this->lines[$key], $this->values[$key]] = [$line, $parsed];
    }

    /** A number as programs write it; null if it is none. No limit has an infinite one. */
    public static function number(string $text): ?float
    {
        return match (1) {
            preg_match('/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/Di', $text) => (float) $text,
            preg_match('/^[+-]?(inf(inity)?|nan)$/Di', $text) => NAN,
            default => null,
        };
    }

    private static function readClients(int $line, string $path): Clients
    {
        try {
            return LimitsFile::clients($path);
        } catch (Wrong $wrong) {
            throw new Wrong("clients: {$wrong->getMessage()}", $line);
        }
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
            [$first] = preg_split('/[ :\t]/', $key);
            if (strpbrk($key, '@/') !== false || $value === '' && $first !== $key) {
                // The rest may be a password.
                throw new Wrong('must be [name] or key = value; it begins with "' . (str_contains($first, '@') ? '...' : Text::cut($first)) . '"', $line);
            }
            $plain = strtolower(str_replace([' ', '-'], '', $key));
            $known = [...self::KEYS, ...Settings::OF_SECTION, 'leave', 'except', 'clients', 'like', 'all', 'first'];
            $changes = array_combine($known, array_map(static fn(string $name): int => levenshtein(substr($plain, 0, 100), $name), $known));
            $near = array_keys(array_filter($changes, static fn(int $count): bool => $count === min($changes) && $count <= min(2, intdiv(strlen($plain), 3))));
            sort($near);
            $near = $near === [] ? '' : "; did you mean $near[0]?";
            throw new Wrong('"' . Text::cut($key) . '" is unknown: a key must be ' . implode(', ', array_slice($known, 0, -1)) . " or first$near", $line);
        }
        $parsed = Settings::parse($key, $value, $must);
        return [$must === null, $must, $parsed];
    }

    public function value(string $key): mixed { return $this->values[$key] ?? self::DEFAULTS[$key] ?? null; }

    /** @throws Wrong in the line of this key, or of the section */
    private function fail(string $key, string $message): never { throw new Wrong($message, $this->lines[$key] ?? $this->line); }

    /** Makes the limit of what was set. */
    public function finish(): void
    {
        $this->leave = $this->value('leave') ?? 0;
        if (isset($this->lines['like'])) {
            $isAlone = array_diff_key($this->lines, ['leave' => 0, 'like' => 0]) === [];
            $isAlone || $this->fail('like', 'a limit with like can have no other key but leave: it uses those of the other limit');
            return;
        }
        foreach (['all', 'first'] as $kind) {
            if (isset($this->lines[$kind])) {
                count($this->lines) === 1 || $this->fail($kind, "a set with $kind can have no other key: its limits have them");
                [$this->members, $this->isFirst] = [$this->value($kind), $kind === 'first'];
                return;
            }
        }
        [$needed, $refused, $else] = match ($this->value('algorithm')) {
            'calendar' => [
                ['limit', 'unit'],
                ['interval', 'lifetime'],
                'a limit of the calendar must have limit and unit, and no interval or lifetime',
            ],
            'concurrency' => [
                ['limit'],
                ['interval'],
                'a limit of how many run at once must have limit, and no interval; lifetime is how long a permit lasts',
            ],
            default => [['limit', 'interval'], [], "[$this->name] " . match (true) {
                isset($this->lines['limit']) => 'has no interval: it must have limit and interval',
                isset($this->lines['interval']) => 'has no limit: it must have limit and interval',
                default => 'must have limit and interval, or all, or first, or like',
            }],
        };
        foreach ($this->value('algorithm') === 'calendar' ? [] : ['unit', 'timezone'] as $key) {
            isset($this->lines[$key]) && $this->fail($key, 'unit and timezone are for algorithm = calendar');
        }
        $given = array_keys($this->lines);
        if (array_diff($needed, $given) !== [] || array_intersect($refused, $given) !== []) {
            $this->fail('', $else);
        }
        if (isset($this->lines['lifetime']) && $this->value('algorithm') !== 'concurrency') {
            $this->fail('lifetime', 'lifetime is for algorithm = concurrency');
        }
        $this->make();
        foreach ($this->value('clients')?->extremes() ?? [] as [$line, $count, $interval]) {
            try {
                $this->withNumbers($count, $interval);
            } catch (Wrong $wrong) {
                $this->fail('clients', "clients: {$this->value('clients')->path}: line $line: {$wrong->what}");
            }
        }
    }

    private function make(): void
    {
        $isConcurrency = $this->value('algorithm') === 'concurrency';
        try {
            if ($isConcurrency) {
                PermitsValue::check($this->value('limit'), $this->value('lifetime'));
            } else {
                $this->limit = Limit::of($this->className(), $this->value('limit'), $this->value('interval'));
            }
        } catch (LimitError $e) {
            $key = $e->isOfCount() ? 'limit' : ($isConcurrency ? 'lifetime' : 'interval');
            $this->fail($key, "$key {$e->ofInterval('limit')}");
        }
        $this->calendar = isset($this->values['unit']) ? Calendar::find($this->value('unit'), $this->value('timezone')) : null;
    }

    /** The section with the numbers of one client. */
    private function withNumbers(int $count, ?float $interval): self
    {
        if ($interval !== null && in_array($this->value('algorithm'), ['calendar', 'concurrency'], true)) {
            throw new Wrong('must be client = limit, because this algorithm has no interval');
        }
        $own = clone $this;
        $own->values = ['limit' => $count, 'interval' => $interval ?? $this->value('interval')] + $this->values;
        $own->make();
        return $own;
    }

    /** Takes the buckets and numbers of the limit that it is like, of these others. */
    public function become(array $others): void
    {
        $other = $others[$this->value('like')] ?? null;
        if ($other === null || $other->members !== null) {
            $this->fail('like', 'like must name a limit of this file with numbers of its own; [' . Text::cut($this->value('like')) . '] is not one');
        }
        [$this->key, $this->limit, $this->calendar, $this->values] = [$other->key, $other->limit, $other->calendar, $other->values];
    }

    /** Every limit of a set must be there and must not be a set. */
    public function checkMembers(array $limits): void
    {
        $kind = $this->isFirst ? 'first' : 'all';
        $buckets = array_map(static fn(string $name): ?string => ($limits[$name] ?? null)?->key, $this->members ?? []);
        foreach ($this->members ?? [] as $i => $name) {
            $member = $limits[$name] ?? null;
            $wrong = match (true) {
                $member === null => 'limits of this file; there is no limit [' . Text::cut($name) . ']',
                $member->members !== null => "single limits; [$name] is a set",
                $member->value('algorithm') === 'concurrency' => "limits of calls; [$name] limits how many run at once",
                count(array_keys($this->members, $name, true)) > 1 => "each limit once; $name is there twice",
                default => null,
            };
            $wrong === null || throw new Wrong("$kind must name $wrong", $this->line);
            if (count(array_keys($buckets, $buckets[$i], true)) > 1) {
                throw new Wrong("$kind must name limits with buckets of their own; $name shares those of another one", $this->line);
            }
        }
    }

    /** The terms of a client, the file that says so, and the line; null if the client is limited as others are. */
    public function terms(string $client): ?array
    {
        [$except, $own] = [$this->value('except')?->find($client), $this->value('clients')?->find($client)];
        $isOwn = $own !== null && ($except === null || $own[0] > $except[0]);
        $found = $isOwn ? $own : $except;
        return $found === null ? null : [$isOwn ? $this->value('clients')->path : null, ...$found[1]];
    }

    /** The section for a client, and whether the client is exempt. */
    public function forClient(string $client): array
    {
        $terms = $this->terms($client);
        [, , $count, $interval] = $terms ?? [null, null, null, null];
        return [$count === null ? $this : $this->withNumbers($count, $interval), $terms !== null && $count === null];
    }

    /** A limit must be able to leave as much as it has to, also that of a client with other numbers. */
    public function checkLeave(): void
    {
        $fewest = [$this->value('limit'), null];
        foreach ($this->value('clients')?->extremes() ?? [] as [$line, $count]) {
            $fewest = $count < $fewest[0] ? [$count, $line] : $fewest;
        }
        [$count, $line] = $fewest;
        $whose = $line === null ? '' : "which {$this->value('clients')->path}: line $line sets to ";
        if ($this->leave > 0 && $this->members === null && $count <= $this->leave) {
            throw new Wrong("[$this->name] must leave less than its limit, $whose$count: leave is $this->leave", $this->line);
        }
    }

    /** The limiter on the section's storage. */
    public function limiter(): Limiter
    {
        $overrides = array_intersect_key($this->values, array_flip(Settings::OF_SECTION));
        $storage = $this->value('storage');
        return $storage === null ? Limiter::ofDirective($overrides) : Limiter::on($storage, $overrides);
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
        [$count, $interval] = [$own->value('limit'), $own->value('interval')];
        $arguments = match ($this->value('algorithm')) {
            'calendar' => ['limit' => $count, 'unit' => $own->calendar->unit, 'timezone' => $own->calendar->zone->getName()],
            'token_bucket' => ['bucket_capacity' => $count, 'tokens_per_second' => $count / $interval],
            default => ['limit' => $count, 'interval' => $interval],
        };
        $identifier = $this->identifier($client);
        return new LimiterValue($this->limiter(), $identifier, $own->limit, $arguments, $this->name, $this->leave, $own->calendar, $isExempt);
    }

    /** What the ConcurrencyLimit of a client carries. */
    public function permitsValue(string $client): PermitsValue
    {
        [$own, $isExempt] = $this->forClient($client);
        $identifier = $this->identifier($client);
        return new PermitsValue($this->limiter(), $identifier, $own->value('limit'), $this->value('lifetime'), $this->leave, $isExempt);
    }

    /** The class of its limiters. */
    public function className(): string { return self::CLASSES[$this->value('algorithm')]; }
}
