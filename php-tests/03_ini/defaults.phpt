--TEST--
ini: the directives and their defaults
--INI--
token_bucket.shm_path=
--FILE--
<?php
foreach (ini_get_all('token_bucket') as $name => $directive) {
    echo $name, ' = ', json_encode($directive['global_value']), ' ',
        $directive['access'] === INI_ALL ? 'anywhere' : ($directive['access'] === INI_SYSTEM ? 'system' : '?'), "\n";
}
// token_bucket.ini says the same.
preg_match_all('/^;(token_bucket\.\w+) = "?([^"\n]*)"?$/m', file_get_contents(__DIR__ . '/../../token_bucket.ini'), $said);
$values = array_map(fn ($d) => (string) $d['global_value'], ini_get_all('token_bucket'));
$said = array_combine($said[1], $said[2]);
ksort($said);
var_dump($said === $values);
?>
--EXPECT--
token_bucket.connect_timeout_ms = "100" anywhere
token_bucket.deny_cache = "1" anywhere
token_bucket.enforce = "1" anywhere
token_bucket.on_error = "fallback" anywhere
token_bucket.prefix = "tb:" anywhere
token_bucket.shm_path = "" system
token_bucket.shm_size = "8M" system
token_bucket.storage = "shm:" anywhere
token_bucket.test_clock = "0" system
token_bucket.timeout_ms = "50" anywhere
token_bucket.track_identifiers = "1" anywhere
bool(true)
