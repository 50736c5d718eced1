<?php

namespace TokenBucket;

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
