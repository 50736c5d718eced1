<?php

namespace TokenBucket;

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
