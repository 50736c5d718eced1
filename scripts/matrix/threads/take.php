<?php
// One token of a bucket that all threads share: 200 or 429, and as many bytes either way.
require __DIR__ . '/dsn.inc';
$bucket = new TokenBucket(dsn($_GET['store']), "threads:$_GET[id]", (int) $_GET['capacity'], 1e-5);
$admitted = $bucket->consume();
http_response_code($admitted ? 200 : 429);
echo $admitted ? "in\n" : "no\n";
