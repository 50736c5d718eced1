<?php

namespace TokenBucket;

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
