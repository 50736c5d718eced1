<?php
/*
 * Records the machine, the versions and the servers' settings.
 */

require __DIR__ . '/lib/bench.php';

$redis = phpredis(redis_dsn('unix'));
$mysql = pdo('mariadb')->query("SHOW VARIABLES WHERE Variable_name IN ('innodb_flush_log_at_trx_commit', 'log_bin', 'transaction_isolation', 'tx_isolation', 'version')")->fetchAll(PDO::FETCH_KEY_PAIR);
$cpu = file_get_contents('/proc/cpuinfo');

keep('environment', [
    'date' => date('Y-m-d'),
    'commit' => run('git rev-parse --short HEAD') . (run("git status --porcelain -- . ':!docs'") === '' ? '' : ', with changes'),
    'cpu' => preg_match('/^model name\s*: (.*)/m', $cpu, $found) ? $found[1] : php_uname('m'),
    'cores' => (int) run('nproc'),
    'virtual' => str_contains($cpu, ' hypervisor'),
    'memory_gib' => round(preg_match('/MemTotal: +(\d+)/', file_get_contents('/proc/meminfo'), $found) ? $found[1] / 2 ** 20 : 0),
    'kernel' => php_uname('s') . ' ' . php_uname('r'),
    'system' => preg_match('/^PRETTY_NAME="(.*)"/m', file_get_contents('/etc/os-release'), $found) ? $found[1] : '',
    'php' => PHP_VERSION . (PHP_ZTS ? ', thread-safe' : ''),
    'extensions' => array_map(phpversion(...), array_combine($names = ['token_bucket', 'apcu', 'igbinary', 'redis', 'memcached', 'memcache', 'pdo_mysql'], $names)),
    'symfony' => array_map(
        fn ($package) => run("dpkg-query -W -f='\${Version}' php-symfony-$package"),
        ['symfony/rate-limiter' => 'rate-limiter', 'symfony/cache' => 'cache', 'symfony/lock' => 'lock'],
    ),
    'symfony_newest' => array_combine(['symfony/rate-limiter', 'symfony/cache', 'symfony/lock'], array_map(newest_symfony_version(...), ['rate-limiter', 'cache', 'lock'])),
    'servers' => [
        'Redis' => $redis->info('server')['redis_version'],
        'memcached' => array_values(($memcached = php_memcached(getenv('TB_MEMCACHED_UNIX')))->getVersion())[0],
        'MariaDB' => $mysql['version'],
        'MySQL' => pdo('mysql')->query('SELECT VERSION()')->fetchColumn(),
        'nginx' => preg_replace('~.*/~', '', run('nginx -v 2>&1')),
        'wrk' => preg_match('~wrk (\S+)~', run('wrk -v 2>&1'), $found) ? $found[1] : '',
        'valgrind' => run('valgrind --version'),
    ],
    'redis_settings' => ['save' => $redis->config('GET', 'save')['save'], 'appendonly' => $redis->config('GET', 'appendonly')['appendonly'], 'io-threads' => $redis->config('GET', 'io-threads')['io-threads']],
    'memcached_threads' => array_values($memcached->getStats())[0]['threads'],
    'mysql_settings' => array_diff_key($mysql, ['version' => '']),
]);

/** The output of a command, on one line. */
function run(string $command): string
{
    return trim((string) shell_exec("{ $command; } 2>/dev/null"));
}
