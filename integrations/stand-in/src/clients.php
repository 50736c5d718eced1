<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/**
 * A list of clients that a limit treats differently, and how it treats each: `except` of a section, or a file of clients.
 *
 * It is a text of records in the order of their keys, which a long file has a copy of: else each request would parse the file.
 */
final class Clients
{
    private const MOST = 100_000;
    private const FORM_OF_COPY = "token_bucket clients 1 ";
    /** A file of so many bytes is read faster than its copy is found. */
    private const SHORT = 4_096;
    /** A key; and the line, 0 for exempt, 1 for a number, 2 for a number and an interval, and these. */
    private const KEY = 16;
    private const RECORD = self::KEY + 21;
    private const FORM = 'must be client = limit, client = limit / interval, or client = none';
    private const QUOTES = 'a client with spaces, control characters, or what looks like a network needs "quotes"';

    /** @var array<string, string> the records by their keys, until all are there */
    private array $found = [];
    private string $records = '';
    /** @var array<int, true> the lengths of networks, the longest first */
    private array $lengths = [];
    /** @var list<array{int, int, float|null}> see extremes() */
    private array $extremes = [];
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

    /** Reads a file of clients, or the copy of a long one. The version is '' while the file may be being written. */
    public static function ofFile(string $path, string $version, callable $read): self
    {
        $isCopied = $version !== '' && filesize($path) > self::SHORT;
        $clients = $isCopied ? Transaction::undisturbed(static fn(): ?self => self::ofCopy($path, $version)) : null;
        if ($clients === null) {
            $clients = self::ofText($path, $read());
            $isCopied && Transaction::undisturbed(static fn() => $clients->write($version));
        }
        return $clients;
    }

    /** Empty lines, and those that begin with `;` or `#`, say nothing. */
    public static function ofText(string $path, string $text): self
    {
        $clients = new self($path);
        foreach (explode("\n", preg_replace('/^\xef\xbb\xbf/', '', $text)) as $i => $line) {
            $line = preg_match('/[\x80-\xff]/', $line) ? preg_replace('/^\s+|\s+$/Du', '', $line) : trim($line, " \t\r\v\f");
            $line ?? throw new Wrong('must be UTF-8', $i + 1);
            if ($line !== '' && $line[0] !== ';' && $line[0] !== '#') {
                $clients->add($i + 1, ...self::parse($line, $i + 1));
            }
        }
        return $clients->finish();
    }

    /** A line: the client, whether it stands in quotes, its number and its interval. The last "=" counts: a client may have others. */
    private static function parse(string $line, int $number): array
    {
        // The usual line, in a third of the time.
        if (preg_match('/^([!-:<>-~]+)[ \t]*=[ \t]*(\d{1,18})$/D', $line, $parts) && $line[0] !== '"' && !str_contains($parts[1], ';')) {
            return [$parts[1], false, [(int) $parts[2], null]];
        }
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
        count($this->found) < self::MOST || throw new Wrong('must have at most ' . self::MOST . ' clients', $line);
        $network = Address::parse($client);
        if ($network === null) {
            !$isQuoted && self::looksLikeNetwork($client)
                && throw new Wrong(Text::cut($client) . " is not an address or network: write one like 10.0.0.0/8 or 2001:db8::/32, or quote it in a file of clients if it is another client", $line);
            $client !== '' && strlen($client) <= 4096 || throw new Wrong('a client must have 1 to 4096 bytes', $line);
            $key = self::key($client);
        } else {
            [$bits, $base] = $network->key();
            $network->isBase() || throw new Wrong(Text::cut($client) . " has bits beyond its length: write {$network->network($bits, $bits)}", $line);
            $this->lengths[$bits] = true;
            $key = self::key($base, $bits);
        }
        if (isset($this->found[$key])) {
            [$other] = self::terms($this->found[$key]);
            $this->twice ??= new Wrong($other === $line ? 'names a client twice' : "this client is already in line $other", $line);
        }
        [$count, $interval] = $terms;
        $this->found[$key] = pack('NCJE', $line, $count === null ? 0 : ($interval === null ? 1 : 2), $count ?? 0, $interval ?? 0);
        if ($count !== null) {
            [$least, $most] = $this->extremes[(string) $interval] ?? [[$line, $count, $interval], [$line, $count, $interval]];
            $this->extremes[(string) $interval] = [
                $count < $least[1] ? [$line, $count, $interval] : $least,
                $count > $most[1] ? [$line, $count, $interval] : $most,
            ];
        }
    }

