--TEST--
ini: a bad value gives one warning that names the directive and what stays in force; a bad token_bucket.storage leaves no default
--INI--
token_bucket.storage=reddis://localhost
token_bucket.prefix=0123456789012345678901234567890123456789012345678901234567890123456789
token_bucket.shm_size=tiny
token_bucket.test_clock=maybe
--FILE--
<?php
foreach (['storage', 'prefix', 'shm_size', 'test_clock'] as $name) {
    echo ini_get("token_bucket.$name"), "\n";
}
require dirname(__DIR__) . '/utils.inc';
// Another store than the one that is meant would enforce other limits.
thrown(fn () => new TokenBucket(null, __FILE__, 1, 1));
var_dump((new TokenBucket('shm:', __FILE__, 1, 1))->consume());
ini_set('token_bucket.storage', 'array:');
var_dump((new TokenBucket(null, __FILE__, 1, 1))->consume());
?>
--EXPECTF--
%AWarning: PHP Startup: token_bucket.storage must be a storage DSN (Unknown scheme "reddis:" in the storage DSN, known are shm:, %s); until it is, there is no default storage in %s on line %d
%AWarning: PHP Startup: token_bucket.prefix must be at most 64 bytes, "0123456789012345678901234567890123456789012345678901234567890123..." given; "tb:" stays in force in %s on line %d
%AWarning: PHP Startup: token_bucket.shm_size must be a size between 64K and 64G, such as 8M, "tiny" given; "8M" stays in force in %s on line %d
%AWarning: PHP Startup: token_bucket.test_clock must be 0, 1, off or on, "maybe" given; "0" stays in force in %s on line %d
shm:
tb:
8M
0
TokenBucket\ConfigurationException: token_bucket.storage must be a storage DSN (Unknown scheme "reddis:" in the storage DSN, known are shm:, %s)
bool(true)
bool(true)
