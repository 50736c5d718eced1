--TEST--
Servers: the login of docs/login.md on two hosts and one Redis: one limit while it answers, one for each host while it does not
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
preg_match_all('/^php_admin_value\[(.+)\] = (.+)$/m', $block[1], $directives);
$directives = array_combine(array_map(fn (string $name): string => "php_admin_value[$name]", $directives[1]), $directives[2]);
$hosts = array_map(function () use ($redis, $directives): Fpm {
    $host = new Fpm(['www' => [
        'php_admin_value[token_bucket.storage]' => '"' . $redis->dsn('timeout_ms=5000&connect_timeout_ms=5000') . '"',
    ] + $directives]);
    $host->script('login.php', file_get_contents(dirname(__DIR__, 2) . '/examples/login.php'));
    return $host;
}, ['a', 'b']);

/** The answers of both hosts in turn to one client: each status with how often it came. */
function post(string $user, string $password, int $count): string
{
    global $hosts;
    $statuses = array_map(fn (int $i): int => $hosts[$i % 2]->request('www', 'login.php', [], http_build_query(['user' => $user, 'password' => $password]), [
        'REQUEST_METHOD' => 'POST',
        'CONTENT_TYPE' => 'application/x-www-form-urlencoded',
        'REMOTE_ADDR' => '192.0.2.1',
    ])->status, range(1, $count));
    return json_encode(array_count_values($statuses));
}

echo 'up: ', post('ann', 'guess', 12), ', the password: ', post('joe', 'secret', 4), "\n";
$redis->kill();
echo 'down: ', post('eve', 'guess', 24), "\n";
?>
--EXPECT--
up: {"403":5,"429":7}, the password: {"200":4}
down: {"403":10,"429":14}
