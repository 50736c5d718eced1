<?php

namespace TokenBucket;

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
