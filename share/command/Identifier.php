<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use TokenBucket;
use TokenBucket\CalendarWindow;
use TokenBucket\Compound;
use TokenBucket\ConcurrencyLimit;
use TokenBucket\ConfigurationException;
use TokenBucket\Decision;
use TokenBucket\FixedWindow;
use TokenBucket\LeakyBucket;
use TokenBucket\Limiter;
use TokenBucket\SlidingWindow;

use function TokenBucket\concurrency_limit;
use function TokenBucket\status;

/** The limits in code that may stand under an identifier. Their numbers are in the code alone. */
final class Identifier extends Target
{
    private const CONCURRENCY = 'concurrency';
    private const NO_BLOCK = 'permits cannot be blocked; a limit of calls can';
    private const ALGORITHMS = ['token_bucket', 'leaky_bucket', 'fixed_window', 'sliding_window', 'calendar', self::CONCURRENCY];
    /** The largest limit of each algorithm that has a state of its own. A peek() with it, over years, shows the state as it is. */
    private const WIDEST = ['token_bucket' => 2_147_483_647, 'fixed_window' => 16_777_214, 'sliding_window' => 1024, 'calendar' => 16_777_214];
    private const YEARS = 126_144_000.0;
    /** What the warning of this process's outage said: only its first call warns. */
    private static ?string $reason = null;

    /**
     * @param string|null $storage   null: token_bucket.storage
     * @param string|null $algorithm null: all, but for ConcurrencyLimits
     * @param string|null $without   an algorithm whose state is that of another limit
     * @param ConcurrencyLimit|null $named the limit of a file that has the permits; null: one in code
     */
    public function __construct(
        private string $identifier,
        private ?string $storage = null,
        private ?string $algorithm = null,
        private ?string $without = null,
        private ?ConcurrencyLimit $named = null,
    )
    {
    }

    /**
     * @return self|null null without --identifier
     *
     * @throws UsageError if an option is wrong, or stands without it
     */
    public static function named(Arguments $arguments): ?self
    {
        $word = $arguments->value('identifier');
        $algorithm = $arguments->value('algorithm');
        if ($word === null) {
            $foreign = array_filter(['algorithm', 'storage', 'limit', 'interval'], $arguments->has(...));
            return $foreign === [] ? null : throw new UsageError('--' . reset($foreign) . ' needs --identifier; for a named limit the file has it');
        }
        if ($algorithm !== null && !in_array($algorithm, self::ALGORITHMS, true)) {
            throw new UsageError('--algorithm must be ' . Text::listed(self::ALGORITHMS, 'or') . '; it is "' . Text::printable($algorithm) . '"');
        }
        return new self(Client::read($word, '--identifier', $arguments->has('network')), $arguments->value('storage'), $algorithm);
    }

    /**
     * @param list<string> $words NAME CLIENT
     *
     * @return self|null null if NAME is no limit of the file of how many run at once
     */
    public static function ofNamedPermits(array $words, bool $is_network): ?self
    {
        if (count($words) !== 2 || !isset(status()['named_limits'][$words[0]]['lifetime'])) {
            return null;
        }
        $client = Client::read($words[1], 'CLIENT', $is_network);
        $named = self::checked(static fn (): ConcurrencyLimit => concurrency_limit($words[0], $client));
        return new self("$words[0]:$client", null, self::CONCURRENCY, null, $named);
    }

    public function text(): string
    {
        return Text::identifier($this->identifier);
    }

    public function isStored(): bool
    {
        $states = $this->states();
        $permits = $this->heldPermits();
        return $permits === null ? $states !== [] : $permits > 0;
    }

    public function clients(): array
    {
        return [Client::inIdentifier($this->identifier)];
    }

    public function identifiers(): array
    {
        return [$this->identifier];
    }

    protected function limits(): array
    {
        if ($this->algorithm === self::CONCURRENCY) {
            throw new UsageError(self::NO_BLOCK);
        }
        return array_map(fn (string $algorithm): Limiter => $this->make($algorithm, self::WIDEST[$algorithm], self::YEARS), $this->algorithms());
    }

    protected function resetNow(): void
    {
        $this->algorithm === self::CONCURRENCY ? $this->permits()->reset() : $this->all()->reset();
    }

    protected function blockNow(float $seconds): void
    {
        if ($this->algorithm === self::CONCURRENCY) {
            throw new UsageError(self::NO_BLOCK);
        }
        $this->all()->block($seconds);
    }

    public function others(): array
    {
        return [];
    }

    /** @return int|null how many permits are held; null unless --algorithm concurrency asks for that */
    public function heldPermits(): ?int
    {
        return $this->algorithm === self::CONCURRENCY ? $this->permits()->getActive() : null;
    }

