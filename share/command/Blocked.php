<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** Lists the clients that go on while they are blocked, for a firewall. */
final class Blocked implements Command
{
    /** The sets of share/firewall/token-bucket.nft have room for as many, and share/firewall/*.lines for the time. */
    private const MOST_CLIENTS = 16_384;
    private const MOST_SECONDS = 3_600;

    public static function options(): array
    {
        return [
            new Option('format', 'WHAT', 'plain (default), nft, haproxy or crowdsec'),
            new Option('min-denials', 'N', 'While blocked, of the last ten minutes (10)'),
            new Option('max-time', 'TIME', 'Keep out for at most so long, then look again (5m)'),
            new Option('count', 'N', 'How many to list (16384)'),
            new Option('never', 'FILE', 'Networks never to list, one a line', true),
            new Option('last', 'FILE', 'The list of the last run: those still blocked stay'),
            new Option('direct', null, 'nft alone: clients connect here, not to a proxy'),
            ...Pool::options(),
        ];
    }

    public static function notes(): string
    {
        return "Each NAME is a limit, of the file or in code on token_bucket.storage, whose\nclients are addresses or networks. share/firewall has what applies the list.";
    }

    public function run(Arguments $arguments): int
    {
        $names = $arguments->operands;
        if ($names === []) {
            throw new UsageError('blocked needs NAME: a limit whose clients are addresses');
        }
        $format = BlockedFormat::named($arguments->value('format') ?? 'plain');
        if ($arguments->has('json') && $arguments->has('format')) {
            throw new UsageError('--json and --format cannot be used together');
        }
        if ($format === BlockedFormat::Nft && !$arguments->has('direct')) {
            throw new UsageError("--format nft needs --direct: a packet filter sees the address that connects. If that is a proxy, blocking its clients' addresses\n"
                . 'has no effect, and blocking its own keeps out all. Say --direct if clients connect to this host; else give the proxy what --format haproxy or crowdsec prints');
        }
        $min_denials = $arguments->integer('min-denials', 10, 1, 1_000_000);
        $count = $arguments->integer('count', self::MOST_CLIENTS, 1, self::MOST_CLIENTS);
        $seconds = Duration::seconds($arguments->value('max-time') ?? '5m', '--max-time');
        if ($seconds < 1 || $seconds > self::MOST_SECONDS) {
            throw new UsageError('--max-time must be from 1 s to 1 h');
        }
        // As root, if it is: the pool's user may not read them.
        $never = NeverList::read($arguments->values('never'));
        $last = self::addressesIn($arguments->value('last'));
        Pool::enter($arguments);
        $clients = new BlockedClients($min_denials, (int) $seconds, $never, $last);
        foreach (array_unique($names) as $name) {
            $clients->add($name);
        }
        $list = $clients->list($count);
        echo $arguments->has('json') ? Text::json($list) : $format->text($list);
        return Application::SUCCESS;
    }

    /** @return list<Network> */
    private static function addressesIn(?string $file): array
    {
        if ($file === null) {
            return [];
        }
        $text = is_file($file) ? @file_get_contents($file) : false;
        if ($text === false) {
            throw new CommandError('--last must name a readable file; this one is not: ' . Text::printable($file));
        }
        return BlockedFormat::read($text);
    }
}
