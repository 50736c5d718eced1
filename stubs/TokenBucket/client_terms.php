<?php

namespace TokenBucket;

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
