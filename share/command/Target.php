<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use TokenBucket\Decision;
use TokenBucket\Limiter;

/** What a command is about: a named limit or set for its client, or the limits in code under an identifier. */
abstract class Target
{
    /** For the help of commands. */
    public const NOTES = 'CLIENT and ID are as top shows them; - reads one from standard input.';

    /** @return list<Option> */
    public static function options(): array
    {
        return [
            new Option('identifier', 'ID', 'Whole, of limits in code: login:192.0.2.1'),
            new Option('algorithm', 'WHAT', 'Only this one, as in limits.ini; or concurrency'),
            new Option('storage', 'DSN', 'Where they are (token_bucket.storage)'),
            new Option('network', null, 'If your code gives client_network() another length'),
            new Option('as-is', null, 'The client is no address, though it looks like one'),
            ...Pool::options(),
        ];
    }

    /**
     * @param list<string> $words the operands NAME CLIENT, none beside --identifier
     *
     * @return Identifier|NamedLimit
     *
     * @throws UsageError if a word or an option is missing or wrong
     * @throws CommandError if the limits cannot be read
     */
    public static function from(Arguments $arguments, array $words): self
    {
        $target = Identifier::named($arguments);
        if ($target !== null && $words !== []) {
            throw new UsageError('--identifier replaces NAME CLIENT; remove ' . Text::printable($words[0]));
        }
        try {
            $target ??= Identifier::ofNamedPermits($words, $arguments->has('network')) ?? NamedLimit::fromWords($words, $arguments->has('network'));
        } catch (CommandError $error) {
            Elsewhere::warn($arguments);
            throw $error;
        }
        foreach ($arguments->has('as-is') ? [] : $target->identifiers() as $identifier) {
            $mistake = MistypedAddress::describe($identifier);
            if ($mistake !== null) {
                throw new UsageError("$mistake. " . MistypedAddress::ADVICE);
            }
        }
        $target->warnOfLimitsInCode();
        return $target;
    }

    /** For messages. */
    abstract public function text(): string;

    /** @return bool whether anything was stored before */
    public function reset(): bool
    {
        $this->expectLimited();
        return $this->change($this->resetNow(...));
    }

    /**
     * @return bool whether anything was stored before
     *
     * @throws \ValueError if the time is out of range
     */
    public function block(float $seconds): bool
    {
        $this->expectLimited();
        return $this->change(fn () => $this->blockNow($seconds));
    }

    /**
     * Lifts the blocks. A limit that is not blocked keeps its counts.
     *
     * @return float|null for how many seconds the client was blocked still; null if it was not
     */
    public function unblock(): ?float
    {
        $this->expectLimited();
        return $this->confirmed(function (): ?float {
            $seconds = null;
            foreach ($this->limits() as $limit) {
                $peek = static fn(): Decision => $limit->peek(0);
                // A block alone denies a call of cost 0.
                try {
                    $decision = Identifier::answered($peek);
                } catch (NoAnswer $error) {
                    // As in change().
                    @$this->resetNow();
                    throw $error;
                }
                if ($decision->wouldDeny()) {
                    $seconds = max($seconds ?? 0.0, $decision->getRetryAfter());
                    @$limit->reset();
                    Identifier::answered($peek);
                }
            }
            return $seconds;
        });
    }

    /**
     * Whether any call counts, or a block is in force.
     *
     * @throws NoAnswer if the server does not answer
     */
    abstract public function isStored(): bool;

    /** @return list<string> the clients that it is about */
    abstract public function clients(): array;

    /** @return list<string> what the stores have them under, without the prefix */
    abstract public function identifiers(): array;

    /** @return list<Limiter> each limit alone */
    abstract protected function limits(): array;

    abstract protected function resetNow(): void;

    abstract protected function blockNow(float $seconds): void;

    /**
     * For a client that is exempt: no block holds, and no call counts.
     *
     * @throws CommandError if the client is exempt from each of the limits
     */
    public function expectLimited(): void
    {
        $exempt = $this->exemptions();
        if ($exempt !== [] && count($exempt) === count($this->identifiers())) {
            $lines = implode(', ', $exempt);
            throw new CommandError("{$this->text()}: nothing has changed, because the client is exempt ($lines)");
        }
    }

    /** @return list<string> the lines of the file of limits that exempt the clients */
    public function exemptions(): array
    {
        $exempt = array_filter($this->terms(), static fn (ClientTerms $terms): bool => $terms->isExempt);
        return array_values(array_map(static fn (ClientTerms $terms): string => $terms->line(), $exempt));
    }

    /** @return list<ClientTerms> what the file of limits says of the clients alone */
    public function terms(): array
    {
        return [];
    }

    /** For how many seconds the client's calls are denied; 0.0 if they are not, or that is not known. */
    public function deniedSeconds(): float
    {
        return 0.0;
    }

    /** Says which limits in code are counted under a name of the file: a change of the file's does not reach them. */
    public function warnOfLimitsInCode(): void
    {
    }

    /** @return list<State> of limits in code that are easily taken for this one */
    abstract public function others(): array;

    private function change(\Closure $change): bool
    {
        return $this->confirmed(function () use ($change): bool {
            try {
                $was_stored = $this->isStored();
            } finally {
                // Also in an outage: it changes the buckets of on_error=fallback.
                @$change();
            }
            // Only a call with an answer tells that the server has got it.
            $this->isStored();
            return $was_stored;
        });
    }

    /**
     * @template T
     *
     * @param \Closure(): T $change
     *
     * @return T
     *
     * @throws NoAnswer if the server does not answer, so that it is not known whether the change has arrived
     */
    private function confirmed(\Closure $change): mixed
    {
        try {
            return $change();
        } catch (NoAnswer $error) {
            throw new NoAnswer($error->getMessage() . "\nThe server did not confirm the change: run this again when the server is up.\n"
                . 'If on_error is fallback, the change holds on this host until then.');
        }
    }
}
