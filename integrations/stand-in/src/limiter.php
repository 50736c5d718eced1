<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** A store with all that applies to every key in it. */
final class Limiter
{
    /** @var array<string, ArrayStore|FileStore> */
    private static array $stores = [];

    public function __construct(public ArrayStore|FileStore $store, private string $prefix, public bool $isEnforced) {}

    /** The limiter in the argument `$storage` of a constructor, or the storage that is written in PHP. */
    public static function ofArgument(\TokenBucketStorage|string|null $storage, bool $mayBePhp = true): object
    {
        if ($storage === null) {
            return self::ofDirective();
        }
        if (is_object($storage)) {
            $isOwn = in_array(CarriesStorage::class, class_uses($storage), true);
            if (!$isOwn && !$mayBePhp) {
                throw Thrown::value(1, 'must not be a storage written in PHP: TokenBucketStorage supports token buckets only');
            }
            return $isOwn ? Value::of($storage)->limiter ?? throw Thrown::at(new \Error('The storage is not initialized')) : $storage;
        }
        try {
            return self::on($storage);
        } catch (\TokenBucket\ConfigurationException $e) {
            // The usual mistake is an identifier in this place.
            $hint = Dsn::looksLikeOne($storage) ? '' : '; the first argument is the storage, the second the identifier';
            throw Thrown::configuration($e->getMessage() . $hint);
        }
    }

    public static function ofDirective(array $overrides = []): self
    {
        $dsn = Settings::get('storage');
        try {
            return self::on($dsn, $overrides);
        } catch (\TokenBucket\ConfigurationException $e) {
            throw Thrown::configuration("token_bucket.storage must be a storage DSN ({$e->getMessage()})");
        }
    }

    /** What a section of the file of limits overrides counts more than the directives, and what the DSN says more than both. */
    public static function on(string $dsn, array $overrides = []): self
    {
        $parsed = Dsn::parse($dsn);
        $isArray = $parsed->scheme === 'array';
        $store = $isArray ? 'array:' : Settings::get('shm_path') . "\0$parsed->name";
        self::$stores[$store] ??= $isArray ? new ArrayStore() : new FileStore($parsed->name);
        return self::with(self::$stores[$store], $parsed, $overrides);
    }

    public static function with(ArrayStore|FileStore $store, Dsn $dsn, array $overrides = []): self
    {
        $settings = $dsn->overrides + $overrides;
        return new self($store, $settings['prefix'] ?? Settings::get('prefix'), $settings['enforce'] ?? Settings::get('enforce'));
    }

    /** The key of an identifier under a kind of limits. */
    public function key(string $identifier, string $suffix): string
    {
        // No two pairs of an identifier and a kind make the same key.
        return "$suffix:$this->prefix$identifier";
    }

    /** Whether two limiters and identifiers name the same bucket, under limits of one kind. */
    public function hasSameKey(string $identifier, self $other, string $othersIdentifier): bool
    {
        return $this->store === $other->store && $this->key($identifier, '') === $other->key($othersIdentifier, '');
    }

    /** Decides on one call. Null if the store failed and the limit is a dry run, which fails no call. */
    public function decide(string $identifier, Limit $limit, Op $op): ?Answer
    {
        return self::decideAll([[$this, $identifier, $limit, $op]], false)[0];
    }

    /**
     * Decides on a call on several limits, in one step. `$isJoint`: all of them are charged or none. Null for a limit whose store failed.
     *
     * @param list<array{self, string, Limit, Op}> $calls
     *
     * @return list<Answer|null>
     */
    public static function decideAll(array $calls, bool $isJoint): array
    {
        $places = $charges = [];
        foreach ($calls as $i => [$limiter, $identifier, $limit, $op]) {
            $places[$i] = [$limiter->store, $limiter->key($identifier, $limit::SUFFIX)];
            $charges[$i] = [$limit, $op, $limiter->isEnforced];
        }
        try {
            return Transaction::run($places, static function (array $texts, int $now) use ($charges, $isJoint): array {
                $states = array_map(static fn(string $text): array => $text === '' ? State::FULL : State::decode($text), $texts);
                $answers = $changes = $decided = [];
                foreach ($isJoint ? [] : $charges as $i => [$limit, $op]) {
                    $decided[$i] = $limit->apply($states[$i], $now, $op);
                }
                foreach ($isJoint ? JointCall::takeAll($charges, $states, $now) : $decided as $i => [$answer, $after]) {
                    $answers[$i] = $answer;
                    $changes[$i] = $after === $states[$i] ? null : [State::encode($after), State::expiresAt($after)];
                }
                return [$answers, $changes];
            });
        } catch (Doubt $doubt) {
            return array_map(static fn(array $call): Answer => self::undecided($call[3], $doubt), $calls);
        } catch (\TokenBucket\StorageException $e) {
            foreach ($calls as [$limiter]) {
                $limiter->isEnforced && throw $e;
            }
            return array_map(static fn(): ?Answer => null, $calls);
        }
    }

    /** The answer to a call that cannot be decided: it is denied, for a second. */
    private static function undecided(Op $op, Doubt $doubt): Answer
    {
        $op->kind !== Op::BLOCK && $op->kind !== Op::RESET || FileStore::failToWrite($doubt);
        $now = Clock::now();
        return new Answer(false, $now, $now + Limit::SECOND, $now + Limit::SECOND, Answer::NOTHING);
    }
}
