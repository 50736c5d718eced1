--TEST--
status(), statistics() and denials(): counts in a file that was garbled are whole numbers, and so is their sum
--FILE--
<?php
$folder = __DIR__ . '/counts_garbled.tmp';
if (!isset($argv[1])) {
    // A file of its own, which no other test counts in.
    mkdir($folder, 0700);
    passthru(escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . ' -d ' . escapeshellarg("token_bucket.shm_path=$folder") . ' ' . escapeshellarg(__FILE__) . ' child');
    exit;
}
$bucket = TokenBucket::per(null, 'login:anna', 40, 36_000, 'login');
for ($i = 0; $i < 77; $i++) {
    $bucket->consume();
}
// 40 calls were accepted and 37 denied. A process of the same user puts other numbers there.
[$file] = glob("$folder/*/.statistics.*");
$handle = fopen($file, 'r+');
$words = unpack('P*', file_get_contents($file));
// The first 40 is that count. The other is the limit, of the denial.
foreach ([array_search(40, $words, true), ...array_keys($words, 37, true)] as $place) {
    fseek($handle, 8 * ($place - 1));
    fwrite($handle, str_repeat("\xff", 8));
}
fclose($handle);
['limits' => $limits, 'last_hour' => $last_hour, 'denials' => [$denial]] = TokenBucket\status();
$counts = [
    'checked' => $limits['login']['checked'],
    'accepted and denied' => array_sum(array_column($limits, 'accepted')) + array_sum(array_column($limits, 'denied')),
    'of the last hour' => array_sum($last_hour['login']['calls']) + array_sum($last_hour['login']['denied']),
    'of a denial' => $denial['count'],
    'of statistics()' => TokenBucket\statistics()['login']['checked'],
];
foreach ($counts as $name => $count) {
    echo "$name: ", is_int($count) && $count > 77 ? 'a whole number' : var_export($count, true), "\n";
}
?>
--CLEAN--
<?php
shell_exec('rm -rf ' . escapeshellarg(__DIR__ . '/counts_garbled.tmp'));
?>
--EXPECT--
checked: a whole number
accepted and denied: a whole number
of the last hour: a whole number
of a denial: a whole number
of statistics(): a whole number
