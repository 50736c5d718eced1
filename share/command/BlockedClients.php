<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use TokenBucket\Decision;

use function TokenBucket\denials;
use function TokenBucket\limiter;
use function TokenBucket\status;

/** Finds the clients that go on while they are blocked. */
final class BlockedClients
{
    /** How long ago the last denial is, in seconds, of a client that goes on: an entry of the log of denials ends then. */
    private const GOES_ON = 600;
    /** A larger network is never a client. */
    private const LARGEST_IPV4 = 24;
    private const LARGEST_IPV6 = 48;
    /** What client_network() returns for what is no address. */
    private const NO_ADDRESS = 'unknown';

    /** @var array<string, BlockedClient> by the text of the network */
    private array $found = [];
    /** @var array<string, int> how many clients were left out, by the reason */
    private array $left_out = [];

    /** @var array<string, true> the texts of what an earlier run has listed */
    private array $last;
    /** @var array{limits: array<string, mixed>, named_limits: array<string, array<string, mixed>>, ...} */
    private array $status;

    /**
     * @param list<Network> $last what an earlier run has listed
     *
     * @throws CommandError if it cannot be known who is blocked: shared memory, the file of limits or a directive is wrong
     */
    public function __construct(
        private int $min_denials,
        private int $most_seconds,
        private NeverList $never,
        array $last,
    ) {
        if (ini_get('token_bucket.track_identifiers') === '0') {
            throw new CommandError('token_bucket.track_identifiers must be 1; it is 0, so no client is known by its address');
        }
        $status = status();
        $errors = [...$status['shared_memory_errors'], ...(array) ($status['limits_file']['error'] ?? [])];
        if ($errors !== []) {
            throw new CommandError($errors[0]);
        }
        $this->status = $status;
        $this->last = array_fill_keys(array_map(static fn (Network $network): string => $network->text(), $last), true);
    }

    /**
     * Adds those that a limit blocks.
     *
     * @throws UsageError if NAME is no limit that blocks
     * @throws NoAnswer if the server does not answer
     */
    public function add(string $name): void
    {
        $rule = $this->status['named_limits'][$name] ?? null;
        $limits = $rule['all'] ?? $rule['first'] ?? null;
        if ($limits !== null) {
            throw new UsageError(Text::printable($name) . ' is a set: name a limit in it whose clients are addresses: ' . Text::listed(array_map(Text::printable(...), $limits), 'or'));
        }
        if (isset($rule['lifetime'])) {
            throw new UsageError(Text::printable($name) . ' has permits, which cannot be blocked');
        }
        if (!NamedLimit::isKnown($this->status, $name)) {
            $nearest = Suggestion::nearest($name, NamedLimit::names($this->status));
            self::warn('no call was counted for ' . Text::printable($name) . ($nearest === null ? '' : "; did you mean $nearest?"));
            return;
        }
        $denials = denials($name);
        $before = $this->before($name, $denials);
        if ($before === null) {
            return;
        }
        $counts = $this->counts($denials, $before) + array_fill_keys(array_keys($this->last), 0);
        foreach ($counts as $client => $count) {
            $network = Network::parse((string) $client);
            $reason = $this->reasonAgainst($network, (string) $client);
            if ($network === null || $reason !== null) {
                $this->leaveOut((string) $reason, 1);
                continue;
            }
            $seconds = self::secondsLeft($rule === null ? null : $name, $before, (string) $client);
            $other = $this->found[$client] ?? null;
            if ($seconds !== null && $seconds > ($other->seconds ?? 0)) {
                $this->found[$client] = new BlockedClient($network, $name, (int) ceil(min($seconds, $this->most_seconds)), $count);
            }
        }
    }

    /**
     * So many of them, those that an earlier run has listed first, then those denied most often; none in the network of another. A firewall
     * keeps those of an earlier run from calling, so their counts do not grow. Says how many were left out.
     *
     * @return list<BlockedClient>
     */
    public function list(int $most): array
    {
        $rank = fn (BlockedClient $client): array => [isset($this->last[$client->network->text()]), $client->denials];
        uasort($this->found, static fn (BlockedClient $a, BlockedClient $b): int => $rank($b) <=> $rank($a));
        $clients = array_slice(array_values($this->found), 0, $most);
        $this->leaveOut('beyond --count', count($this->found) - count($clients));
        $networks = [];
        foreach ($clients as $client) {
            $networks[$client->network->bits][$client->network->text()] = true;
        }
        $is_in_another = static function (Network $network) use ($networks): bool {
            foreach ($networks as $bits => $texts) {
                if ($bits < $network->bits && isset($texts[$network->shortened($bits)->text()])) {
                    return true;
                }
            }
            return false;
        };
        $clients = array_values(array_filter($clients, static fn (BlockedClient $client): bool => !$is_in_another($client->network)));
        foreach (array_filter($this->left_out) as $reason => $count) {
            self::warn('clients left out: ' . number_format($count) . " $reason");
        }
        return $clients;
    }

