--TEST--
ini: an error handler may set directives and make limiters while a directive is refused; each limiter then has what is in force
--INI--
token_bucket.limits={PWD}/ini_set_in_handler.limits.ini
token_bucket.storage=array:
--FILE--
<?php
use function TokenBucket\limiter;

file_put_contents(__DIR__ . '/ini_set_in_handler.limits.ini', <<<'INI'
    [one]
    limit = 1
    interval = 1000
    [enforced]
    limit = 1
    interval = 1000
    enforce = on
    INI);

/** Whether two calls on buckets of their own are accepted: on the default storage, on a DSN, and by names. */
function second_calls(): string
{
    static $n = 0;
    $n++;
    $limiters = [
        new TokenBucket(null, "null $n", 1, 0.001),
        new TokenBucket('array:', "dsn $n", 1, 0.001),
        new TokenBucket('array:?enforce=1', "enforced $n", 1, 0.001),
        limiter('one', "client $n"),
        limiter('enforced', "client $n"),
    ];
    return implode(' ', array_map(fn ($limiter) => $limiter->consume() . '/' . var_export($limiter->consume(), true), $limiters));
}

set_error_handler(function (int $level, string $message): bool {
    static $depth = 0;
    echo strstr($message, ' must', true), ', in the handler: ', second_calls(), "\n";
    if ($depth++ === 0) {
        ini_set('token_bucket.enforce', '0');
        echo 'in the handler, later: ', second_calls(), "\n";
    }
    return true;
});

echo second_calls(), "\n";
ini_set('token_bucket.prefix', str_repeat('x', 65));
echo 'a dry run: ', second_calls(), "\n";
ini_restore('token_bucket.enforce');
ini_set('token_bucket.storage', 'nowhere:');
echo 'restored: ', second_calls(), "\n";
var_dump(ini_set('token_bucket.enforce', ''));
echo 'empty is off: ', second_calls(), "\n";
?>
--CLEAN--
<?php
unlink(__DIR__ . '/ini_set_in_handler.limits.ini');
?>
--EXPECT--
1/false 1/false 1/false 1/false 1/false
ini_set(): token_bucket.prefix, in the handler: 1/false 1/false 1/false 1/false 1/false
in the handler, later: 1/true 1/true 1/false 1/true 1/false
a dry run: 1/true 1/true 1/false 1/true 1/false
ini_set(): token_bucket.storage, in the handler: 1/false 1/false 1/false 1/false 1/false
restored: 1/false 1/false 1/false 1/false 1/false
string(1) "1"
empty is off: 1/true 1/true 1/false 1/true 1/false
