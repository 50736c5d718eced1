<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** A list of clients that a limit treats differently, and how it treats each: `except` of a section, or a file of clients. */
final class Clients
{
    private const MOST = 100_000;
    private const FORM = 'must be client = limit, client = limit / interval, or client = none';
    private const QUOTES = 'a client with spaces, control characters, or what looks like a network needs "quotes"';

    /** @var array<string, array{int, int|null, float|null}> a line, a number (null: exempt), and an interval, by the clients */
    private array $names = [];
    /** @var array<int, array<string, array{int, int|null, float|null}>> the same by lengths and bases of networks */
    private array $networks = [];
    private int $count = 0;
    /** The first client that is there twice. */
    private ?Wrong $twice = null;

    private function __construct(public ?string $path) {}

    public static function ofExcept(int $line, string $value): self
    {
        $clients = new self(null);
        try {
            foreach (preg_split('/[\s,]+/u', Text::utf8($value), -1, PREG_SPLIT_NO_EMPTY) as $client) {
                $client[0] !== '#' || throw new Wrong('a comment begins with a semicolon', $line);
                !str_contains($client, '"')
                    || throw new Wrong('quotes must be around the whole value, or nowhere; name a client with spaces in a file of clients', $line);
                $clients->add($line, $client, false, [null, null]);
            }
            return $clients->finish();
        } catch (Wrong $wrong) {
            throw new Wrong("except: {$wrong->what}", $wrong->in);
        }
    }

    /** Reads a file of clients. Empty lines, and those that begin with `;` or `#`, say nothing. */
    public static function ofText(string $path, string $text): self
    {
        $clients = new self($path);
        foreach (explode("\n", preg_replace('/^\xef\xbb\xbf/', '', $text)) as $i => $line) {
            $line = preg_replace('/^\s+|\s+$/Du', '', $line) ?? throw new Wrong('must be UTF-8', $i + 1);
            if ($line !== '' && $line[0] !== ';' && $line[0] !== '#') {
                $clients->add($i + 1, ...self::parse($line, $i + 1));
            }
        }
        return $clients->finish();
    }

    /** A line: the client, whether it stands in quotes, its number and its interval. The last "=" counts: a client may have others. */
    private static function parse(string $line, int $number): array
    {
        $isQuoted = $line[0] === '"';
        // A comment begins after a space.
        $line = $isQuoted ? $line : preg_replace('/^([^ \t]*[ \t][^;]*);.*$/Ds', '$1', $line);
        $form = $isQuoted ? '/^"([^"]*)"\s*=(.*)$/Dsu' : '/^(.*?)\s*=([^=]*)$/Dsu';
        preg_match($form, $line, $parts) || throw new Wrong(self::FORM, $number);
        [, $client, $terms] = $parts;
        if (!$isQuoted && preg_match('/[\s\p{Cc}]/u', $client)) {
            throw new Wrong(self::QUOTES, $number);
        }
        // In quotes, as php.ini has it, or without.
        $terms = preg_replace('/^"(.*)"$/D', '$1', preg_replace('/^\s+|\s+$/Du', '', explode(';', $terms)[0]));
        if ($terms === 'none') {
            return [$client, $isQuoted, [null, null]];
        }
        [$count, $interval] = [...explode('/', $terms, 2), null];
        $interval = $interval === null ? null : ltrim($interval);
        $seconds = $interval === null ? null : Section::number($interval) ?? throw new Wrong(self::FORM, $number);
        preg_match('/^[+-]?\d{1,18}$/D', rtrim($count)) || throw new Wrong(self::FORM, $number);
        return [$client, $isQuoted, [(int) $count, $seconds]];
    }

    private function add(int $line, string $client, bool $isQuoted, array $terms): void
    {
        $shown = Text::cut($client);
        ++$this->count <= self::MOST || throw new Wrong('must have at most ' . self::MOST . ' clients', $line);
        $network = Address::parse($client);
        if ($network === null) {
            !$isQuoted && self::looksLikeNetwork($client)
                && throw new Wrong("$shown is not an address or network: write one like 10.0.0.0/8 or 2001:db8::/32, or quote it in a file of clients if it is another client", $line);
            $client !== '' && strlen($client) <= 4096 || throw new Wrong('a client must have 1 to 4096 bytes', $line);
            $known = &$this->names[$client];
        } else {
            [$bits, $base] = $network->key();
            $network->isBase() || throw new Wrong("$shown has bits beyond its length: write {$network->network($bits, $bits)}", $line);
            $known = &$this->networks[$bits][$base];
        }
        if ($known !== null) {
            $this->twice ??= new Wrong($known[0] === $line ? 'names a client twice' : "this client is already in line {$known[0]}", $line);
        }
        $known = [$line, ...$terms];
    }

    private function finish(): self
    {
        krsort($this->networks);
        return $this->twice === null ? $this : throw $this->twice;
    }

    /** Whether a text is probably meant as an address or a network: by its characters and its form, or short, such as 10/8. */
    private static function looksLikeNetwork(string $text): bool
    {
        $isCut = preg_match('~^[\d.]+$~D', $text) && str_contains($text, '.');
        if ($isCut || preg_match('~^(\+?\d{1,3})?/(\+?\d{1,3})$~D', $text, $parts) && max($parts[1], $parts[2]) <= 255) {
            return true;
        }
        [$dots, $colons] = [substr_count($text, '.'), substr_count($text, ':')];
        $hasTheirForm = $dots >= 3 && $colons === 0 || $colons >= 2;
        return preg_match('~^(?=.*\d)[0-9a-f:./*\[\]%\\\\-]+$~Di', $text) && $dots + $colons > 0 && ($hasTheirForm || strpbrk($text, '/*[\\') !== false);
    }

    /**
     * Finds the line about a client: the client to the letter, else the smallest network that holds all of its addresses.
     *
     * @return array{int, array{int, int|null, float|null}}|null how closely it names the client, and its terms
     */
    public function find(string $client): ?array
    {
        if (isset($this->names[$client])) {
            return [PHP_INT_MAX, $this->names[$client]];
        }
        $network = $this->networks === [] ? null : Address::ofClient($client);
        foreach ($network === null ? [] : $this->networks as $bits => $listed) {
            $found = $listed[$network->key($bits)[1] ?? ''] ?? null;
            if ($found !== null) {
                return [$bits, $found];
            }
        }
        return null;
    }

    /** The terms with the smallest and the largest number, for each interval: if a limit can have these numbers, it can have all. */
    public function extremes(): array
    {
        [$least, $most] = [[], []];
        foreach ([$this->names, ...$this->networks] as $listed) {
            foreach ($listed as $terms) {
                [$line, $count, $interval] = $terms;
                if ($count === null) {
                    continue;
                }
                $key = (string) $interval;
                $least[$key] = min($least[$key] ?? [$count, $line, $interval], [$count, $line, $interval]);
                $most[$key] = max($most[$key] ?? [$count, -$line, $interval], [$count, -$line, $interval]);
            }
        }
        $all = array_map(static fn(array $it): array => [abs($it[1]), $it[0], $it[2]], [...array_values($least), ...array_values($most)]);
        sort($all);
        return $all;
    }
}
