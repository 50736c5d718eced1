<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use TokenBucket\ConfigurationException;
use TokenBucket\Decision;
use TokenBucket\Limiter;
use TokenBucket\StorageException;

use function TokenBucket\limiter;
use function TokenBucket\status;

/** A limit or a set of the file of token_bucket.limits, for a client. */
final class NamedLimit extends Target
{
    private Limiter $limiter;

    /**
     * @param non-empty-list<string> $clients for a set one for all limits, or one for each
     *
     * @throws ConfigurationException if there is no such limit, or the limits cannot be read
     * @throws \TypeError if it is no set, and there are several clients
     * @throws \ValueError if a client is empty or too long
     */
    public function __construct(private string $name, private array $clients)
    {
        $this->limiter = limiter($name, count($clients) === 1 ? $clients[0] : $clients);
    }

    /**
     * @param list<string> $words      NAME CLIENT...
     * @param bool         $is_network whether the application limits networks
     *
     * @throws UsageError if a word is missing or wrong
     * @throws CommandError if the limits cannot be read
     */
    public static function fromWords(array $words, bool $is_network): self
    {
        $name = array_shift($words) ?? throw new UsageError('NAME is missing: the name of a limit in the file of token_bucket.limits');
        if ($words === []) {
            throw new UsageError('CLIENT is missing: what the application passes to TokenBucket\limiter(), such as an address');
        }
        $clients = array_map(static fn (string $word): string => Client::read($word, 'CLIENT', $is_network), $words);
        try {
            return new self($name, $clients);
        } catch (ConfigurationException $error) {
            throw new CommandError(self::explained($error->getMessage(), $name, $clients[0]));
        } catch (\TypeError) {
            throw new UsageError(Text::printable($name) . ' is one limit and takes one CLIENT');
        } catch (\ValueError $error) {
            throw new UsageError((string) preg_replace('~^.*?\(\$client\) ~', 'CLIENT ', $error->getMessage()));
        }
    }

    /** What to do if the file has no such limit. A limit in code may have the name. */
    private static function explained(string $message, string $name, string $client): string
    {
        $status = status();
        if (($status['limits_file']['error'] ?? null) !== null) {
            return "$message\n--identifier NAME:CLIENT reaches a client without the file, with --storage DSN if the limit is not on token_bucket.storage";
        }
        $is_empty = ini_get('token_bucket.limits') === '';
        if (isset($status['limits'][$name])) {
            $of_client = static fn (int|string $identifier): bool => Client::inIdentifier((string) $identifier) === $client;
            $denied = array_filter(array_keys($status['limits'][$name]['most_denied']), $of_client);
            $shown = Text::printable($name);
            return "$shown is counted, but is not in " . ($is_empty ? 'a file of limits, for token_bucket.limits is empty' : 'the file of limits')
                . "\nIf it is a limit in code, name its client by --identifier " . escapeshellarg(Text::identifier((string) (reset($denied) ?: "$name:$client")))
                . ($denied === [] ? ", or by what the code passes as identifier: token-bucket top $shown shows some" : '')
                . ($is_empty ? "\nIf it is in the file of a php-fpm pool, name the pool by --pool FILE" : '');
        }
        $else = $is_empty ? '; --pool FILE takes it from a php-fpm pool and its php.ini. For' : '; for';
        return "$message$else a limit in code write --identifier ID in place of NAME CLIENT";
    }

    /** How a name of statistics() is shown to people. */
    public static function label(string $name): string
    {
        return match ($name) {
            '' => '(addresses)',
            '*' => '* (all further ones)',
            default => Text::identifier($name),
        };
    }

    /**
     * Whether calls on a limit of the file are counted under this name. A set is not: its limits are.
     *
     * @param array{named_limits: array<string, array<string, mixed>>, ...} $status
     */
    public static function isCounted(array $status, string $name): bool
    {
        return isset($status['named_limits'][$name]['algorithm']);
    }

    /**
     * The names of the limits that were counted, and of the limits and sets of the file.
     *
     * @param array{limits: array<string, mixed>, named_limits: array<string, mixed>, ...} $status
     *
     * @return list<string>
     */
    public static function names(array $status): array
    {
        return array_map('strval', array_keys($status['limits'] + $status['named_limits']));
    }

    /** @param array{limits: array<string, mixed>, named_limits: array<string, mixed>, ...} $status */
    public static function isKnown(array $status, string $name): bool
    {
        return in_array($name, self::names($status), true);
    }

    /**
     * Under which names the calls on a limit, or on those of a set, are counted. A limit in code may have the name of a set.
     *
     * @param array{limits: array<string, mixed>, named_limits: array<string, array{all?: list<string>, first?: list<string>, ...}>, ...} $status
     *
     * @return list<string>
     *
     * @throws CommandError if no call is
     */
    public static function counted(array $status, string $name, Arguments $arguments): array
    {
        $rule = $status['named_limits'][$name] ?? [];
        $names = [$name, ...$rule['all'] ?? $rule['first'] ?? []];
        $known = array_map('strval', array_keys($status['limits'] + array_column($status['blocked'], null, 'name')));
        if (array_intersect($names, $known) === []) {
            Elsewhere::warn($arguments);
            throw new CommandError('no call was counted for ' . Text::printable($name) . Suggestion::among($name, $known));
        }
        return $names;
    }

    public function text(): string
    {
        $of = static fn (string $name, string $client): string => Text::identifier($name) . ' ' . Text::identifier($client);
        if (count($this->clients) === 1) {
            return $of($this->name, $this->clients[0]);
        }
        // Clients in another order than the file's are as valid: the answer shows which limit got which.
        $each = array_map($of, array_map('strval', array_keys($this->clientsOfLimits())), array_values($this->clientsOfLimits()));
        return Text::identifier($this->name) . ' (' . implode('; ', $each) . ')';
    }

    public function isStored(): bool
    {
        return Identifier::answered(fn(): Decision => $this->limiter->peek(0))->getResetAfter() > 0;
    }

    public function clients(): array
    {
        return array_values(array_unique($this->clients));
    }

    public function identifiers(): array
    {
        return array_map(static fn (string $name, string $client): string => "$name:$client", array_keys($this->clientsOfLimits()), $this->clientsOfLimits());
    }

    public function terms(): array
    {
        $limits = array_map('strval', array_keys($this->clientsOfLimits()));
        return array_values(array_filter(array_map(ClientTerms::of(...), $limits, array_values($this->clientsOfLimits()))));
    }

    public function warnOfLimitsInCode(): void
    {
        $status = status();
        foreach ($this->clientsOfLimits() as $name => $client) {
            $denied = array_map('strval', array_keys($status['limits'][$name]['most_denied'] ?? []));
            // A limit with "like" has the identifiers of another limit of the file.
            $in_code = array_filter($denied, static fn (string $identifier): bool => !self::isCounted($status, (string) strstr($identifier, ':', true)));
            $of_client = array_filter($in_code, static fn (string $identifier): bool => Client::isOf($identifier, $client));
            if ($in_code !== []) {
                $identifier = escapeshellarg(Text::identifier(current($of_client) ?: current($in_code)));
                fwrite(STDERR, 'token-bucket: a limit in code is also counted as ' . Text::printable((string) $name) . "; name its clients by --identifier, such as --identifier $identifier\n");
            }
        }
    }

    protected function limits(): array
    {
        return array_map(limiter(...), array_map('strval', array_keys($this->clientsOfLimits())), array_values($this->clientsOfLimits()));
    }

    /** @return array<string, string> the client of each limit of a set, or of the one limit */
    private function clientsOfLimits(): array
    {
        $rule = status()['named_limits'][$this->name];
        $names = $rule['all'] ?? $rule['first'] ?? [$this->name];
        return array_combine($names, count($this->clients) === 1 ? array_fill(0, count($names), $this->clients[0]) : $this->clients);
    }

    protected function resetNow(): void
    {
        $this->limiter->reset();
    }

    protected function blockNow(float $seconds): void
    {
        $this->limiter->block($seconds);
    }

    /**
     * What the store says of the client's next call.
     *
     * @throws NoAnswer if the store does not answer
     */
    public function ask(): Decision
    {
        return Identifier::answered(fn(): Decision => $this->limiter->peek(1));
    }

    public function deniedSeconds(): float
    {
        $decision = $this->ask();
        return $decision->wouldDeny() ? $decision->getRetryAfter() : 0.0;
    }

    /** Limits in code share the identifier where their algorithm or their storage is another one. */
    public function others(): array
    {
        $rule = status()['named_limits'][$this->name];
        // No state is that of a set itself, which has no algorithm.
        $own = ($rule['storage'] ?? null) === null ? $rule['algorithm'] ?? null : null;
        $states = [];
        try {
            foreach ($this->clients() as $client) {
                array_push($states, ...(new Identifier("$this->name:$client", null, null, $own))->states());
            }
        } catch (CommandError | StorageException $error) {
            // What is known of the named limit is true all the same.
            fwrite(STDERR, 'token-bucket: whether limits in code have this identifier, too, is not known: ' . Text::lines($error->getMessage()) . "\n");
        }
        return $states;
    }
}
