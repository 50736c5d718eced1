--TEST--
Servers: a warning says that each process enforces limits by itself where there is no shared memory
--INI--
token_bucket.shm_path=/nonexistent
--FILE--
<?php
$bucket = new TokenBucket('redis://127.0.0.1:1', 'x', 1, 0.001);
var_dump($bucket->consume(), $bucket->consume());
?>
--EXPECTF--
Warning: TokenBucket::consume(): Redis at 127.0.0.1:1: cannot connect: Connection refused (os error 111); until a call succeeds, each process enforces limits by itself, for there is no shared memory: see token_bucket.shm_path in %s on line %d
bool(true)
bool(false)
