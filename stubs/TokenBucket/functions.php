<?php

namespace TokenBucket;

/**
 * Returns the address of the client that a request came from.
 *
 *     $client = client_network(client_address($_SERVER, ['10.0.0.0/8']));
 *
 * That is REMOTE_ADDR, unless it is that of a trusted proxy. Each proxy adds the address of its peer to the right of
 * X-Forwarded-For, so the client is the rightmost address there that is not a trusted proxy. Addresses further to
 * the left may have been written by the client. A port after an address is dropped.
 *
 * If no proxy is trusted, REMOTE_ADDR is a private address and a header says that a proxy has passed the request on, PHP's log says
 * so once in a process (token_bucket.warn_of_mistakes); also if a trusted proxy sends X-Real-IP, CF-Connecting-IP or Forwarded, and
 * not the header that is read.
 *
 * Name another header only if the proxy replaces it in every request. A proxy adds the client's address to X-Forwarded-For, but passes
 * on a header that it does not know: then clients choose their address.
 *
 * @param array $server          $_SERVER; REMOTE_ADDR and the header are read
 * @param array $trustedProxies addresses and networks: "10.0.0.5", "10.0.0.0/8", "2001:db8::/32". "unix:" is whatever reaches the web
 *                               server by a unix socket: REMOTE_ADDR is "unix:" or empty then. Without any, the header has no effect
 * @param string $header         a header with nothing but addresses: "X-Real-IP", "CF-Connecting-IP". Forwarded has more
 *
 * @return string the address as it was written, which may be a text that is no address; '' without a REMOTE_ADDR
 *
 * @throws \ValueError if a trusted proxy is not an address, a network or "unix:", or the header is none with addresses
 * @throws \TypeError if a trusted proxy is not a string
 */
function client_address(array $server, array $trustedProxies = [], string $header = 'X-Forwarded-For'): string {}

/**
 * Returns the network that a client belongs to, for use in an identifier. A client with one IPv6 address usually has 2^64 of
 * them, so a bucket for each address would not limit it.
 *
 *     $bucket = TokenBucket::per(null, 'search:' . client_network($_SERVER['REMOTE_ADDR']), 30, 60);
 *
 * A /64 is the smallest network that a provider gives to a customer. Many give a /56 or a /48: add a second, larger
 * limit for that.
 *
 * @param string $address   an IPv4 or IPv6 address. An IPv4 address written as IPv6 (::ffff:192.0.2.1, or 64:ff9b::192.0.2.1
 *                          behind NAT64) counts as that IPv4 address; the zone of fe80::1%eth0 and a port are dropped
 * @param int    $ipv6Bits the length of an IPv6 network: 1 to 128
 * @param int    $ipv4Bits the length of an IPv4 network: 1 to 32. 32: the address itself
 *
 * @return string "192.0.2.1", "192.0.2.0/24" or "2001:db8:1:2::/64"; "unknown" for what is no address, which is said
 *                once in each process, in PHP's log
 *
 * @throws \ValueError if a number of bits is out of range
 */
function client_network(string $address, int $ipv6Bits = 64, int $ipv4Bits = 32): string {}

/**
 * Returns what the file of token_bucket.limits says about one client of a limit: in `except`, or in the file that `clients` names. A set
 * has no terms: ask for each of its limits.
 *
 * - file, line: where it says so
 * - exempt: whether no limit holds for the client
 * - limit, interval: the client's own numbers; null: those of the limit
 *
 * @return array{file: string, line: int, exempt: bool, limit: int|null, interval: float|null}|null null: the client is limited as
 *     others are
 *
 * @throws \ValueError if the limit is a set
 * @throws ConfigurationException if there is no limit of this name, or the file cannot be read
 */
function client_terms(string $name, string $client): ?array {}

/**
 * Returns the limit of how many run at once that an operator has named in the file of token_bucket.limits, for one client.
 *
 *     ; /etc/token_bucket.limits.ini                       $permit = concurrency_limit('report', $user)->acquire();
 *     [report]
 *     algorithm = concurrency
 *     limit = 3
 *     lifetime = 120
 *
 * The keys are `limit`, `lifetime` (seconds; 60 by default), `storage`, `enforce`, `on_error`, `except` and `clients`. An exempt client always gets a
 * permit, and holds none: getActive() is 0. The rest is as limiter() describes.
 *
 * @param string $name   the name of such a limit
 * @param string $client names the client: 1 to 4,096 bytes with the limit's name before it
 *
 * @throws \ValueError if the client is empty or too long
 * @throws ConfigurationException if there is no such name, if it is that of a limit of calls, if its storage holds no permits, if
 *                                token_bucket.limits is not set, or if no valid file was read yet
 */
