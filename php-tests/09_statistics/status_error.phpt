--TEST--
status(), prometheus(), reset_statistics(): Parameters are correctly validated; a bad file of limits or default storage is reported, not thrown
--FILE--
<?php
use TokenBucket\TestClock;
use function TokenBucket\{limiter, prometheus, reset_statistics, status};
require dirname(__DIR__) . '/utils.inc';

$folder = (ini_get('token_bucket.shm_path') ?: '/dev/shm') . (getenv('TB_APART') ? '' : '/status_error');
$file = "$folder.limits.ini";
if (!getenv('TB_APART')) {
    file_put_contents($file, "[login]\nlimit = none\ninterval = 60\n");
    putenv('TEST_PHP_EXTRA_ARGS=' . getenv('TEST_PHP_EXTRA_ARGS') . " -d token_bucket.limits=$file");
    register_shutdown_function(fn () => array_map(unlink(...), glob("$file*")));
}
run_apart(__FILE__);

thrown(fn () => status(1), fn () => prometheus(null), fn () => reset_statistics('a', 'b'), fn () => reset_statistics([]));

$write = function (string $text) use ($file): void {
    file_put_contents("$file.new", $text);
    rename("$file.new", $file);
};
$shown = fn (): string => str_replace($file, 'FILE', json_encode([status()['limits_file']['error'], array_keys(status()['named_limits'])], JSON_UNESCAPED_SLASHES)) . preg_replace('/.*limits_file_valid (\d).*/s', ' $1', prometheus()) . "\n";
echo $shown();
$write("[login]\nlimit = 1\ninterval = 60\n");
echo $shown();

// A client that was denied, of which no identifier is kept, or only its beginning.
limiter('login', str_repeat('x', 90))->consume();
limiter('login', str_repeat('x', 90))->consume();
limiter('login', 'short')->consume(2);
echo json_encode(status()['named_limits']['login']['limited']), "\n";
ini_set('token_bucket.track_identifiers', '0');
echo json_encode([status()['named_limits']['login']['limited'], status()['limits']['login']['most_denied']]), "\n";
?>
--EXPECT--
ArgumentCountError: TokenBucket\status() expects exactly 0 arguments, 1 given
ArgumentCountError: TokenBucket\prometheus() expects exactly 0 arguments, 1 given
ArgumentCountError: TokenBucket\reset_statistics() expects at most 1 argument, 2 given
TypeError: TokenBucket\reset_statistics(): Argument #1 ($prefix) must be of type ?string, array given
["token_bucket.limits: FILE: line 2: limit must be a whole number; it is \"none\"",[]] 0
[null,["login"]] 1
[]
[[],[]]
