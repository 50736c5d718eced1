<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use function TokenBucket\client_network;

/** A client, or an identifier, as a user writes it on the command line. */
final class Client
{
    /** At how many bytes the log of denials cuts an identifier: one that long may be cut, and name no client. */
    public const LONGEST_KEPT = 96;

    /**
     * @param string $word       as Text::identifier() shows it; `-` for a line of standard input, which no shell reads
     * @param string $name       of the argument
     * @param bool   $is_network whether the application limits the network as one client
     *
     * @throws UsageError for a network that is no client, and if there is no line
     */
    public static function read(string $word, string $name, bool $is_network): string
    {
        if ($word === '-') {
            if (stream_isatty(STDIN)) {
                fwrite(STDERR, "$name: ");
            }
            $line = fgets(STDIN);
            $word = $line === false ? throw new UsageError("$name is -, and standard input has no line") : rtrim($line, "\r\n");
        }
        return self::shown($word, $is_network);
    }

    /**
     * @param string $word as Text::identifier() shows it
     *
     * @throws UsageError for a network that is no client
     */
    public static function shown(string $word, bool $is_network): string
    {
        $client = Text::fromIdentifier($word);
        // Of an identifier the part behind the name.
        foreach ([$client, substr((string) strstr($client, ':'), 1)] as $text) {
            self::checkNetwork($text, $is_network);
        }
        return $client;
    }

    /** Why a block of the client may have no effect; null: no reason is known. */
    public static function doubt(string $client, bool $is_network): ?string
    {
        $call = self::callThatMakes($client);
        $network = $is_network ? null : self::network($client);
        return match (true) {
            $call !== null => "this blocks only a client that the application calls $client, by $call. To keep out the whole network, use a firewall",
            $network !== null => "if the application limits by client_network(), this has no effect; block $network instead",
            default => null,
        };
    }

    /** The client in the identifier of a limit in code: what stands behind the name and a colon, or all of one that is an address. */
    public static function inIdentifier(string $identifier): string
    {
        return filter_var($identifier, FILTER_VALIDATE_IP) === false ? substr((string) strstr($identifier, ':'), 1) : $identifier;
    }

    /** Whether the part of an identifier behind its first colon is the client, or begins with it and goes on at a space or a colon. */
    public static function isOf(string $identifier, string $client): bool
    {
        $text = self::inIdentifier($identifier);
        $address = explode('/', explode(' ', $text, 2)[0], 2)[0];
        // The colons of an IPv6 address end no client.
        $ends = filter_var($address, FILTER_VALIDATE_IP) === false ? ['', ' ', ':'] : ['', ' '];
        return str_starts_with($text, $client) && in_array(substr($text, strlen($client), 1), $ends, true)
            || strlen($identifier) === self::LONGEST_KEPT && $text !== '' && str_starts_with($client, $text);
    }

    /** How a limit by network knows a client; null if it knows it by the same text, or the client is no address. */
    private static function network(string $client): ?string
    {
        $network = filter_var($client, FILTER_VALIDATE_IP) === false ? $client : client_network($client);
        return $network === $client ? null : $network;
    }

    /** A limit knows a client by its text alone, so "192.0.2.0/24" is no address in that network. */
    private static function checkNetwork(string $client, bool $is_network): void
    {
        [$address, $bits] = self::addressAndBits($client);
        if ($address === null) {
            return;
        }
        $most = str_contains($address, ':') ? 128 : 32;
        $network = $bits < 1 || $bits > $most ? $address : client_network($address, min(128, (int) $bits), min(32, (int) $bits));
        if ($client !== $network) {
            throw new UsageError("$client is not as TokenBucket\\client_network() writes a network; did you mean $network?");
        }
        if (!$is_network && ($call = self::callThatMakes($client)) !== null) {
            throw new UsageError("$client is a client only if the application calls $call: add --network if it does.\n"
                . 'If it does not, no limit can block this network: use a firewall');
        }
    }

    /** The call by which an application knows a client as this network; null if client_network() alone makes it, or it is no network. */
    private static function callThatMakes(string $client): ?string
    {
        [$address, $bits] = self::addressAndBits($client);
        if ($address === null || client_network($address) === $client) {
            return null;
        }
        return 'client_network($address, ' . (str_contains($address, ':') ? 'ipv6Bits' : 'ipv4Bits') . ": $bits)";
    }

    /** @return array{?string, string} the two parts of a network in CIDR notation; null if it is none */
    private static function addressAndBits(string $client): array
    {
        $is_network = preg_match('~^([\da-fA-F:.]+)/(\d{1,3})$~D', $client, $match) === 1 && filter_var($match[1], FILTER_VALIDATE_IP) !== false;
        return $is_network ? [$match[1], $match[2]] : [null, ''];
    }
}