    private function finish(): self
    {
        $this->twice === null || throw $this->twice;
        krsort($this->lengths);
        $this->extremes = array_merge(...array_values($this->extremes));
        sort($this->extremes);
        ksort($this->found, SORT_STRING);
        foreach ($this->found as $key => $terms) {
            $this->records .= $key . $terms;
        }
        $this->found = [];
        return $this;
    }

    /** No client can choose a name that has the key of another one. */
    private static function key(string $client, ?int $bits = null): string
    {
        return substr(hash('sha256', ($bits ?? 'name') . "/$client", true), 0, self::KEY);
    }

    private static function terms(string $record): array
    {
        ['line' => $line, 'kind' => $kind, 'count' => $count, 'interval' => $interval] = unpack('Nline/Ckind/Jcount/Einterval', $record);
        return [$line, $kind === 0 ? null : $count, $kind === 2 ? $interval : null];
    }

    /** Where the copy of a file is kept; null where the stand-in can keep nothing. */
    private static function copy(string $path): ?string
    {
        try {
            return FileStore::ownFolder()[0] . '/clients.' . substr(hash('sha256', $path), 0, 32);
        } catch (\TokenBucket\StorageException) {
            return null;
        }
    }

    /** Writes the copy beside its place, and puts it there as a whole. */
    private function write(string $version): void
    {
        $copy = self::copy($this->path);
        $new = "$copy." . bin2hex(random_bytes(8));
        $text = self::FORM_OF_COPY . "$version\n" . serialize([$this->lengths, $this->extremes, strlen($this->records)]) . "\n$this->records";
        if ($copy !== null && (file_put_contents($new, $text) !== strlen($text) || !rename($new, $copy))) {
            unlink($new);
        }
    }

    private static function ofCopy(string $path, string $version): ?self
    {
        $copy = self::copy($path);
        $text = $copy !== null && file_exists($copy) ? file_get_contents($copy) : '';
        [$head, $lists, $records] = [...explode("\n", $text, 3), '', ''];
        $lists = $head === self::FORM_OF_COPY . $version ? unserialize($lists, ['allowed_classes' => false]) : false;
        // One that the system has not written whole when it stopped is none.
        if (!is_array($lists) || strlen($records) !== $lists[2]) {
            return null;
        }
        $clients = new self($path);
        [[$clients->lengths, $clients->extremes], $clients->records] = [$lists, $records];
        return $clients;
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
        $terms = $this->look(self::key($client));
        if ($terms !== null) {
            return [PHP_INT_MAX, $terms];
        }
        $network = $this->lengths === [] ? null : Address::ofClient($client);
        foreach ($network === null ? [] : $this->lengths as $bits => $any) {
            $base = $network->key($bits)[1];
            $terms = $base === null ? null : $this->look(self::key($base, $bits));
            if ($terms !== null) {
                return [$bits, $terms];
            }
        }
        return null;
    }

    /** Searches by halves. */
    private function look(string $key): ?array
    {
        [$from, $to] = [0, intdiv(strlen($this->records), self::RECORD)];
        while ($from < $to) {
            $middle = intdiv($from + $to, 2);
            $order = substr_compare($this->records, $key, $middle * self::RECORD, self::KEY);
            if ($order === 0) {
                return self::terms(substr($this->records, ($middle * self::RECORD) + self::KEY, self::RECORD - self::KEY));
            }
            [$from, $to] = $order < 0 ? [$middle + 1, $to] : [$from, $middle];
        }
        return null;
    }

    /** The terms with the smallest and the largest number, for each interval: if a limit can have these numbers, it can have all. */
    public function extremes(): array { return $this->extremes; }
}
