<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** What no firewall may keep out: this host, private and reserved networks, and the networks of files. */
final class NeverList
{
    /** Of IPv4. Of IPv6 all is reserved that is not in GLOBAL_IPV6, also IPv4 addresses in the form of IPv6. */
    private const RESERVED = [
        '0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24', '192.168.0.0/16', '198.18.0.0/15', '224.0.0.0/3',
    ];
    private const GLOBAL_IPV6 = '2000::/3';

    /** @param list<Network> $networks */
    private function __construct(private array $networks, private Network $global_ipv6)
    {
    }

    /**
     * @param list<string> $files each with an address or a network on a line, and comments behind #
     *
     * @throws CommandError if a file cannot be read, or has anything else on a line
     */
    public static function read(array $files): self
    {
        $networks = array_map(self::known(...), [...self::RESERVED, ...self::ownAddresses()]);
        foreach ($files as $file) {
            $lines = is_file($file) ? @file($file) : false;
            foreach ($lines === false ? throw new CommandError('--never must name a readable file; this one is not: ' . Text::printable($file)) : $lines as $number => $line) {
                $text = trim((string) preg_replace('~#.*~s', '', $line));
                if ($text !== '') {
                    $networks[] = Network::parse(self::unmapped($text)) ?? throw new CommandError(Text::printable($file) . ': line ' . ($number + 1)
                        . ' must be an address or a network such as 192.0.2.0/24; it is "' . Text::printable($text) . '"');
                }
            }
        }
        return new self($networks, self::known(self::GLOBAL_IPV6));
    }

    /** Whether any of its addresses is in the list. */
    public function overlaps(Network $network): bool
    {
        if (!$network->isIpv4() && !$this->global_ipv6->holds($network)) {
            return true;
        }
        foreach ($this->networks as $never) {
            if ($never->overlaps($network)) {
                return true;
            }
        }
        return false;
    }

    /** @return list<string> */
    private static function ownAddresses(): array
    {
        $interfaces = net_get_interfaces();
        $addresses = [];
        foreach ($interfaces === false ? throw new CommandError("the addresses of this host's interfaces cannot be read") : $interfaces as $interface) {
            foreach ($interface['unicast'] as $unicast) {
                // An interface may have an entry without an address; one of IPv6 may have a zone.
                $address = (string) strtok($unicast['address'] ?? '', '%');
                array_push($addresses, ...($address === '' ? [] : [$address]));
            }
        }
        return $addresses;
    }

    /** An IPv4 address or network that is written as one of IPv6 stands for itself. */
    private static function unmapped(string $text): string
    {
        if (preg_match('~^::ffff:(\d[\d.]+)(?:/(\d{1,3}))?$~Di', $text, $parts) !== 1) {
            return $text;
        }
        return isset($parts[2]) ? "$parts[1]/" . ((int) $parts[2] - 96) : $parts[1];
    }

    private static function known(string $text): Network
    {
        return Network::parse($text) ?? throw new CommandError("$text is no address");
    }
}
