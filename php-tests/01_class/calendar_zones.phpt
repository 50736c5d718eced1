--TEST--
CalendarWindow: a time zone is known by its own name, in any spelling; an object outlives what the worker keeps; one that cannot be read is not called unknown
--FILE--
<?php
use TokenBucket\CalendarWindow;
require __DIR__ . '/../utils.inc';

$zone = fn (string $zone): string => preg_match('/\[timezone\] => (\S+)/', print_r(new CalendarWindow('array:', 'a', 1, 'day', $zone), true), $parts) ? $parts[1] : '';
echo implode(' ', array_map($zone, ['Europe/Berlin', 'europe/BERLIN', 'UTC', 'utc', '+1:00', '+01:00', '+0100'])), "\n";

// An object whose calendar the worker has forgotten goes on.
$old = new CalendarWindow('array:', 'old', 2, 'day', 'Asia/Tokyo');
for ($i = 0; $i < 1_000; $i++) {
    new CalendarWindow('array:', 'a', 1, 'day', sprintf('+%02d:%02d:%02d', intdiv($i, 3600), intdiv($i, 60) % 60, $i % 60));
}
echo json_encode([$old->consume(), $old->consume(), $old->consume()]), "\n";

// Debian's PHP reads zones from files, which takes a descriptor.
$file = temporary_file();
file_put_contents($file, "[month]\nalgorithm = calendar\nlimit = 5\nunit = month\ntimezone = Asia/Kathmandu\n");
$code = <<<'PHP'
$try = function (callable $call) {
    try { return json_encode($call()); } catch (Throwable $e) { return get_class($e) . ': ' . $e->getMessage(); }
};
TokenBucket::per('array:', 'warm', 5, 60)->consume();
$new = fn () => $try(fn () => (new TokenBucket\CalendarWindow('array:', 'c', 5, 'day', 'Asia/Kathmandu'))->consume());
for ($held = []; $one = @fopen('/dev/null', 'r'); $held[] = $one);
echo preg_match('/^true$|StorageException: The time zone Asia\/Kathmandu cannot be read: \w/', $found = $new()) ? 'none left' : $found, "\n";
echo preg_match('/^true$|ConfigurationException: token_bucket.limits: .*: \w/', $found = $try(fn () => TokenBucket\limiter('month', 'x')->consume())) && !str_contains($found, 'line') ? 'none left' : $found, "\n";
array_pop($held);
// The file of limits is closed before its time zone is looked up.
echo $try(fn () => TokenBucket\limiter('month', 'x')->consume()), ' ', $new(), "\n";
PHP;
$php = escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . " -d token_bucket.storage=array: -d token_bucket.limits=$file";
echo shell_exec("ulimit -S -n 40; $php -r " . escapeshellarg($code));
?>
--EXPECT--
Europe/Berlin Europe/Berlin UTC UTC +01:00 +01:00 +01:00
[true,true,false]
none left
none left
true true
