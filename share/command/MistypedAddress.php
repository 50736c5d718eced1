<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use function TokenBucket\denials;
use function TokenBucket\status;

/** Notices a client that is probably a mistyped address: a limit knows its clients by their texts, so any text can be blocked. */
final class MistypedAddress
{
    public const ADVICE = 'If it is what the application passes, add --as-is';
    /** So many clients that are addresses, and this many times more than others, show that the limit has no others. */
    private const FEWEST_CLIENTS = 5;
    /** Four numbers with dots, or what has the colons of IPv6: what no name of a user and no number of a customer has. */
    private const ADDRESS = '(?:\d+(?:\.\d*){3,}|[\da-f]*(?::[\da-f]*)*::[\da-f:.]*|[\da-f]+(?::[\da-f]+){7,})';
    private const LOOKS_LIKE_ADDRESS = [
        // With brackets, a length, a port, or a second one behind a comma or a hyphen.
        '~^\[?' . self::ADDRESS . '\]?(?:/\d*)?(?::\d*)?(?:[,;-](?:\d+|' . self::ADDRESS . '.*)?)?$~Di',
        // With a scheme.
        '~^(?:[a-z][a-z\d+.-]*:)?//\[?' . self::ADDRESS . '(?:[]:/].*)?$~Di',
        // One or two letters among the numbers, or a comma for a dot.
        '~^(?!(?:[^a-z*]*[a-z*]){3})[\da-z*]*\d[\da-z*]*(?:[.,][\da-z*]+){3}(?:/\d*)?$~Di',
        // A network with one colon too few.
        '~^[\da-f]{1,4}(?::[\da-f]{0,4}){3,}/\d+$~Di',
    ];

    /** @return string|null what is wrong; null if the client is an address, or may well be none */
    public static function describe(string $identifier): ?string
    {
        $client = self::client($identifier);
        $mistake = self::describeForm($client);
        if ($mistake !== null) {
            return $mistake;
        }
        $word = self::firstWord($client);
        $others = self::otherClients($identifier);
        if (in_array($word, ['', 'unknown'], true) || self::isAddress($word) || in_array($client, $others, true)) {
            return null;
        }
        $words = array_unique(array_diff(array_map(self::firstWord(...), $others), ['unknown']));
        $addresses = count(array_filter($words, self::isAddress(...)));
        $are_addresses = $addresses >= self::FEWEST_CLIENTS && $addresses >= self::FEWEST_CLIENTS * (count($words) - $addresses);
        return $are_addresses ? '"' . Text::printable($word) . '" is no address, and nearly all clients are that this limit has denied or blocked' : null;
    }

    /** The same by the text of the client alone. */
    public static function describeForm(string $client): ?string
    {
        if (trim($client) !== $client) {
            return '"' . Text::printable($client) . '" begins or ends with a space';
        }
        $word = self::firstWord($client);
        if (self::isAddress($word)) {
            $rest = ltrim(substr($client, strlen($word)), ' -');
            return self::isAddress($rest) ? '"' . Text::printable($client) . '" has two addresses; name one client' : null;
        }
        $looks_like_address = array_filter(self::LOOKS_LIKE_ADDRESS, static fn (string $pattern): bool => preg_match($pattern, $word) === 1);
        return $looks_like_address === [] ? null : '"' . Text::printable($word) . '" looks like an address and is none';
    }

    /** An address or a network, also with a zone. */
    private static function isAddress(string $word): bool
    {
        return filter_var(preg_replace(['~/\d+$~D', '~%[\w.-]+$~D'], '', $word), FILTER_VALIDATE_IP) !== false;
    }

    private static function client(string $identifier): string
    {
        $client = Client::inIdentifier($identifier);
        // An address with a port has no name in front.
        return $client === '' || preg_match('~^[\d.]+:\d+$~D', $identifier) === 1 ? $identifier : $client;
    }

    /** A limit of pairs has the address in front: "192.0.2.1 anna". */
    private static function firstWord(string $client): string
    {
        return explode(' ', $client, 2)[0];
    }

    /** @return list<string> the clients that this host has denied lately or blocked, of the limit that the identifier names */
    private static function otherClients(string $identifier): array
    {
        $name = strstr($identifier, ':', true);
        if ($name === false) {
            return [];
        }
        $identifiers = array_filter(array_column([...status()['blocked'], ...denials()], 'identifier'), 'is_string');
        $own = array_filter($identifiers, static fn (string $other): bool => str_starts_with($other, "$name:"));
        return array_map(self::client(...), array_values(array_unique($own)));
    }
}
