<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

use TokenBucket\Command\CommandError;
use TokenBucket\Command\UsageError;

/** Finds by a log's first lines which place is the client's, the time's, the request's and the user agent's. */
final class Roles
{
    private const METHOD = '~^"?(GET|POST|HEAD|PUT|DELETE|PATCH|OPTIONS|CONNECT|TRACE|PROPFIND|PROPPATCH|REPORT|MKCOL|COPY|MOVE|LOCK|UNLOCK|PURGE)"?$~Di';
    private const PATH = '~^"?(?:/|\*$|https?://)~';
    private const REQUEST = '~^"?([A-Z]{3,20})["\s|]+((?:/|\*|https?://)\S*?)"?(?: HTTP/[\d.]+"?)?$~D';
    private const HOST = '~(?<= )https?://[^/]*+|\?.*+~s';
    private const USER = '~(?:^|[._-])user(?:_?id|_?name)?$~Di';
    /** Two times are one if they are so many milliseconds apart. */
    private const SAME_TIME = 1000;
    /** Of so many lines that match the client is found; if there are fewer, of all lines. */
    private const ENOUGH_MATCH = 20;

    /**
     * @param non-empty-list<array<string, string>>                                 $records the first lines, taken apart
     * @param array{client: list<string>, time: list<string>, request: list<string>} $said    by --client, --time and --request
     */
    public function __construct(private array $records, private ClientKey $key, private RequestPattern $pattern, private array $said, private ?string $user)
    {
    }

    /**
     * @throws CommandError if something is missing
     * @throws UsageError   if several places may be what is looked for
     */
    public function reader(): Reader
    {
        [$request, $time, $agent] = [$this->request(), $this->time(), $this->agent()];
        $reader = fn (array $clients, ?string $field, array $places): Reader => new Reader($time, $request, $agent, $clients, $field, $places, $this->key);
        if (!$this->key->isAddress()) {
            return $reader([], $this->key->field() ?? $this->user(), []);
        }
        $any = $reader([], null, []);
        $matching = array_values(array_filter($this->records, fn (array $record): bool => $this->pattern->matches($any->request($record) ?? '')));
        $places = new Places(count($matching) >= self::ENOUGH_MATCH ? $matching : $this->records, $this->key);
        if ($places->all === []) {
            throw new CommandError('no place is an address');
        }
        return $reader($places->client($this->said['client']), null, $places->all);
    }

    private function time(): string
    {
        $times = $this->values(static function (string $value): ?int {
            $time = preg_match('~\d{4}-\d|/\d{4}:|\d{10}~', $value) === 1 ? LogTime::fromWord($value) : null;
            return LogTime::isPlausible($time) ? $time : null;
        });
        // Of times that agree the earliest: a request begins before it is logged.
        uasort($times, static fn (array $one, array $other): int => count($other) <=> count($one) ?: array_sum($one) <=> array_sum($other));
        $agree = static fn (int|string $one, int|string $other): bool => abs((int) $one - (int) $other) <= self::SAME_TIME;
        return $this->one('time', $times, 'no time with a date', $agree, static fn (array $values): bool => count(array_unique($values)) === 1, LogTime::toText(...));
    }

    /** @return list<string> one place, or those of the method and of the path */
    private function request(): array
    {
        $requests = $this->values(static fn (string $value): ?string => preg_match(self::REQUEST, $value, $match) === 1 ? "$match[1] $match[2]" : null);
        $places = array_combine(array_keys($requests), array_map(static fn (int|string $place): array => [(string) $place], array_keys($requests)));
        if ($requests === []) {
            $paths = $this->values(static fn (string $value): ?string => preg_match(self::PATH, $value) === 1 ? ltrim($value, '"') : null);
            foreach ($this->values(static fn (string $value): ?string => preg_match(self::METHOD, $value, $match) === 1 ? strtoupper($match[1]) : null) as $method => $methods) {
                foreach ($paths as $path => $values) {
                    foreach (array_intersect_key($values, $methods) as $line => $value) {
                        $requests["$method and $path"][$line] = "$methods[$line] $value";
                    }
                    $places["$method and $path"] = [(string) $method, (string) $path];
                }
            }
        }
        // Of those that agree the one without a host, and with the query.
        $order = static fn (array $values): array => [-count($values), count(preg_grep('~ http~', $values) ?: []), -strlen(implode('', $values))];
        uasort($requests, static fn (array $one, array $other): int => $order($one) <=> $order($other));
        if ($this->pattern->patterns === [] && $this->said['request'] === []) {
            // Each request counts, so it does not matter which it is.
            $requests = array_slice($requests, 0, 1);
        }
        $shorten = static fn (int|string $request): string => (string) preg_replace(self::HOST, '', (string) $request);
        return $places[$this->one(
            'request',
            $requests,
            'no request, such as "POST /login HTTP/1.1"',
            static fn (int|string $one, int|string $other): bool => $shorten($one) === $shorten($other),
            fn (array $values): bool => count(array_unique($values)) === 1 && !$this->pattern->matches((string) current($values)),
            static fn (int|string $request): string => (string) $request,
        )];
    }

