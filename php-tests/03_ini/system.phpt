--TEST--
ini: scripts cannot set system directives; ini_restore() restores php.ini's values
--INI--
token_bucket.storage=array:
token_bucket.shm_size=1M
--FILE--
<?php
foreach (['shm_size' => '2M', 'shm_path' => '/tmp', 'test_clock' => '1'] as $name => $value) {
    $before = ini_get("token_bucket.$name");
    var_dump(ini_set("token_bucket.$name", $value), ini_get("token_bucket.$name") === $before);
    ini_restore("token_bucket.$name");
    var_dump(ini_get("token_bucket.$name") === $before);
}
try {
    TokenBucket\TestClock::freeze(1);
} catch (TokenBucket\ConfigurationException $e) {
    echo $e->getMessage(), "\n";
}

$take = fn () => (int) (new TokenBucket(null, __FILE__, 1, 0.001))->consume();
echo $take(), $take(), "\n";
var_dump(ini_set('token_bucket.storage', 'shm:'), ini_get('token_bucket.storage'));
echo $take(), $take(), "\n";
// What is refused changes nothing.
var_dump(@ini_set('token_bucket.storage', ''), ini_get('token_bucket.storage'), $take());
ini_restore('token_bucket.storage');
var_dump(ini_get('token_bucket.storage'));
// The directive names a store, as the DSN does: it is the same one.
(new TokenBucket('array:', 'seen', 1, 0.001))->consume();
var_dump((new TokenBucket(null, 'seen', 1, 0.001))->consume());
?>
--EXPECT--
bool(false)
bool(true)
bool(true)
bool(false)
bool(true)
bool(true)
bool(false)
bool(true)
bool(true)
TokenBucket\TestClock needs token_bucket.test_clock=1 in php.ini, or by php -d; never set it in production
10
string(6) "array:"
string(4) "shm:"
10
bool(false)
string(4) "shm:"
int(0)
string(6) "array:"
bool(false)
