<?php
/*
 * Prints what the subject hot_key has measured.
 */

require __DIR__ . '/lib/bench.php';
require __DIR__ . '/report/markdown.php';
require __DIR__ . '/report/scale/hot_key.php';

echo "\n", hot_key_table(kept('hot_key')['cases']);