function concurrency_limit(string $name, string $client): ConcurrencyLimit {}

/**
 * Returns the calls that limits of the current token_bucket.prefix have denied on this host, the latest first: why was this client
 * denied yesterday?
 *
 * Denials of one client by one limit for one cause are one entry until ten minutes pass without one. There is room for 8,192
 * entries. A full log gives up the oldest of the limit that has most; while clients come so fast that entries would not last for an
 * hour, one new entry of that limit in sixteen is kept. reset_statistics() empties the log, and so does a boot.
 *
 * - name: the limit's, as in statistics()
 * - identifier: cut at 96 bytes; null with token_bucket.track_identifiers=0
 * - algorithm, limit, interval: the limit. A LeakyBucket is a token_bucket; `interval` is null for a ConcurrencyLimit
 * - reason: `empty`: not enough tokens, hits or permits were left; `blocked`; `no_room`: the table was full, and the client new;
 *   `outage`: the server failed, and on_error denies
 * - decided_by: `store`; `deny_cache`, which remembers a denial of the store; `fallback`, this host's buckets; `on_error`
 * - enforced: false if the call was accepted, for the limit was a dry run (enforce=0)
 * - count: how many calls; an estimate where thousands were denied a second
 * - first_at, last_at: of them, in seconds since 1970
 *
 * @param string|null $name the name of a limit; null: all
 * @param string|null $client the whole identifier, or the part of it behind the name and a colon, or the beginning of either up to a space
 *     or a colon: `192.0.2.1` also is the client of `192.0.2.1 anna`; null: all
 *
 * @return list<array{name: string, identifier: string|null, algorithm: string, limit: int, interval: float|null,
 *     reason: 'empty'|'blocked'|'no_room'|'outage', decided_by: 'store'|'deny_cache'|'fallback'|'on_error', enforced: bool, count: int,
 *     first_at: float, last_at: float}>
 */
function denials(?string $name = null, ?string $client = null): array {}

/**
 * Gives back all permits that this process or thread holds, for a worker that serves one request after another in one of PHP's, as RoadRunner's
 * do. PHP does it by itself at the end of a request, and so does FrankenPHP. In an event loop, which serves many at a time, use Permit::release().
 *
 * Call it after each request. A frozen TestClock stays frozen: a test may send several requests in one process.
 */
function end_request(): void {}

/**
 * Leaves a server out of status() and prometheus() until a call needs it again: one that is down and no longer configured, which
 * would leave by itself five minutes after the last call.
 *
 * @param string $server its name in status()
 *
 * @return bool whether there was a server of this name
 */
function forget_server(string $server): bool {}

/**
 * Whether a client's address is in one of some networks.
 *
 *     if (in_network($address, '192.0.2.0/24 2001:db8::/32')) { ... }     // our offices
 *
 * Ask it for the address that client_address() returns, not for a header: clients write headers.
 *
 * @param string $address an IPv4 or IPv6 address, or a network as client_network() returns it, which must be in it as a
 *                        whole. A port is dropped. A text that is not an address is in no network
 * @param string|array $networks addresses and networks: a list of strings, or one string with blanks or commas between
 *                        them. An IPv4 network holds its addresses in IPv6 form (::ffff:192.0.2.1), too
 *
 * @throws \ValueError if one of them is not an address or network
 */
function in_network(string $address, string|array $networks): bool {}

