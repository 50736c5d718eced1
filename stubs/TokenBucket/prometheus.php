<?php

namespace TokenBucket;

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
