--TEST--
limiter(): a mistake in the file names its line and what is right; a file that became bad changes nothing and warns once
--INI--
token_bucket.limits={PWD}/limiter_error.limits.ini
token_bucket.storage=array:
--FILE--
<?php
require __DIR__ . '/../utils.inc';
use function TokenBucket\limiter;

$file = __DIR__ . '/limiter_error.limits.ini';

/** The message with a short name of the file, of which it has the whole path. */
function without_path(string $message): string
{
    return str_replace($GLOBALS['file'], 'FILE', $message);
}

/** Calls limiter() and shows what comes of it. */
$call = function (string $name = 'a'): string {
    try {
        return get_class(limiter($name, 'x'));
    } catch (Throwable $e) {
        return get_class($e) . ': ' . without_path($e->getMessage());
    }
};
/** Does so where a warning is expected; shows it, too, and what a call in the middle of that one gets. */
$call_with_warning = function () use ($call): string {
    error_clear_last();
    // A worker looks at the file once a second.
    wait_until(function () use ($call, &$answer, &$inner): bool {
        $answer = in_the_middle(function () use ($call, &$inner): void {
            $inner = $call();
        }, $call);
        return $inner !== null;
    });
    return 'Warning: ' . without_path(error_get_last()['message']) . "\n  in the middle: $inner\n$answer";
};

/** Writes the file as an editor does, so that a worker reads it at its next look. */
function write(string $text): void
{
    global $file;
    file_put_contents("$file.new", $text);
    rename("$file.new", $file);
}

echo "No file yet:\n", $call(), "\n";
echo "\nEach mistake gives a warning until there is a valid file:\n";
foreach ([
    "limit = 5\n",
    "[a]\nlimit = 5\n",
    "[a]\nlimit = 5\n\n; a comment\nsecs = 5\n",
    "[a]\nlimit = 0\ninterval = 5\n",
    "[a]\nlimit = 5\ninterval = soon\n",
    "[a]\nlimit = 5\ninterval = 5\nstorage = redis://:s3cret@127.0.0.1:99999\n",
    "[a]\nlimit[] = 5\ninterval = 5\n",
    "[a\nlimit = 5\n",
    "[a]\nlimit = 5\ninterval = 5\n[b]\nall = a c\n",
    "[a]\nalgorithm = calendar\nlimit = 5\nunit = day\ntimezone = Europe/Bonn\n",
    "\x7fELF\0\0\0",
] as $text) {
    write($text);
    echo $call(), "\n";
}
echo "\nA valid one:\n";
write("[a]\nlimit = 1\ninterval = 60\n");
echo $call(), ', ', $call('b'), "\n";

echo "\nIt becomes bad, and vanishes:\n";
write("[a]\nlimit = 1\ninterval = 0\n");
echo $call_with_warning(), ', ', $call(), "\n";
unlink($file);
echo $call_with_warning(), ', ', $call(), "\n";

echo "\nIt comes back:\n";
write("[b]\nlimit = 1\ninterval = 60\n");
wait_until(fn (): bool => $call('b') === 'TokenBucket');
echo $call('b'), ', ', $call(), "\n";
var_dump(ini_set('token_bucket.limits', '/tmp/x'));
?>
--CLEAN--
<?php
@unlink(__DIR__ . '/limiter_error.limits.ini');
?>
--EXPECT--
No file yet:
TokenBucket\ConfigurationException: token_bucket.limits: FILE: No such file or directory

Each mistake gives a warning until there is a valid file:
TokenBucket\ConfigurationException: token_bucket.limits: FILE: line 1: a section must come first: [the limit's name]
TokenBucket\ConfigurationException: token_bucket.limits: FILE: line 1: [a] has no interval: it must have limit and interval
TokenBucket\ConfigurationException: token_bucket.limits: FILE: line 5: "secs" is unknown: a key must be algorithm, limit, interval, unit, timezone, lifetime, storage, on_error, enforce, leave, except, clients, like, all or first
TokenBucket\ConfigurationException: token_bucket.limits: FILE: line 2: limit must be between 1 and 2147483647
TokenBucket\ConfigurationException: token_bucket.limits: FILE: line 3: interval must be a number of seconds; it is "soon"
TokenBucket\ConfigurationException: token_bucket.limits: FILE: line 4: storage: The port in the storage DSN must be between 1 and 65535
TokenBucket\ConfigurationException: token_bucket.limits: FILE: line 2: "limit[]" is unknown: a key must be algorithm, limit, interval, unit, timezone, lifetime, storage, on_error, enforce, leave, except, clients, like, all or first; did you mean limit?
TokenBucket\ConfigurationException: token_bucket.limits: FILE: line 1: must be [name] or key = value; a value with special characters needs "quotes"
TokenBucket\ConfigurationException: token_bucket.limits: FILE: line 4: all must name limits of this file; there is no limit [c]
TokenBucket\ConfigurationException: token_bucket.limits: FILE: line 5: timezone must be UTC, an offset such as +01:00, or a place that PHP knows, such as Europe/Berlin; it is "Europe/Bonn"
TokenBucket\ConfigurationException: token_bucket.limits: FILE: line 1: must be text, without NUL bytes

A valid one:
TokenBucket, TokenBucket\ConfigurationException: token_bucket.limits has no limit "b": must be one of a

It becomes bad, and vanishes:
Warning: TokenBucket\limiter(): token_bucket.limits: FILE: line 3: interval must be greater than 0 and at most four years, in seconds; the limits that were read before stay in force
  in the middle: TokenBucket
TokenBucket, TokenBucket
Warning: TokenBucket\limiter(): token_bucket.limits: FILE: No such file or directory; the limits that were read before stay in force
  in the middle: TokenBucket
TokenBucket, TokenBucket

It comes back:
TokenBucket, TokenBucket\ConfigurationException: token_bucket.limits has no limit "a": must be one of b
bool(false)