/**
 * Returns the limiter that an operator has named in the file of token_bucket.limits, for one client.
 *
 *     ; /etc/token_bucket.limits.ini                       if (!limiter('search', $network)->consume()) { ... }
 *     [search]
 *     limit = 30
 *     interval = 60
 *
 * The file is in the format of php.ini, one section for each limit: `limit` and `interval` (so many in so many seconds), `algorithm`
 * (token_bucket, which is the default, leaky_bucket, fixed_window or sliding_window; calendar has `unit` and `timezone` for `interval`; concurrency is for concurrency_limit()), `storage` (a DSN; the default is
 * token_bucket.storage), `enforce` and `on_error` (defaults: the directives). A section with `all = a b c` is a Compound of
 * these limits, one with `first = a b c` a FirstOf. A changed file is in force in every worker within two seconds, without a reload. One that has a mistake, or is
 * gone, changes nothing, and each worker warns once.
 *
 * `except = 10.0.0.0/8 monitoring` exempts clients: their calls are accepted and charged to nothing, and block() and reset() do nothing for
 * them. `clients = FILE` gives some clients other numbers, see client_terms().
 *
 * A limit's identifier is its name, a colon and the client: limiter('search', '192.0.2.1') decides on the bucket
 * "search:192.0.2.1", and statistics() counts it under "search".
 *
 * @param string       $name   the name of a limit or of a set
 * @param string|array $client names the client: 1 to 4,096 bytes with the limit's name before it. For a set also an array with
 *                             a client for each of its limits, by their names or in their order
 *
 * @return Limiter a TokenBucket, LeakyBucket, FixedWindow, CalendarWindow, SlidingWindow, Compound or FirstOf
 *
 * @throws \ValueError if the client is empty or too long, or the array does not fit the set
 * @throws \TypeError for an array if the name is not that of a set
 * @throws ConfigurationException if there is no such name (the message lists those that there are), if it is
 *                                that of a limit of how many run at once, if token_bucket.limits is
 *                                not set, or if no valid file was read yet (the message names the line)
 */
function limiter(string $name, string|array $client): Limiter {}

/**
 * Returns the counts of all workers of one system user on this host, of all prefixes, in Prometheus's text format 0.0.4.
 *
 *     header('Content-Type: text/plain; version=0.0.4');
 *     echo TokenBucket\prometheus();
 *
 * No label has what a client may have written: a limit whose name is inferred from its identifier counts as `limit="*"`. The counters begin at zero when the
 * host boots, and by reset_statistics(). docs/operations.md lists the metrics.
 */
function prometheus(): string {}

/**
 * Sets the counts of statistics() to zero, and forgets the names, the identifiers that were denied most and the denials(). Buckets, windows, blocks and
 * permits stay as they are.
 *
 * @param string|null $prefix the prefix. Null: the current token_bucket.prefix. `'*'`: all prefixes, and the limits without a
 *     place of their own
 */
function reset_statistics(?string $prefix = null): void {}

/**
 * Returns what all workers of one system user on this host have counted since the host booted, by the names of the limits.
 *
 * A prefix is a value of token_bucket.prefix: two sites or pools of one system user have separate counts. The prefix= of a DSN names
 * keys only and has no effect here.
 *
 * A limit has the `name:` that its constructor is given, or its name in token_bucket.limits. Otherwise its name is inferred: the
 * part of its identifier before the first colon (`login` of `login:192.0.2.1`), or all of it. Limits whose identifiers are
 * addresses or numbers are counted under `''`. There is room for 95 pairs of a prefix and a given name, 64 of an inferred one,
 * and 32 of a whole identifier (a name has at most 56 bytes); all further ones, of any prefix, are counted under `'*'` until
 * reset_statistics() frees names.
 *
 * Each limit has
 * - checked: calls of consume(), check(), attempt(), takeUpTo(), reserve() and acquire() that were decided; the sum of the next two. A call of a
 *   Compound counts for each limit that is charged or that denies
 * - accepted: calls that were accepted
 * - denied: calls that were denied
 * - would_deny: calls that were accepted only because the limit was a dry run (enforce=0)
 * - errors: calls on which the store failed
 * - busy: calls on memcached, MariaDB and MySQL that ran out of time while other calls on the same key went first; on_error
 *   answered them
 * - degraded: calls that the on-error policy decided
 * - evictions: calls that found no free slot in shared memory: a bucket in use was evicted for them, or they were denied
 *   although their client is new
 * - exempt: calls of clients that `except` or `clients` exempts in token_bucket.limits; checked has none of them
 * - most_denied: the identifiers that were denied most, and about how often; at most 16, the most first, cut at 96
 *   bytes. The sums of what denials() returns, where an entry counts for half as much with each full hour since its last denial. Empty with
 *   token_bucket.track_identifiers=0. As in every PHP array, an identifier of digits is an int
 *
 * @param string|null $prefix the prefix. Null: the current token_bucket.prefix. `'*'`: all prefixes; the result is then an array
 *     of such arrays by prefix, where `'*'` has the limits without a place of their own
 *
 * @return ($prefix is '*' ? array<string, array<string, array{checked: int, accepted: int, denied: int, would_deny: int, errors: int, busy: int, degraded: int,
 *     evictions: int, exempt: int, most_denied: array<int|string, int>}>> : array<string, array{checked: int, accepted: int, denied: int,
 *     would_deny: int, errors: int, busy: int, degraded: int, evictions: int, exempt: int, most_denied: array<int|string, int>}>)
 */
