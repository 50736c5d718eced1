<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/**
 * What a ConcurrencyLimit carries: takes permits, and gives them back to where they were taken.
 *
 * The permits of an identifier that are held are kept by the ends of their lifetimes, after which they are free even if they were not
 * given back.
 */
final class PermitsValue extends Value
{
    private int $lifetime;

    public function __construct(
        private Limiter $limiter,
        private string $identifier,
        private int $limit,
        float $lifetime,
        private int $leave = 0,
        private bool $isExempt = false,
    ) {
        parent::__construct();
        $this->lifetime = self::check($limit, $lifetime);
    }

    /** The lifetime in nanoseconds. */
    public static function check(int $limit, float $lifetime): int
    {
        $isRight = $limit >= 1 && $limit <= Limit::MAX_PERMITS;
        return $isRight ? Limit::duration($lifetime) : throw new LimitError(LimitError::PERMITS);
    }

    public function shown(): array
    {
        return ['identifier' => $this->identifier, 'limit' => $this->limit, 'lifetime' => (float) ($this->lifetime / Limit::SECOND)];
    }

    public function acquire(int $leave): ?\TokenBucket\Permit
    {
        // Not of digits alone: PHP would make a number of it, as a key of an array.
        $id = 'p' . bin2hex(random_bytes(8));
        $max = max(0, $this->limit - max($leave, $this->leave));
        $file = null;
        $taken = !$this->isExempt && $this->ask(false, function (array &$held, int $now, object $shelf) use ($id, $max, &$file): bool {
            $held = count($held) < $max ? $held : self::withoutFree($held, $shelf);
            if (count($held) >= $max) {
                return false;
            }
            $held[$id] = $now + $this->lifetime;
            $file = $shelf->hold($id);
            return true;
        });
        if (!$taken && $this->limiter->isEnforced && !$this->isExempt) {
            return null;
        }
        $value = new PermitValue($this, $taken ? $id : null, $file, $this->identifier, $this->lifetime);
        return self::wrap(\TokenBucket\Permit::class, $value);
    }

    public function active(): int
    {
        return $this->isExempt ? 0 : $this->ask(0, static function (array &$held, int $now, object $shelf): int {
            $held = self::withoutFree($held, $shelf);
            return count($held);
        });
    }

    public function reset(): void
    {
        $this->isExempt || $this->ask(null, static function (array &$held, int $now, object $shelf): void {
            array_map($shelf->forget(...), array_keys($held));
            $held = [];
        });
    }

    /** Lets the lifetime of a permit that is held begin anew. */
    public function renew(string $id, int $lifetime): bool
    {
        return $this->ask(true, static function (array &$held, int $now) use ($id, $lifetime): bool {
            if (isset($held[$id])) {
                $held[$id] = $now + $lifetime;
            }
            return isset($held[$id]);
        });
    }

    /** Gives a permit back. Its file alone tells that, if the list cannot be changed now. */
    public function release(string $id, mixed $file): void
    {
        if ($file !== null) {
            flock($file, LOCK_UN);
            fclose($file);
        }
        // Where the list cannot be changed, the next call that finds all permits taken looks at the files.
        $this->ask(false, static function (array &$held, int $now, object $shelf) use ($id): void {
            unset($held[$id]);
            $shelf->forget($id);
        });
    }

    /** Those that are held without the permits of processes that have ended. */
    private static function withoutFree(array $held, object $shelf): array
    {
        $all = array_keys($held);
        $free = array_filter($all, static fn(string $id): bool => !$shelf->isHeld($id));
        array_map($shelf->forget(...), $free);
        $shelf->tidy();
        return array_diff_key($held, array_flip($free));
    }

    /**
     * Asks the store. In a dry run, which fails no call, `$other` is the answer in the place of an error.
     *
     * @param callable(array<string, int>, int, ArrayStore|FileShelf): mixed $decide changes when the lifetime of each permit ends, by its id
     */
    private function ask(mixed $other, callable $decide): mixed
    {
        $place = [$this->limiter->store, $this->limiter->key($this->identifier, '#c')];
        try {
            return Transaction::run([$place], static function (array $texts, int $now, array $shelves) use ($decide): array {
                $permits = array_filter(explode(' ', $texts[0]));
                $permits = array_map(static fn(string $permit): array => explode('=', $permit), $permits);
                [$before, $lifetimes] = [array_column($permits, 1, 0), array_column($permits, 2, 0)];
                // Those whose lifetime has ended are free. One that ends further off than it is long begins now: a clock went back.
                $held = [];
                foreach ($before as $id => $end) {
                    $end = min((int) $end, $now + (int) $lifetimes[$id]);
                    $held += $end > $now ? [$id => $end] : [];
                }
                $found = $held;
                array_map($shelves[0]->forget(...), array_keys(array_diff_key($before, $held)));
                $result = $decide($held, $now, $shelves[0]);
                $text = static function (string $id, int $end) use ($found, $lifetimes, $now): string {
                    $lifetime = ($found[$id] ?? null) === $end ? $lifetimes[$id] : $end - $now;
                    return "$id=$end=$lifetime";
                };
                $after = implode(' ', array_map($text, array_keys($held), $held));
                return [$result, [$after === $texts[0] ? null : [$after, $held === [] ? 0 : max($held)]]];
            });
        } catch (\TokenBucket\StorageException $e) {
            return $this->limiter->isEnforced ? throw $e : $other;
        } catch (Doubt $doubt) {
            return $other === null ? FileStore::failToWrite($doubt) : ($other === true ? false : $other);
        }
    }
}

