--TEST--
Exceptions: a store that cannot be opened throws
--INI--
token_bucket.shm_path=/nonexistent
--FILE--
<?php
require __DIR__ . '/../utils.inc';

// Made without a look at the store, which the first call opens.
$bucket = new TokenBucket(null, 'x', 10, 1);
thrown(
    fn () => $bucket->consume(),
    fn () => $bucket->check(),
    fn () => $bucket->attempt(),
    fn () => $bucket->reset(),
    fn () => (new TokenBucket\SharedMemoryStorage)->prepare(),
);
?>
--EXPECTF--
TokenBucket\StorageException: Cannot open the directory /nonexistent for shared memory: No such file or directory%S; set token_bucket.shm_path to one that exists
TokenBucket\StorageException: Cannot open the directory /nonexistent for shared memory: No such file or directory%S; set token_bucket.shm_path to one that exists
TokenBucket\StorageException: Cannot open the directory /nonexistent for shared memory: No such file or directory%S; set token_bucket.shm_path to one that exists
TokenBucket\StorageException: Cannot open the directory /nonexistent for shared memory: No such file or directory%S; set token_bucket.shm_path to one that exists
TokenBucket\StorageException: Cannot open the directory /nonexistent for shared memory: No such file or directory%S; set token_bucket.shm_path to one that exists