    /** What the limit in code says of the next call, by its numbers. */
    public function decision(int $limit, float $interval): Decision
    {
        return self::answered(fn(): Decision => $this->make($this->algorithm ?? 'token_bucket', $limit, $interval)->peek(1));
    }

    /**
     * For how many seconds the longest block under the identifier is in force; null: there is none.
     *
     * @throws NoAnswer if the server does not answer
     */
    public function blockedSeconds(): ?float
    {
        $blocks = array_filter($this->states(), static fn (State $state): bool => $state->isBlocked);
        return $blocks === [] ? null : max(array_column($blocks, 'seconds'));
    }

    /**
     * What is stored under the identifier, of each algorithm that has something.
     *
     * @return list<State>
     *
     * @throws NoAnswer if the server does not answer
     */
    public function states(): array
    {
        if ($this->named !== null) {
            return [];
        }
        $states = [];
        foreach ($this->algorithms() as $algorithm) {
            $decision = self::answered(fn(): Decision => $this->make($algorithm, self::WIDEST[$algorithm], self::YEARS)->peek(0));
            // A block denies also a call of cost 0.
            $is_blocked = $decision->wouldDeny();
            $hits = $is_blocked || $algorithm === 'token_bucket' ? null : $decision->getUsedTokens();
            // The calendar goes on without a call.
            $is_stored = $algorithm === 'calendar' ? $is_blocked || ($hits ?? 0) > 0 : $decision->getResetAfter() > 0;
            if ($is_stored) {
                $states[] = new State($this->text(), $algorithm, $is_blocked, $hits, $decision->getResetAfter());
            }
        }
        return $states;
    }

    /** @throws NoAnswer if the server did not answer */
    public static function answered(\Closure $ask): Decision
    {
        error_clear_last();
        $decision = @$ask();
        if (!$decision->isDegraded()) {
            return $decision;
        }
        $is_ours = preg_match('~^TokenBucket[\w\\\\]*::\w+\(\): (.*)~s', error_get_last()['message'] ?? '', $parts) === 1;
        self::$reason = $is_ours ? $parts[1] : self::$reason;
        throw new NoAnswer(self::$reason ?? 'the server does not answer: see token-bucket status');
    }

    /** @return list<string> those whose states are meant */
    private function algorithms(): array
    {
        if ($this->algorithm !== null && $this->algorithm !== self::CONCURRENCY) {
            return [self::withState($this->algorithm)];
        }
        return array_values(array_diff(array_keys(self::WIDEST), $this->without === null ? [] : [self::withState($this->without)]));
    }

    /** The algorithm whose state this one uses. */
    public static function withState(string $algorithm): string
    {
        return $algorithm === 'leaky_bucket' ? 'token_bucket' : $algorithm;
    }

    /** For reset() and block(), which need no numbers. */
    private function all(): Compound
    {
        return new Compound(...array_map(fn (string $algorithm): Limiter => $this->make($algorithm, 1, self::YEARS), $this->algorithms()));
    }

    private function permits(): ConcurrencyLimit
    {
        return $this->named ?? self::checked(fn (): ConcurrencyLimit => new ConcurrencyLimit($this->storage, $this->identifier, 1));
    }

    private function make(string $algorithm, int $limit, float $interval): Limiter
    {
        return self::checked(fn (): Limiter => match ($algorithm) {
            'token_bucket' => TokenBucket::per($this->storage, $this->identifier, $limit, $interval),
            'leaky_bucket' => new LeakyBucket($this->storage, $this->identifier, $limit, $interval),
            'fixed_window' => new FixedWindow($this->storage, $this->identifier, $limit, $interval),
            'sliding_window' => new SlidingWindow($this->storage, $this->identifier, $limit, $interval),
            // With the longest unit the end of a shorter one counts, too.
            'calendar' => $interval === self::YEARS
                ? new CalendarWindow($this->storage, $this->identifier, $limit, 'year')
                : throw new UsageError('--algorithm calendar has no --interval; without --limit it shows the calls that count'),
            self::CONCURRENCY => throw new UsageError('--algorithm concurrency shows permits, which need no --limit'),
        });
    }

    /**
     * @template T
     *
     * @param callable(): T $construct
     *
     * @return T
     */
    private static function checked(callable $construct): mixed
    {
        try {
            return $construct();
        } catch (ConfigurationException $error) {
            throw new CommandError($error->getMessage());
        } catch (\ValueError $error) {
            $names = ['identifier' => '--identifier', 'limit' => '--limit', 'interval' => '--interval'];
            throw new UsageError((string) preg_replace_callback('~^.*?\(\$(\w+)\)~', static fn (array $match): string => $names[$match[1]], $error->getMessage()));
        }
    }
}
