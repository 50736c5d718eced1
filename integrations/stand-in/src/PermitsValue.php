<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** What a ConcurrencyLimit carries: takes permits, and gives them back to where they were taken. */
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
        $taken = !$this->isExempt && $this->ask(false, function (Permits $permits, int $now, Shelf $shelf) use ($id, $max, &$file): bool {
            count($permits->held) < $max || self::dropFree($permits, $shelf);
            if (!$permits->acquire($id, $max, $now + $this->lifetime)) {
                return false;
            }
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
        return $this->isExempt ? 0 : $this->ask(0, static function (Permits $permits, int $now, Shelf $shelf): int {
            self::dropFree($permits, $shelf);
            return count($permits->held);
        });
    }

    public function reset(): void
    {
        $this->isExempt || $this->ask(null, static function (Permits $permits, int $now, Shelf $shelf): void {
            array_map($shelf->forget(...), array_keys($permits->held));
            $permits->held = [];
        });
    }

    public function renew(string $id, int $lifetime): bool
    {
        return $this->ask(true, static fn(Permits $permits, int $now): bool => $permits->renew($id, $now + $lifetime));
    }

    /** Gives a permit back. Its file alone tells that, if the list cannot be changed now. */
    public function release(string $id, mixed $file): void
    {
        if ($file !== null) {
            flock($file, LOCK_UN);
            fclose($file);
        }
        try {
            $this->ask(null, static function (Permits $permits, int $now, Shelf $shelf) use ($id): void {
                unset($permits->held[$id]);
                $shelf->forget($id);
            });
        } catch (Doubt) {
            // The next call that finds all permits taken looks at the files.
        }
    }

    /** Drops the permits of processes that have ended. */
    private static function dropFree(Permits $permits, Shelf $shelf): void
    {
        foreach ($permits->held as $id => $end) {
            if (!$shelf->isHeld((string) $id)) {
                unset($permits->held[$id]);
                $shelf->forget((string) $id);
            }
        }
        $shelf->tidy();
    }

    /** Asks the store. In a dry run, which fails no call, `$other` is the answer in the place of an error. */
    private function ask(mixed $other, callable $decide): mixed
    {
        $place = [$this->limiter->store, $this->limiter->key($this->identifier, Permits::SUFFIX)];
        try {
            return Transaction::run([$place], static function (array $texts, int $now, array $shelves) use ($decide): array {
                $permits = Permits::decode($texts[0]);
                array_map($shelves[0]->forget(...), $permits->dropEnded($now));
                $result = $decide($permits, $now, $shelves[0]);
                $after = $permits->encode();
                return [$result, [$after === $texts[0] ? null : [$after, $permits->held === [] ? 0 : max($permits->held)]]];
            });
        } catch (\TokenBucket\StorageException $e) {
            return $this->limiter->isEnforced ? throw $e : $other;
        } catch (Doubt $doubt) {
            return $other === null ? throw $doubt : ($other === true ? false : $other);
        }
    }
}