    /**
     * What stands before the client in a limit's identifiers.
     *
     * @param list<array<string, mixed>> $denials
     *
     * @return string|null null if a client is no address, or not all identifiers begin alike: clients can write some of them
     */
    private function before(string $name, array $denials): ?string
    {
        $befores = $foreign = [];
        foreach ($denials as $denial) {
            // Written while identifiers were not kept.
            if ($denial['identifier'] === null) {
                continue;
            }
            [$before, $client] = self::split($name, $denial['identifier']);
            $befores[$before] = true;
            // A zone is no part of the address.
            $is_address = $client === '' || $client === self::NO_ADDRESS || Network::parse((string) preg_replace('~%[\w.-]+$~D', '', $client)) !== null;
            $foreign += $is_address ? [] : [$client => true];
        }
        if ($foreign === [] && count($befores) <= 1) {
            return (string) (array_key_first($befores) ?? "$name:");
        }
        self::warn('the limit ' . Text::printable($name) . ' is left out: ' . ($foreign === []
            ? 'its identifiers do not all begin alike'
            : number_format(count($foreign)) . ' of its denied clients are no addresses') . ', so clients may write them. Name a limit whose client is what client_network() returns');
        return null;
    }

    /**
     * How often each client was denied lately because it is blocked.
     *
     * @param list<array<string, mixed>> $denials
     *
     * @return array<string, int>
     */
    private function counts(array $denials, string $before): array
    {
        $since = microtime(true) - self::GOES_ON;
        $counts = [];
        foreach ($denials as $denial) {
            if ($denial['identifier'] !== null && $denial['reason'] === 'blocked' && $denial['enforced'] && $denial['last_at'] >= $since) {
                $client = substr($denial['identifier'], strlen($before));
                $counts[$client] = ($counts[$client] ?? 0) + $denial['count'];
            }
        }
        return array_filter($counts, fn (int $count): bool => $count >= $this->min_denials);
    }

    /** @return string|null why a client is not listed; null: it may be */
    private function reasonAgainst(?Network $network, string $client): ?string
    {
        return match (true) {
            $network === null => 'without an address',
            $network->text() !== $client => 'not as client_network() writes an address',
            $network->bits < ($network->isIpv4() ? self::LARGEST_IPV4 : self::LARGEST_IPV6) => 'larger than a /' . self::LARGEST_IPV4 . ' of IPv4 or a /' . self::LARGEST_IPV6 . ' of IPv6',
            $this->never->overlaps($network) => "private, reserved, this host's own, or of --never",
            default => null,
        };
    }

    private function leaveOut(string $reason, int $count): void
    {
        $this->left_out[$reason] = ($this->left_out[$reason] ?? 0) + $count;
    }

    /**
     * @param string|null $name of a limit of the file; null: it is in code
     *
     * @return float|null null if the client is not blocked, or calls are accepted nevertheless
     */
    private static function secondsLeft(?string $name, string $before, string $client): ?float
    {
        if ($name === null) {
            return (new Identifier($before . $client))->blockedSeconds();
        }
        // A block alone denies a call of cost 0.
        $decision = Identifier::answered(static fn(): Decision => limiter($name, $client)->peek(0));
        return $decision->isAccepted() ? null : $decision->getRetryAfter();
    }

    /** @return array{string, string} what stands before the client, and the client */
    private static function split(string $name, string $identifier): array
    {
        if (str_starts_with($identifier, "$name:")) {
            return ["$name:", substr($identifier, strlen($name) + 1)];
        }
        // The colons of an address end no name.
        $colon = Network::parse($identifier) === null ? strpos($identifier, ':') : false;
        return $colon === false ? ['', $identifier] : [substr($identifier, 0, $colon + 1), substr($identifier, $colon + 1)];
    }

    private static function warn(string $message): void
    {
        fwrite(STDERR, "token-bucket: $message\n");
    }
}
