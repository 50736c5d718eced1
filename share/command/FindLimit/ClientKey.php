<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\Text;
use TokenBucket\Command\UsageError;

/** What counts as one client: --by. */
final class ClientKey
{
    private const LONGEST = 256;

    private function __construct(
        public readonly string $by,
        private string $field,
        public readonly ClientAddress $addresses,
        private int $ipv6Bits,
        private int $ipv4Bits,
    ) {
    }

    /** @throws UsageError unless $by is address, network, user or field:NAME */
    public static function from(string $by, ClientAddress $addresses, int $ipv6Bits, int $ipv4Bits): self
    {
        $field = str_starts_with($by, 'field:') ? substr($by, 6) : '';
        if ($field === '' && !in_array($by, ['address', 'network', 'user'], true)) {
            throw new UsageError('--by must be address, network, user, or field:NAME for a field of JSON lines; it is "' . Text::printable($by) . '"');
        }
        return new self($by, $field, $addresses, $ipv6Bits, $ipv4Bits);
    }

    /** Whether a client is an address, so that a log without addresses was misread. */
    public function isAddress(): bool
    {
        return in_array($this->by, ['address', 'network'], true);
    }

    /** The client, without line breaks and of bounded length; null if the line names none. */
    public function of(LogEntry $entry): ?string
    {
        if ($this->by === 'network') {
            $client = $this->addresses->network($entry->address, $entry->forwarded, $this->ipv6Bits, $this->ipv4Bits);
        } elseif ($this->by === 'address') {
            $client = $this->addresses->of($entry->address, $entry->forwarded);
            $client = $this->addresses->parse($client) === null ? null : $client;
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
