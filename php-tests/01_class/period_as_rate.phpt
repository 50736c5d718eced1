--TEST--
TokenBucket: a rate of whole minutes that is above the capacity gives one warning in a process, and no other rate does
--FILE--
<?php
/* Each runs in a PHP of its own, for a process warns once. */
function run(string $title, string $code, string $options = ''): void
{
    $php = escapeshellarg(PHP_BINARY) . ' -n -d display_errors=1 -d log_errors=0 -d html_errors=0 ' . getenv('TEST_PHP_EXTRA_ARGS');
    echo "$title:", preg_replace('/ in (?:Command line code|\S+stand-in\S+\.php) on line (\d+)/', '', rtrim((string) shell_exec("$php $options -r " . escapeshellarg($code)))), "\n";
}

foreach (['5, 300', '10, 60', '1, 60', '100, 3600', '5, 300.0', '3, TokenBucket::DAY'] as $numbers) {
    run($numbers, "new TokenBucket('array:', 'login:192.0.2.1', $numbers);");
}
run('a thousand objects', 'for ($i = 0; $i < 1000; $i++) { new TokenBucket("array:", "x", 5 + $i % 2, 300); }');
run('a class of its own', 'class Limit extends TokenBucket { function __construct() { parent::__construct("array:", "x", 5, 300); } } new Limit;');
run('the object is usable', '$bucket = new TokenBucket("array:", "x", 5, 300); var_dump($bucket->consume(5));');

$meant = <<<'CODE'
    foreach ([[1, 10], [1, 100], [5, 50], [10, 100], [20, 30], [50, 1000], [5, 300.5], [60, 60], [300, 60], [10, 10 / 60]] as [$capacity, $rate]) {
        new TokenBucket('array:', 'x', $capacity, $rate);
    }
    TokenBucket::per('array:', 'x', 300, 5);
    new TokenBucket('array:', 'x', null, 300);
    try {
        new TokenBucket('array:', 'x', 0, 300);
    } catch (ValueError) {
    }
    (new TokenBucket('array:', 'x'))->check('y', 5, 300);
    CODE;
run('rates that are meant', $meant);
run('switched off', 'new TokenBucket("array:", "x", 5, 300);', '-d token_bucket.warn_of_mistakes=0');
?>
--EXPECT--
5, 300:
Warning: TokenBucket::__construct(): A bucket of 5 is full again in 0.017 s, for the fourth argument is a rate per second; 5 in 300 seconds is TokenBucket::per(..., 5, 300)
10, 60:
Warning: TokenBucket::__construct(): A bucket of 10 is full again in 0.17 s, for the fourth argument is a rate per second; 10 in 60 seconds is TokenBucket::per(..., 10, 60)
1, 60:
Warning: TokenBucket::__construct(): A bucket of 1 is full again in 0.017 s, for the fourth argument is a rate per second; 1 in 60 seconds is TokenBucket::per(..., 1, 60)
100, 3600:
Warning: TokenBucket::__construct(): A bucket of 100 is full again in 0.028 s, for the fourth argument is a rate per second; 100 in 3600 seconds is TokenBucket::per(..., 100, 3600)
5, 300.0:
Warning: TokenBucket::__construct(): A bucket of 5 is full again in 0.017 s, for the fourth argument is a rate per second; 5 in 300 seconds is TokenBucket::per(..., 5, 300)
3, TokenBucket::DAY:
Warning: TokenBucket::__construct(): A bucket of 3 is full again in 0.000035 s, for the fourth argument is a rate per second; 3 in 86400 seconds is TokenBucket::per(..., 3, 86400)
a thousand objects:
Warning: TokenBucket::__construct(): A bucket of 5 is full again in 0.017 s, for the fourth argument is a rate per second; 5 in 300 seconds is TokenBucket::per(..., 5, 300)
a class of its own:
Warning: TokenBucket::__construct(): A bucket of 5 is full again in 0.017 s, for the fourth argument is a rate per second; 5 in 300 seconds is TokenBucket::per(..., 5, 300)
the object is usable:
Warning: TokenBucket::__construct(): A bucket of 5 is full again in 0.017 s, for the fourth argument is a rate per second; 5 in 300 seconds is TokenBucket::per(..., 5, 300)
bool(true)
rates that are meant:
switched off:
