<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use TokenBucket\ConfigurationException;
use TokenBucket\Decision;
use TokenBucket\Limiter;
use TokenBucket\StorageException;

use function TokenBucket\limiter;
use function TokenBucket\status;

/** The limit or set that a command names, for the client that it names. */
final class NamedLimit extends Target
{
    private string $name;
    /** @var non-empty-list<string> */
    private array $clients;
    private Limiter $limiter;

    /**
     * @param list<string> $words      NAME CLIENT; for a set one client for all limits, or one for each
     * @param bool         $is_network whether the application limits networks
     *
     * @throws UsageError if a word is missing or wrong
     * @throws CommandError if the limits cannot be read
     */
    public function __construct(array $words, bool $is_network)
    {
        $this->name = array_shift($words) ?? throw new UsageError('NAME is missing: the name of a limit in the file of token_bucket.limits');
        if ($words === []) {
            throw new UsageError('CLIENT is missing: what the application passes to TokenBucket\limiter(), such as an address');
        }
        $this->clients = array_map(static fn (string $word): string => Client::read($word, 'CLIENT', $is_network), $words);
        try {
            $this->limiter = limiter($this->name, count($words) === 1 ? $this->clients[0] : $this->clients);
        } catch (ConfigurationException $error) {
            $elsewhere = ini_get('token_bucket.limits') === '' ? '; --pool FILE takes it from php-fpm\'s file of a pool' : '';
            throw new CommandError($error->getMessage() . $elsewhere);
        } catch (\TypeError) {
            throw new UsageError(Text::printable($this->name) . ' is one limit and takes one CLIENT');
        } catch (\ValueError $error) {
            throw new UsageError(preg_replace('~^.*?\(\$client\) ~', 'CLIENT ', $error->getMessage()));
        }
    }

    /**
     * Whether calls on a limit of the file are counted under this name. A set is not: its limits are.
     *
     * @param array<string, mixed> $status
     */
    public static function isCounted(array $status, string $name): bool
    {
        return isset($status['named_limits'][$name]) && !isset($status['named_limits'][$name]['all']);
    }

    public function text(): string
    {
        return implode(' ', array_map([Text::class, 'identifier'], [$this->name, ...$this->clients]));
    }

    public function reset(): void
    {
        $this->limiter->reset();
        $this->ask();
    }

    public function block(float $seconds): void
    {
        $this->limiter->block($seconds);
        $this->ask();
    }

    /**
     * What the store says of the client's next call.
     *
     * @throws CommandError if the store does not answer, so that nothing is known, and what was done before may not have arrived
     */
    public function ask(): Decision
    {
        return Identifier::answered(fn(): Decision => $this->limiter->peek(1));
    }

    /** Limits in code share the identifier where their algorithm or their storage is another one. */
    public function others(): array
    {
        $rule = status()['named_limits'][$this->name];
        // No state is that of a set itself.
        $own = isset($rule['all']) || $rule['storage'] !== null ? null : $rule['algorithm'];
        $states = [];
        try {
            foreach (array_unique($this->clients) as $client) {
                array_push($states, ...(new Identifier("$this->name:$client", null, null, $own))->states());
            }
        } catch (CommandError | StorageException $error) {
            // What is known of the named limit is true all the same.
            fwrite(STDERR, 'token-bucket: limits in code cannot be asked: ' . Text::lines($error->getMessage()) . "\n");
        }
        return $states;
    }
}
