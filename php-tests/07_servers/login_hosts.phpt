--TEST--
Servers: the logins of docs/login.md on two hosts and one Redis: one limit while it answers, one for each host while it does not; a link that is used on one host lets its browser in on the other at once
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
$hosts = array_map(function () use ($redis, $directives): Fpm {
    $host = new Fpm(['www' => [
        'env[LOGIN_KEY]' => 'a-key-for-a-test',
        'php_admin_value[token_bucket.storage]' => '"' . $redis->dsn('timeout_ms=5000&connect_timeout_ms=5000') . '"',
    ] + $directives]);
    foreach (['login.php' => 'login', 'accounts.php' => 'known_browsers/accounts', 'known_browsers.php' => 'known_browsers/login', 'unlock.php' => 'known_browsers/unlock'] as $name => $page) {
        $host->script($name, file_get_contents(dirname(__DIR__, 2) . "/examples/$page.php"));
    }
    return $host;
}, ['a', 'b']);

/** The answers of both hosts in turn to one client: each status with how often it came. */
function post(string $user, string $password, int $count, string $page = 'login.php', string $address = '192.0.2.1', string $cookie = ''): string
{
    global $hosts;
    $statuses = array_map(fn (int $i): int => $hosts[$i % 2]->request('www', $page, [], http_build_query(['user' => $user, 'password' => $password]), [
        'REQUEST_METHOD' => 'POST',
        'CONTENT_TYPE' => 'application/x-www-form-urlencoded',
        'REMOTE_ADDR' => $address,
        'HTTP_COOKIE' => $cookie,
    ])->status, range(1, $count));
    return json_encode(array_count_values($statuses));
}

echo 'up: ', post('ann', 'guess', 12), ', the password: ', post('joe', 'secret', 4), "\n";
// The hosts sign links and cookies with one key.
$ticket = time() + 60 . '-0e9a0e9a0e9a0e9a';
$link = ['user' => 'joe', 'ticket' => $ticket, 'signature' => hash_hmac('sha256', json_encode(['unlock', $ticket, 'joe', '$2y$04$yn0s5JabOxVUF17KE.EzEe4CY.j.GinC90LNl.DjnnCk.wlTzHHJm']), 'a-key-for-a-test')];
$cookies = array_map(function (int $host) use ($hosts, $link): string {
    $answer = $hosts[$host]->request('www', 'unlock.php', [], http_build_query($link), ['REQUEST_METHOD' => 'POST', 'CONTENT_TYPE' => 'application/x-www-form-urlencoded', 'REMOTE_ADDR' => '192.0.2.2']);
    return urldecode(strtok($answer->headers['set-cookie'] ?? '', ';'));
}, [0, 1]);
echo 'denied: ', post('joe', 'guess', 8, 'known_browsers.php', '192.0.2.2'), ', the link on one host gives a cookie: ', json_encode($cookies[0] !== ''), ', then on the other: ', json_encode($cookies[1] !== ''),
    ', the password on both: ', post('joe', 'secret', 4, 'known_browsers.php', '192.0.2.2', $cookies[0]), "\n";
$redis->kill();
echo 'down: ', post('eve', 'guess', 24), "\n";
?>
--EXPECT--
up: {"403":5,"429":7}, the password: {"200":4}
denied: {"403":5,"429":3}, the link on one host gives a cookie: true, then on the other: false, the password on both: {"200":4}
down: {"403":10,"429":14}