/** What a Permit carries. The end of the process gives it back, for its file is locked no more then. */
final class PermitValue extends Value
{
    /** @var array<int, \WeakReference<self>> those of this process, by their numbers */
    private static array $all = [];
    private int $process;
    private bool $isOver = false;

    /** @param string|null $id null: the call goes on without a permit */
    public function __construct(
        private PermitsValue $permits,
        private ?string $id,
        private mixed $file,
        private string $identifier,
        private int $lifetime,
    ) {
        parent::__construct();
        $this->process = getmypid();
        self::$all[spl_object_id($this)] = \WeakReference::create($this);
    }

    public function shown(): array { return ['identifier' => $this->identifier, 'lifetime' => (float) ($this->lifetime / Limit::SECOND)]; }

    /** A child that was forked holds nothing. */
    public function release(): void
    {
        $isHeld = !$this->isOver && $this->process === getmypid();
        $this->isOver = true;
        unset(self::$all[spl_object_id($this)]);
        if ($isHeld && $this->id !== null) {
            $this->permits->release($this->id, $this->file);
        }
    }

    public function renew(?int $lifetime): bool
    {
        if ($this->isOver || $this->process !== getmypid()) {
            return false;
        }
        return $this->id === null || $this->permits->renew($this->id, $lifetime ?? $this->lifetime);
    }

    /** Gives back all permits of this process. */
    public static function releaseAll(): void
    {
        foreach (self::$all as $permit) {
            $permit->get()?->release();
        }
    }
}

namespace TokenBucket;

final class ConcurrencyLimit
{
    use StandIn\CarriesValue;

    public function __construct(
        #[\SensitiveParameter] \TokenBucketStorage|string|null $storage,
        string $identifier,
        int $limit,
        float $lifetime = 60.0,
        ?string $name = null,
    ) {
        func_num_args() > 5 && StandIn\Thrown::tooMany(func_num_args());
        $backend = StandIn\Limiter::ofArgument($storage);
        StandIn\Thrown::unlessIdentifier($identifier);
        try {
            StandIn\PermitsValue::check($limit, $lifetime);
        } catch (StandIn\LimitError $e) {
            throw StandIn\Thrown::value($e->isOfCount() ? 3 : 4, $e->getMessage());
        }
        if (!$backend instanceof StandIn\Limiter) {
            throw StandIn\Thrown::configuration(
                'TokenBucket\ConcurrencyLimit needs a storage on shared memory (shm:), on array: or on Redis (redis: and its like); '
                    . 'memcached, MariaDB and MySQL, and storages written in PHP hold no permits',
            );
        }
        $this->value = new StandIn\PermitsValue($backend, $identifier, $limit, $lifetime);
        StandIn\Mistake::warnOfMilliseconds('$lifetime', $lifetime);
    }

    #[\NoDiscard]
    public function acquire(int $leave = 0): ?Permit { return $this->value(func_num_args(), 1)->acquire(StandIn\Thrown::unlessCount($leave)); }
    public function getActive(): int { return $this->value(func_num_args())->active(); }
    public function reset(): void { $this->value(func_num_args())->reset(); }
}

final class Permit
{
    use StandIn\CarriesValue;
    use StandIn\HasNoOtherProperties;

    private function __construct() {}

    public function __destruct()
    {
        try {
            $this->value?->release();
        } catch (StorageException $e) {
            StandIn\Mistake::log($e->getMessage());
        }
    }

    public function release(): void { $this->value(func_num_args())->release(); }

    public function renew(?float $lifetime = null): ?bool
    {
        return $this->value(func_num_args(), 1)->renew($lifetime === null ? null : StandIn\Thrown::unlessDuration($lifetime));
    }
}
