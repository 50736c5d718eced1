<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** A list of clients that a limit treats differently, and how it treats each: `except` of a section, or a file of clients. */
final class Clients
{
    private const MOST = 100_000;
    private const FORM = 'must be client = limit, client = limit / interval, or client = none';

    /** @var array<string, array{int, int|null, float|null}> a line, a number (null: exempt), and an interval, by the clients */
    private array $names = [];
    /** @var array<int, array<string, array{int, int|null, float|null}>> the same by lengths and bases of networks */
    private array $networks = [];

    private function __construct(public ?string $path) {}

    public static function ofExcept(int $line, string $value): self
    {
        $clients = new self(null);
        foreach (preg_split('/[\s,]+/', $value, -1, PREG_SPLIT_NO_EMPTY) as $client) {
            try {
                $clients->add($line, $client, false, [$line, null, null]);
            } catch (Wrong $wrong) {
                throw new Wrong("except: {$wrong->what}", $wrong->in);
            }
        }
        return $clients;
    }

    /** Reads a file of clients. Empty lines, and those that begin with `;` or `#`, say nothing. */
    public static function ofFile(string $path): self
    {
        $clients = new self($path);
        LimitsFile::$others[$path] = true;
        if (file_exists($path) && !is_file($path)) {
            throw new Wrong("$path: must be a regular file");
        }
        $text = is_file($path) ? @file_get_contents($path, false, null, 0, (8 << 20) + 1) : false;
        if ($text === false || strlen($text) > 8 << 20) {
            throw new Wrong("$path: " . ($text === false ? 'No such file or directory' : 'must be at most 8 MiB'));
        }
        foreach (explode("\n", $text) as $i => $line) {
            $line = trim($line);
            if ($line === '' || $line[0] === ';' || $line[0] === '#') {
                continue;
            }
            try {
                preg_match('//u', $line) || throw new Wrong('must be UTF-8', $i + 1);
                [$client, $isQuoted, $terms] = self::parse($line) ?? throw new Wrong(self::FORM, $i + 1);
                $clients->add($i + 1, $client, $isQuoted, [$i + 1, ...$terms]);
            } catch (Wrong $wrong) {
                throw new Wrong("$path: {$wrong->getMessage()}");
            }
        }
        return $clients;
    }

    /** A line: the client, whether it stands in quotes, its number and its interval. The last "=" counts: a client may have others. */
    private static function parse(string $line): ?array
    {
        $isQuoted = $line[0] === '"';
        $line = $isQuoted ? $line : preg_replace('/[ \t].*?\K[ \t];.*$|^(\S*)[ \t];.*$/', '$1', $line);
        $form = $isQuoted ? '/^"([^"]*)"\s*=([^;]*)(?:;.*)?$/D' : '/^(.*)=([^;]*)(?:;.*)?$/D';
        if (!preg_match($form, $line, $parts)) {
            return null;
        }
        $terms = preg_replace('/^"(.*)"$/D', '$1', trim($parts[2]));
        if ($terms === 'none') {
            return [trim($parts[1]), $isQuoted, [null, null]];
        }
        [$count, $interval] = [...explode('/', $terms, 2), null];
        $isRight = preg_match('/^[+-]?\d{1,18}$/D', rtrim($count)) && ($interval === null || Section::isNumber(ltrim($interval)));
        $interval = $interval === null ? null : Section::number(ltrim($interval));
        return $isRight ? [trim($parts[1]), $isQuoted, [(int) $count, $interval]] : null;
    }

    private function add(int $line, string $client, bool $isQuoted, array $terms): void
    {
        $shown = Text::cut($client);
        count($this->names) + array_sum(array_map('count', $this->networks)) < self::MOST
            || throw new Wrong('must have at most ' . self::MOST . ' clients', $line);
        $network = Address::parse($client);
        if ($network === null) {
            !$isQuoted && self::looksLikeNetwork($client)
                && throw new Wrong("$shown is no address or network: write one like 10.0.0.0/8 or 2001:db8::/32", $line);
            $client !== '' && strlen($client) <= 4096 || throw new Wrong('a client must have 1 to 4096 bytes', $line);
            $known = &$this->names[$client];
        } else {
            [$bits, $base] = $network->key();
            $network->isBase() || throw new Wrong("$shown has bits beyond its length: write {$network->network($bits, $bits)}", $line);
            $known = &$this->networks[$bits][$base];
        }
        if ($known !== null) {
            throw new Wrong($known[0] === $line ? 'names a client twice' : "this client is already in line {$known[0]}", $line);
        }
        $known = $terms;
    }

    /** Whether a text is probably meant as an address or a network. */
    private static function looksLikeNetwork(string $text): bool
    {
        [$dots, $colons] = [substr_count($text, '.'), substr_count($text, ':')];
        $hasTheirForm = $dots >= 3 && $colons === 0 || $colons >= 2;
        return preg_match('~^(?=.*\d)[0-9a-f:./*\[\]%-]+$~Di', $text) && $dots + $colons > 0 && ($hasTheirForm || strpbrk($text, '/*[') !== false);
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
        krsort($this->networks);
        foreach ($network === null ? [] : $this->networks as $bits => $listed) {
            $found = $listed[$network->key($bits)[1] ?? ''] ?? null;
            if ($found !== null) {
                return [$bits, $found];
            }
        }
        return null;
    }

    /** All terms, by their lines. */
    public function lines(): array
    {
        $all = array_merge(array_values($this->names), ...array_map('array_values', array_values($this->networks)));
        sort($all);
        return $all;
    }
}
