<?php

namespace TokenBucket;

/**
 * Sets the counts of statistics() to zero, and forgets the names, the identifiers that were denied most and the denials(). Buckets, windows, blocks and
 * permits stay as they are.
 *
 * @param string|null $prefix the prefix. Null: the current token_bucket.prefix. `'*'`: all prefixes, and the limits without a
 *     place of their own
 */
function reset_statistics(?string $prefix = null): void {}
