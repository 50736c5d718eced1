<?php
// Answers the metrics while it holds a permit.
declare(strict_types=1);
$permit = (new TokenBucket\ConcurrencyLimit(null, 'report:monthly', 2))->acquire();
echo TokenBucket\prometheus();
