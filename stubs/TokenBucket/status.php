<?php

namespace TokenBucket;

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
