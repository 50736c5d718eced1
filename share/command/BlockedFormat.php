<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** For which program blocked clients are printed. share/firewall/*.lines has the lines that each may be given. */
enum BlockedFormat: string
{
    case Plain = 'plain';
    case Nft = 'nft';
    case Haproxy = 'haproxy';
    case Crowdsec = 'crowdsec';

    private const IPV4_IN_IPV6 = '::ffff:';

    /** @throws UsageError for another word */
    public static function named(string $word): self
    {
        return self::tryFrom($word) ?? throw new UsageError('--format must be ' . Text::listed(array_map(static fn (self $format): string => $format->value, self::cases()), 'or') . '; it is "' . Text::printable($word) . '"');
    }

    /**
     * The whole list: what it lacks is blocked no longer, but by crowdsec.
     *
     * @param list<BlockedClient> $clients none in the network of another
     */
    public function text(array $clients): string
    {
        return match ($this) {
            self::Plain => self::lines($clients, static fn (BlockedClient $client): string => "{$client->network->text()} $client->seconds"),
            self::Nft => self::nft($clients),
            self::Haproxy => self::haproxy($clients),
            self::Crowdsec => "duration,reason,scope,value\n" . self::lines($clients, static fn (BlockedClient $client): string
                => "{$client->seconds}s,token_bucket," . (str_contains($client->network->text(), '/') ? 'Range' : 'Ip') . ",{$client->network->text()}"),
        };
    }

    /**
     * The addresses and networks that an earlier run has printed, in any format.
     *
     * @return list<Network>
     */
    public static function read(string $text): array
    {
        $text = str_replace([' key ' . self::IPV4_IN_IPV6, ' data.gpt0 '], [' key ', '/'], $text);
        preg_match_all('~(?<![^\s,])[\da-f:.]+(?:/\d+)?(?![^\s,])~', $text, $words);
        return array_values(array_filter(array_map(Network::parse(...), $words[0])));
    }

    /**
     * In one transaction of `nft -f`, so that no packet passes between the old list and the new one.
     *
     * @param list<BlockedClient> $clients
     */
    private static function nft(array $clients): string
    {
        $text = "flush set inet token_bucket blocked4\nflush set inet token_bucket blocked6\n";
        foreach (['blocked4' => true, 'blocked6' => false] as $set => $is_ipv4) {
            $in_set = array_filter($clients, static fn (BlockedClient $client): bool => $client->network->isIpv4() === $is_ipv4);
            $elements = self::lines($in_set, static fn (BlockedClient $client): string => "{$client->network->text()} timeout {$client->seconds}s,");
            $text .= $elements === '' ? '' : "add element inet token_bucket $set {\n$elements}\n";
        }
        return $text;
    }

    /**
     * A table of HAProxy has addresses, so the length of a network is its tag. Of two networks with one first address the larger one counts: it
     * comes last.
     *
     * @param list<BlockedClient> $clients
     */
    private static function haproxy(array $clients): string
    {
        usort($clients, static fn (BlockedClient $a, BlockedClient $b): int => $b->network->bits <=> $a->network->bits);
        // Without "prompt" HAProxy reads one line.
        return "prompt\nclear table token_bucket\n" . self::lines($clients, static fn (BlockedClient $client): string => 'set table token_bucket key '
            . ($client->network->isIpv4() ? self::IPV4_IN_IPV6 : '') . "{$client->network->address()} data.gpt0 {$client->network->bits}");
    }

    /**
     * @param array<BlockedClient>             $clients
     * @param \Closure(BlockedClient): string $line
     */
    private static function lines(array $clients, \Closure $line): string
    {
        return implode('', array_map(static fn (BlockedClient $client): string => $line($client) . "\n", $clients));
    }
}
