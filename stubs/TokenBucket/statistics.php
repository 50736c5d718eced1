<?php

namespace TokenBucket;

/**
 * What all workers of this host and user have counted together since it booted, by the names of the limits below a prefix.
 *
 * A prefix is a token_bucket.prefix, so that two sites or pools of one user have counts of their own. The prefix= of a DSN names keys;
 * it has no part in this.
 *
 * A limit is named by what stands before the first colon of its identifiers (`login` of `login:192.0.2.1`), unless its
 * constructor is given a `name:`. Addresses and numbers by themselves name nothing: they are counted under `''`. There is room
 * for 127 prefixes and names (a name has at most 56 bytes), 32 of them for identifiers without a colon; all further ones, of
 * whatever prefix, are counted under `'*'`.
 *
 * Each limit has
 * - checked: calls of consume(), check(), attempt() and reserve() that were decided; the sum of the next two
 * - accepted: those that might go on
 * - denied: those that might not
 * - would_deny: those that might go on only because the limit is watched, not enforced (enforce=0)
 * - errors: calls on which the store failed
 * - degraded: calls that the on-error policy answered
 * - evictions: buckets in use that its new ones have pushed out of shared memory
 * - most_denied: the identifiers that were denied most, and about how often; at most 16, the most first, cut at 96
 *   bytes. Exact where few were denied, some hundred times in all. Empty with token_bucket.track_identifiers=0. A number
 *   is an int, as array keys are
 *
 * @param string|null $prefix  the prefix; without this argument the current token_bucket.prefix; null for all prefixes: an array of such arrays, by prefix,
 *     with what has no place of its own below `'*'`
 *
 * @return array<string, array{checked: int, accepted: int, denied: int, would_deny: int, errors: int, degraded: int,
 *     evictions: int, most_denied: array<int|string, int>}>
 */
function statistics(?string $prefix = \UNKNOWN): array {}
