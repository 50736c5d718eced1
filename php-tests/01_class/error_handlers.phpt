--TEST--
An error handler is not called for an outage: on_error answers, and the warning is a line in PHP's log
--INI--
log_errors=1
--FILE--
<?php
require __DIR__ . '/../utils.inc';
use TokenBucket\{Compound, ConcurrencyLimit, FixedWindow};

run_apart(__FILE__); // its outages are many

$log = temporary_file();
ini_set('error_log', $log);

/** A server that refuses connections: each is an outage of its own, of which the first call warns. */
function refusing(string $policy): string
{
    static $n = 0;
    $n++;
    return "redis://127.4.$n." . random_int(1, 254) . ":1/?on_error=$policy";
}

/** The answer of a call, and what was printed and logged meanwhile. */
function answer(callable $call): string
{
    file_put_contents($GLOBALS['log'], '');
    ob_start();
    try {
        $answer = json_encode($call());
    } catch (Throwable $e) {
        $answer = get_class($e) . ': ' . $e->getMessage();
    }
    $shown = trim(ob_get_clean());
    $logged = trim(file_get_contents($GLOBALS['log']));
    return preg_replace(['/Redis at .*?; until/', '/ in \S+ on line \d+/', '/\[\d.*?\] /'], ['REDIS; until', '', ''],
        "$answer; shown: " . ($shown ?: 'nothing') . '; logged: ' . ($logged ?: 'nothing'));
}

$throwing = function (int $level, string $message): never {
    throw new ErrorException("made of: $message");
};
set_error_handler($throwing);
foreach (['fallback', 'open', 'closed'] as $policy) {
    echo "$policy: ", answer(fn () => (new TokenBucket(refusing($policy), 'x', 5, 10))->consume()), "\n";
}
$classes = [
    'bucket' => fn (string $dsn) => new TokenBucket($dsn, 'x', 5, 10),
    'window' => fn (string $dsn) => new FixedWindow($dsn, 'x', 5, 10),
    'compound' => fn (string $dsn) => new Compound(new TokenBucket($dsn, 'x', 5, 10), new FixedWindow($dsn, 'y', 5, 10)),
    'concurrency' => fn (string $dsn) => new ConcurrencyLimit($dsn, 'x', 5),
];
$calls = [
    'consume' => [], 'attempt' => [], 'peek' => [], 'refund' => [], 'reset' => [], 'block' => [60], 'reserve' => [], 'takeUpTo' => [2], 'check' => [],
    'acquire' => [], 'getActive' => [],
];
foreach ($classes as $class => $make) {
    foreach ($calls as $call => $arguments) {
        $limiter = $make(refusing('fallback'));
        if (method_exists($limiter, $call)) {
            $answer = answer(fn () => is_object($answer = $limiter->$call(...$arguments)) ? get_class($answer) : $answer);
            echo "$class, $call: ", strstr($answer, '; shown', true),
                str_ends_with($answer, "; shown: nothing; logged: token_bucket: REDIS; until a call succeeds, limits are enforced in this host's shared memory") ? '' : $answer, "\n";
        }
    }
}
$consume = fn (): bool => (new TokenBucket(refusing('closed'), 'x', 5, 10))->consume();

echo "\nNor is one that ends the script, and @ hides nothing from the log\n";
set_error_handler(fn () => exit('ended'));
echo answer($consume), "\n", answer(fn () => @$consume()), "\n";

echo "\nLog errors off\n";
ini_set('log_errors', '0');
echo answer($consume), "\n";
ini_set('log_errors', '1');

echo "\nA handler that does not want warnings, or none: PHP shows and logs the warning\n";
set_error_handler($throwing, E_NOTICE);
error_clear_last();
echo answer($consume), "\n";
set_error_handler(null);
echo answer($consume), "\n", answer(fn () => @$consume()), "\n";
echo preg_match('/^TokenBucket::consume\(\): Redis at .*; until a call succeeds, every call is denied$/', error_get_last()['message']), "\n";

echo "\nPHP's own warnings, and those of directives, call the handler\n";
set_error_handler($throwing);
echo answer(fn () => (new TokenBucket('array:', 'x', 5, 10))->consume('1.5')), "\n", answer(fn () => ini_set('token_bucket.enforce', '2')), "\n";

echo "\nAn internal function that makes exceptions of warnings\n";
class Limited
{
    public $context;
    public function url_stat(): array
    {
        return ['mode' => 0100600];
    }
    public function stream_open(): bool
    {
        echo 'consume() is ', json_encode($GLOBALS['consume']());
        return true;
    }
}
stream_wrapper_register('limited', Limited::class);
foreach ([$throwing, null] as $handler) {
    set_error_handler($handler);
    echo answer(fn () => get_class(new SplFileObject('limited://x'))), "\n";
}
?>
--EXPECT--
fallback: true; shown: nothing; logged: token_bucket: REDIS; until a call succeeds, limits are enforced in this host's shared memory
open: true; shown: nothing; logged: token_bucket: REDIS; until a call succeeds, every call is accepted
closed: false; shown: nothing; logged: token_bucket: REDIS; until a call succeeds, every call is denied
bucket, consume: true
bucket, attempt: "TokenBucket\\Decision"
bucket, peek: "TokenBucket\\Decision"
bucket, refund: true
bucket, reset: null
bucket, block: null
bucket, reserve: "TokenBucket\\Decision"
bucket, takeUpTo: "TokenBucket\\Decision"
bucket, check: false
window, consume: true
window, attempt: "TokenBucket\\Decision"
window, peek: "TokenBucket\\Decision"
window, refund: true
window, reset: null
window, block: null
window, takeUpTo: "TokenBucket\\Decision"
compound, consume: true
compound, attempt: "TokenBucket\\Decision"
compound, peek: "TokenBucket\\Decision"
compound, refund: true
compound, reset: null
compound, block: null
concurrency, reset: null
concurrency, acquire: "TokenBucket\\Permit"
concurrency, getActive: 0

Nor is one that ends the script, and @ hides nothing from the log
false; shown: nothing; logged: token_bucket: REDIS; until a call succeeds, every call is denied
false; shown: nothing; logged: token_bucket: REDIS; until a call succeeds, every call is denied

Log errors off
false; shown: nothing; logged: nothing

A handler that does not want warnings, or none: PHP shows and logs the warning
false; shown: Warning: TokenBucket::consume(): REDIS; until a call succeeds, every call is denied; logged: PHP Warning:  TokenBucket::consume(): REDIS; until a call succeeds, every call is denied
false; shown: Warning: TokenBucket::consume(): REDIS; until a call succeeds, every call is denied; logged: PHP Warning:  TokenBucket::consume(): REDIS; until a call succeeds, every call is denied
false; shown: nothing; logged: nothing
1

PHP's own warnings, and those of directives, call the handler
ErrorException: made of: Implicit conversion from float-string "1.5" to int loses precision; shown: nothing; logged: nothing
ErrorException: made of: ini_set(): token_bucket.enforce must be 0, 1, off or on, "2" given; "1" stays in force; shown: nothing; logged: nothing

An internal function that makes exceptions of warnings
"SplFileObject"; shown: consume() is false; logged: token_bucket: REDIS; until a call succeeds, every call is denied
"SplFileObject"; shown: consume() is false; logged: token_bucket: REDIS; until a call succeeds, every call is denied
