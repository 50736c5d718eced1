--TEST--
docs/login.md: its code is that of the examples, its numbers are those of limits.ini, a captcha lets a user in whose account is attacked
--INI--
token_bucket.test_clock=1
token_bucket.storage="shm:login_page"
--FILE--
<?php
use TokenBucket\TestClock;

ob_start();    // the pages send headers
$root = dirname(__DIR__, 2);
preg_match_all('/^```php\n(.*?)^```/ms', file_get_contents("$root/docs/login.md"), $blocks);
[$recipe, $count_failure, $known, $captcha] = $blocks[1];

function without_indentation(string $code): string
{
    return preg_replace('/^ +| +(?=\/\/)/m', '', $code);
}
foreach (['login' => $recipe, 'escalating_block' => $count_failure, 'known_browsers/login' => $known] as $example => $code) {
    $page = file_get_contents("$root/examples/$example.php");
    echo "examples/$example.php: ", str_contains(without_indentation($page), without_indentation($code)) ? 'the same' : "another than\n$code", "\n";
}
preg_match_all('/per\(.*, (\d+), (\d+), \'(\w+)\'\);/', $recipe, $limits, PREG_SET_ORDER);
foreach ($limits as [, $limit, $interval, $name]) {
    echo "the recipe: $name $limit in $interval s\n";
}
foreach (parse_ini_file("$root/share/limits.ini", true) as $name => $limit) {
    echo str_starts_with($name, 'login_') ? "limits.ini: $name {$limit['limit']} in {$limit['interval']} s\n" : '';
}

// The recipe, and with the captcha in the place of its decision.
const USERS = ['joe' => '$2y$04$yn0s5JabOxVUF17KE.EzEe4CY.j.GinC90LNl.DjnnCk.wlTzHHJm'];
function captcha_is_solved(): bool
{
    return $GLOBALS['is_solved'];
}
$is_solved = false;
$asks_captcha = false;
$with_captcha = preg_replace('/^\$decision = .*\n/m', $captcha, $recipe, 1, $replaced);
$replaced === 1 || die("the recipe has no decision\n");
eval("function log_in(string \$network, string \$user, string \$password): int { http_response_code(200); \$hash = USERS[\$user] ?? USERS['joe'];\n$recipe\nreturn http_response_code(); }");
eval("function log_in_with_captcha(string \$network, string \$user, string \$password): int { global \$asks_captcha; http_response_code(200); \$hash = USERS[\$user] ?? USERS['joe'];\n$with_captcha\nreturn http_response_code(); }");

/** @param iterable<int|bool> $answers */
function counted(string $what, iterable $answers): void
{
    echo $what, ': ', json_encode(array_count_values(array_map(json_encode(...), [...$answers]))), "\n";
}
$networks = array_map(fn (int $i) => "198.51.100.$i", range(1, 40));
$attack = function (string $log_in, string $password) use ($networks): iterable {
    foreach ($networks as $network) {
        for ($i = 0; $i < 6; $i++) {
            yield $log_in($network, 'joe', $password);
        }
    }
};

TestClock::freeze(1_000_000);
counted('40 networks at one user', $attack('log_in', 'guess'));
TestClock::freeze(1_010_000);
counted('with the limit of the account', $attack('log_in_with_captcha', 'guess'));
echo 'the owner: ', log_in_with_captcha('192.0.2.1', 'joe', 'secret'), ', is asked for the captcha: ', json_encode($asks_captcha), "\n";
$is_solved = true;
echo 'with it solved: ', log_in_with_captcha('192.0.2.1', 'joe', 'secret'), "\n";
counted('a machine that solves it', array_map(fn () => log_in_with_captcha('192.0.2.2', 'joe', 'guess'), range(1, 20)));
echo 'is asked for the captcha: ', json_encode($asks_captcha), "\n";

?>
--EXPECT--
examples/login.php: the same
examples/escalating_block.php: the same
examples/known_browsers/login.php: the same
the recipe: login_pair 5 in 300 s
the recipe: login_network 30 in 300 s
limits.ini: login_network 30 in 300 s
limits.ini: login_pair 5 in 300 s
limits.ini: login_account 100 in 3600 s
40 networks at one user: {"403":200,"429":40}
with the limit of the account: {"403":100,"429":140}
the owner: 429, is asked for the captcha: true
with it solved: 200
a machine that solves it: {"403":5,"429":15}
is asked for the captcha: false
