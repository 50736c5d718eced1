--TEST--
Servers: the logins of docs/login.md on two hosts and one Redis: one limit while it answers, one for each host while it does not; a link that is opened on one host lets its user in on the other at once
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require dirname(__DIR__) . '/06_fpm/fpm.inc';
require dirname(__DIR__) . '/servers.inc';

$redis = new Server('redis');
// Hosts have tables of their own. The directives are those of the page, with long time-outs for a busy machine.
preg_match('/^```ini\n(.*?)^```/ms', file_get_contents(dirname(__DIR__, 2) . '/docs/login.md'), $block);
preg_match_all('/^(php_admin_.+) = (.+)$/m', $block[1], $directives);
$directives = array_combine($directives[1], $directives[2]);
/** The functions of the page behind a mailed link, without the page. */
function unlock_code(): string
{
    preg_match('/^\/\*\* Signs a link.*?(?=^\$text = )/ms', file_get_contents(dirname(__DIR__, 2) . '/examples/unlock.php'), $functions);
    return 'putenv("LOGIN_KEY=a-key-for-a-test");' . $functions[0];
}
$hosts = array_map(function () use ($redis, $directives): Fpm {
    $host = new Fpm(['www' => [
        'php_admin_value[token_bucket.storage]' => '"' . $redis->dsn('timeout_ms=5000&connect_timeout_ms=5000') . '"',
    ] + $directives]);
    foreach (['login', 'registry_login'] as $page) {
        $host->script("$page.php", file_get_contents(dirname(__DIR__, 2) . "/examples/$page.php"));
    }
    $host->script('unlock.php', '<?php ' . unlock_code() . 'echo unlock("joe", "hash", $_GET["ticket"], $_GET["signature"], "192.0.2.2");');
    return $host;
}, ['a', 'b']);

/** The answers of both hosts in turn to one client: each status with how often it came. */
function post(string $user, string $password, int $count, string $page = 'login.php', string $address = '192.0.2.1'): string
{
    global $hosts;
    $statuses = array_map(fn (int $i): int => $hosts[$i % 2]->request('www', $page, [], http_build_query(['user' => $user, 'password' => $password]), [
        'REQUEST_METHOD' => 'POST',
        'CONTENT_TYPE' => 'application/x-www-form-urlencoded',
        'REMOTE_ADDR' => $address,
    ])->status, range(1, $count));
    return json_encode(array_count_values($statuses));
}

echo 'up: ', post('ann', 'guess', 12), ', the password: ', post('joe', 'secret', 4), "\n";
eval(unlock_code());
for ($round = 0; $round < 3; $round++) {
    // Both hosts have denied this user, and block the pair.
    $denied = post('joe', 'guess', 8, 'registry_login.php', '192.0.2.2');
    $ticket = time() + 60 . "-$round";
    $link = ['ticket' => $ticket, 'signature' => unlock_signature('joe', 'hash', $ticket)];
    echo "denied: $denied, the link on one host: ", $hosts[0]->request('www', 'unlock.php', $link)->body,
        ', the password on the other: ', post('joe', 'secret', 1, 'registry_login.php', '192.0.2.2'), "\n";
}
$redis->kill();
echo 'down: ', post('eve', 'guess', 24), "\n";
?>
--EXPECT--
up: {"403":5,"429":7}, the password: {"200":4}
denied: {"403":5,"429":3}, the link on one host: Lifted, the password on the other: {"200":1}
denied: {"403":5,"429":3}, the link on one host: Lifted, the password on the other: {"200":1}
denied: {"403":5,"429":3}, the link on one host: Lifted, the password on the other: {"200":1}
down: {"403":10,"429":14}