function statistics(?string $prefix = null): array {}

/**
 * Returns what an operator wants to know of all workers of one system user on this host: what was counted, who is limited, how full the
 * tables are, which servers answer, and which directives are in force.
 *
 * - version: of the extension
 * - shared_memory_errors: what keeps files or directories of shared memory from being used, in the words of the exception that
 *   calls throw
 * - likely_mistakes: what the counts show to be probably wrong: a limit of whose denials 90 % or more are of one private address, which is
 *   probably a proxy that is not named to client_address(). Empty with token_bucket.warn_of_mistakes=0 or token_bucket.track_identifiers=0
 * - limits: what statistics() returns
 * - last_hour: of each of these limits `checked` (as `calls`), `denied` and `would_deny` of each of the last 60 minutes, the oldest
 *   first; the last one is not over
 * - denials: the latest 100 that denials() returns
 * - blocked: what is blocked by block(), the command and the status page, on every limit and storage but `array:`, the block that ends last first,
 *   and for how many seconds: at most 1,024, those that end last. On servers what this host has blocked, and has not reset. `enforced` is false in a
 *   dry run; `identifier` is cut at 96 bytes, and null with token_bucket.track_identifiers=0
 * - limits_file: the file of token_bucket.limits, and what is wrong with it as this worker read it last; null if none is named
 * - named_limits: the limits and sets of that file, by name. `limited` has the clients that would be denied now, and for how
 *   many seconds (INF: for ever): at most the 64 of a limit that `most_denied` is chosen from, whose identifiers are
 *   shorter than 96 bytes. Null for a limit on servers. Empty with token_bucket.track_identifiers=0. `storage` is null
 *   for the default storage; `except` is how many clients and networks it names, `clients` the file of clients and how many it has; `enforce` and `on_error` are null while token_bucket.storage is invalid
 * - tables: the tables in shared memory, how many slots of 16 bytes they have and how many of them are in use.
 *   `evictions`: buckets that were evicted while in use; `denied_newcomers`: calls of new clients that were denied because the table was full. The
 *   table `.host` is the one for `fallback`, `.leases` has the busy buckets and windows on servers of which this host has tokens to hand out
 * - servers: the stores on servers that a call needed within the last hour, or within five minutes where they are down, and those
 *   that directives name; at most 32. Whether they answer, since when (seconds since 1970), how often an outage has begun since
 *   the host booted, and why the last call failed that did
 * - directives: their values, without passwords
 *
 * A worker finds an outage by a call on the server; status() asks no server. It reads each table as a whole:
 * the larger they are, the longer it takes.
 *
 * @return array{
 *     version: string,
 *     shared_memory_errors: list<string>,
 *     likely_mistakes: list<string>,
 *     limits: array<string, array{checked: int, accepted: int, denied: int, would_deny: int, errors: int, busy: int, degraded: int,
 *         evictions: int, exempt: int, most_denied: array<int|string, int>}>,
 *     last_hour: array<string, array{calls: list<int>, denied: list<int>, would_deny: list<int>}>,
 *     denials: list<array<string, mixed>>,
 *     blocked: list<array{name: string, identifier: string|null, algorithm: string, enforced: bool, seconds: float}>,
 *     limits_file: array{path: string, error: string|null}|null,
 *     named_limits: array<string, array{all: list<string>}|array{first: list<string>}|array{algorithm: string, limit: int, interval: float,
 *         leave: int, except: int|null, clients: array{path: string, count: int}|null, storage: string|null, enforce: bool|null, on_error: string|null, limited: array<int|string, float>|null}|array{
 *         algorithm: string, limit: int, lifetime: float, leave: int, except: int|null, clients: array{path: string, count: int}|null, storage: string|null, enforce: bool|null, on_error: string|null}>,
 *     tables: list<array{name: string, holds: 'buckets'|'permits'|'leases', path: string, bytes: int, slots: int, used: int,
 *         evictions: int, denied_newcomers: int}>,
 *     servers: list<array{name: string, up: bool, since: float, outages: int, last_failure: string|null, round_trip: float|null,
 *         clock_behind: float|null}>,
 *     directives: array<string, string>
 * }
 */
function status(): array {}
