<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\Text;
use TokenBucket\Command\UsageError;
use function TokenBucket\client_network;

/** What counts as one client: --by. */
final class ClientKey
{
    private const LONGEST = 256;

    private function __construct(public readonly string $by, private string $field, private int $ipv6Bits, private int $ipv4Bits)
    {
    }

    /** @throws UsageError unless $by is address, network, user or field:NAME */
    public static function from(string $by, int $ipv6Bits, int $ipv4Bits): self
    {
        $field = str_starts_with($by, 'field:') ? substr($by, 6) : '';
        if ($field === '' && !in_array($by, ['address', 'network', 'user'], true)) {
            throw new UsageError('--by must be address, network, user, or field:NAME for a field of JSON lines; it is "' . Text::printable($by) . '"');
        }
        return new self($by, $field, $ipv6Bits, $ipv4Bits);
    }

    /** The client, without line breaks and of bounded length; null if the line names none. */
    public function of(LogEntry $entry): ?string
    {
        if ($this->by === 'network') {
            $network = client_network($entry->address, $this->ipv6Bits, $this->ipv4Bits);
            // Apache may log a host's name in place of its address: a client, too.
            $client = $network === 'unknown' ? $entry->address : $network;
        } elseif ($this->by === 'address') {
            $client = $entry->address;
        } elseif ($this->by === 'user') {
            $client = $entry->user;
        } else {
            $client = $entry->fields[$this->field] ?? null;
            $client = is_scalar($client) ? (string) $client : null;
        }
        if ($client === null || $client === '') {
            return null;
        }
        if (strlen($client) > self::LONGEST) {
            // Two clients that begin alike stay two.
            $client = substr($client, 0, self::LONGEST - 20) . '...' . hash('xxh64', $client);
        }
        return strpbrk($client, "\n\r") === false ? $client : addcslashes($client, "\n\r");
    }
}