    /** The place that most often has what a user agent looks like; it decides nothing but what kind of client is named. */
    private function agent(): ?string
    {
        $scores = [];
        foreach ($this->records as $record) {
            foreach (preg_grep('~^"?(?!HTTP/)[A-Za-z][\w.-]*+/\d~', $record) ?: [] as $field => $value) {
                $is_quoted = $value[0] === '"' || !isset($record[LineSplitter::REQUEST]);
                $scores[$field] = ($scores[$field] ?? 0) + (preg_match('~^"?Mozilla/~', $value) === 1 ? 1000 : (int) $is_quoted);
            }
        }
        arsort($scores);
        return current($scores) > 0 ? (string) key($scores) : null;
    }

    private function user(): string
    {
        $fields = array_map(strval(...), array_keys(array_merge(...$this->records)));
        return in_array($this->user, $fields, true) ? $this->user : array_values(preg_grep(self::USER, $fields) ?: [])[0] ?? '';
    }

    /**
     * @template T of int|string
     *
     * @param \Closure(string): (T|null) $read
     *
     * @return array<string, array<int, T>> by place and line, of places that most lines have
     */
    private function values(\Closure $read): array
    {
        $values = [];
        foreach ($this->records as $line => $record) {
            foreach ($record as $field => $value) {
                $read_value = $read($value);
                if ($read_value !== null) {
                    $values[(string) $field][$line] = $read_value;
                }
            }
        }
        return array_filter($values, fn (array $of_place): bool => 2 * count($of_place) >= count($this->records));
    }

    /**
     * The place that is left if those that agree are one, and others stand still.
     *
     * @template T of int|string
     *
     * @param string                           $what      time or request
     * @param array<string, array<int, T>>     $values    by place and line
     * @param \Closure(T, T): bool             $agree
     * @param \Closure(array<int, T>): bool    $is_still  whether a place is none if another one is left
     * @param \Closure(T): string              $show
     */
    private function one(string $what, array $values, string $missing, \Closure $agree, \Closure $is_still, \Closure $show): string
    {
        $said = $this->said[$what][0] ?? null;
        if ($said !== null) {
            return isset($values[$said]) ? $said : throw Question::noSuch($what, $said, array_map(strval(...), array_keys($values)));
        }
        $most = $values === [] ? throw new CommandError($missing) : max(array_map('count', $values));
        $different = [];
        foreach (array_filter($values, static fn (array $of_place): bool => count($of_place) >= Places::AGREE * $most) as $place => $of_place) {
            foreach ($different as $other) {
                $both = array_intersect_key($of_place, $other);
                $same = array_filter($both, static fn (int|string $value, int $line): bool => $agree($value, $other[$line]), ARRAY_FILTER_USE_BOTH);
                if ($both !== [] && count($same) >= Places::AGREE * count($both)) {
                    continue 2;
                }
            }
            $different[$place] = $of_place;
        }
        $left = array_filter($different, static fn (array $of_place): bool => !$is_still($of_place)) ?: $different;
        if (count($left) > 1) {
            throw Question::which($what, array_map(fn (int|string $place): array => [
                'name' => (string) $place,
                'share' => count($left[$place]) / count($this->records),
                'values' => '',
                'sample' => $show(current($left[$place])),
            ], array_keys($left)));
        }
        return (string) key($left);
    }
}
