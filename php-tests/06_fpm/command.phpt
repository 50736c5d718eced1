--TEST--
php-fpm: bin/token-bucket, run by root as the pool's user with the pool's directives, sees and steers what the pool's workers do
--EXTENSIONS--
pcntl
posix
--SKIPIF--
<?php
if (posix_geteuid() !== 0) {
    die('skip only root can become the user of a pool');
}
?>
--FILE--
<?php
require __DIR__ . '/fpm.inc';

$limits = sys_get_temp_dir() . '/token_bucket-command-' . getmypid() . '.ini';
file_put_contents($limits, "[login]\nall = login_network login_user\n[login_network]\nlimit = 3\ninterval = 360000\n[login_user]\nlimit = 100\ninterval = 864000\n");
chmod($limits, 0644);
register_shutdown_function(fn () => unlink($limits));
$fpm = new Fpm(['shop' => [
    'user' => 'www-data',
    'php_admin_value[token_bucket.limits]' => $limits,
    'php_admin_value[token_bucket.prefix]' => '$pool:',
    'php_admin_value[token_bucket.storage]' => '"shm:shop?enforce=1"',
]]);
$fpm->script('login.php', <<<'CODE'
    <?php
    echo TokenBucket\limiter('login', [$_GET['network'], $_GET['user']])->consume() ? 'passed ' : 'denied ';
    CODE);

$fpm->script('code.php', <<<'CODE'
    <?php
    echo TokenBucket::per(null, "code:$_GET[user]", 3, 345600)->consume() ? 'passed ' : 'denied ';
    CODE);

/** Runs the command, and prints what it prints and its exit code. */
function command(string ...$words): void
{
    global $fpm, $limits;
    $shared = array_filter(['posix', 'pcntl'], fn (string $name): bool => file_exists(ini_get('extension_dir') . "/$name.so"));
    $options = array_merge(...array_map(fn (string $name): array => ['-d', "extension=$name"], [...$shared, "$fpm->folder/token_bucket.so"]));
    $process = proc_open([PHP_BINARY, '-n', ...$options, dirname(__DIR__, 2) . '/bin/token-bucket', ...$words], [1 => ['pipe', 'w'], 2 => ['redirect', 1]], $pipes);
    $output = stream_get_contents($pipes[1]);
    $code = proc_close($process);
    $output = preg_replace(['/\d{4}-\d\d-\d\d (?=\d\d:)/', '/\d\d:\d\d:\d\d/'], ['', 'TIME'], str_replace([$fpm->folder, $limits], ['FOLDER', 'LIMITS'], $output));
    echo '$ token-bucket ', str_replace([$fpm->folder, $limits], ['FOLDER', 'LIMITS'], implode(' ', $words)), "\n$output", $code === 0 ? '' : "[$code]\n";
}
function requests(int $count, string $network, string $user): void
{
    global $fpm;
    for ($i = 0; $i < $count; $i++) {
        echo $fpm->request('shop', 'login.php', ['network' => $network, 'user' => $user])->body;
    }
    echo "\n";
}

requests(5, '198.51.100.7', 'anna');
$pool = "--pool=$fpm->folder/fpm.conf";
command('peek', 'login', '198.51.100.7', 'anna', $pool);
command('peek', 'login_user', 'anna', $pool);
command('top', $pool);
command('status', $pool);
command('denials', $pool);
command('denials', 'login_network', '203.0.113.9', $pool);
command('reset', 'login_network', '198.51.100.7', $pool);
requests(1, '198.51.100.7', 'anna');
command('block', 'login', 'x', 'eve', '1000000', $pool);
command('peek', 'login', 'x', 'eve', $pool);
requests(1, '203.0.113.9', 'eve');
command('limits', 'check', $limits);

// A limit in code, with the pool's prefix and storage.
command('block', '--identifier', 'code:eve', '1000000', $pool);
echo $fpm->request('shop', 'code.php', ['user' => 'eve'])->body, "\n";
command('top', 'code', $pool);
command('reset', '--identifier', 'code:eve', $pool);
echo $fpm->request('shop', 'code.php', ['user' => 'eve'])->body, "\n";
command('peek', '--identifier', 'code:eve', '--limit', '3', '--interval', '345600', $pool);

// The tables are the pool's user's, also when root runs the command.
echo implode(' ', array_unique(array_map(fn (string $file): string => posix_getpwuid(fileowner($file))['name'], glob("$fpm->tables/*")))), "\n";

// Mistakes.
command('status');
command('peek', 'login', 'x', '--pool', '/etc/passwd');
command('peek', 'login', $pool);
command('peek', 'logins', 'x', $pool);
command('peek', 'login_user', 'x', 'y', $pool);
command('block', 'login_user', 'eve', '0', $pool);
command('block', 'login_user', 'eve', 'an hour', $pool);
command('status', '--user', 'nobody-such');
command('top', 'logn_user', $pool);
command('denials', 'a', 'b', 'c', $pool);
command('limits', 'chek', $limits);
command('limits', 'check', '/nowhere');
file_put_contents($limits, "[login]\nlimit = five\ninterval = 1\n");
command('limits', 'check', $limits);
command('status', $pool);
?>
--EXPECT--
passed passed passed denied denied 
$ token-bucket peek login 198.51.100.7 anna --pool=FOLDER/fpm.conf
login (login_network 198.51.100.7; login_user anna): denied by login_network, for 1 d 9 h
[1]
$ token-bucket peek login_user anna --pool=FOLDER/fpm.conf
login_user anna: 97 of 100 left
$ token-bucket top --pool=FOLDER/fpm.conf
        2  login_network    198.51.100.7                             limited for 1 d 9 h
$ token-bucket status --pool=FOLDER/fpm.conf
limit                         checked       denied   would deny   degraded     exempt
login_network                       5            2            0          0          0
login_user                          3            0            0          0          0

table                            used           of    evictions  newcomers denied
shop                                2      524,032            0                 0
$ token-bucket denials --pool=FOLDER/fpm.conf
TIME UTC  login_network    login_network:198.51.100.7               2 times since TIME: 3 in 4 d 4 h, used up
$ token-bucket denials login_network 203.0.113.9 --pool=FOLDER/fpm.conf
No call of 203.0.113.9 was denied by login_network: under the prefix "shop:" the log has one entry since TIME UTC.
$ token-bucket reset login_network 198.51.100.7 --pool=FOLDER/fpm.conf
login_network 198.51.100.7: reset
passed 
$ token-bucket block login x eve 1000000 --pool=FOLDER/fpm.conf
login (login_network x; login_user eve): blocked for 11 d 13 h
$ token-bucket peek login x eve --pool=FOLDER/fpm.conf
login (login_network x; login_user eve): denied by login_network, login_user, for 11 d 13 h
[1]
denied 
$ token-bucket limits check LIMITS
login                    all of login_network, login_user
login_network            3 in 4 d 4 h, token_bucket
login_user               100 in 10 d, token_bucket
$ token-bucket block --identifier code:eve 1000000 --pool=FOLDER/fpm.conf
code:eve: blocked for 11 d 13 h
denied 
$ token-bucket top code --pool=FOLDER/fpm.conf
        1  code             code:eve                                 blocked for 11 d 13 h
$ token-bucket reset --identifier code:eve --pool=FOLDER/fpm.conf
code:eve: reset
passed 
$ token-bucket peek --identifier code:eve --limit 3 --interval 345600 --pool=FOLDER/fpm.conf
code:eve: 2 of 3 left
www-data
$ token-bucket status
token-bucket: this command runs as root, but the limits belong to the user that PHP runs as: name the pool's file, as in --pool /etc/php/8.2/fpm/pool.d/www.conf,
or the user, as in --user www-data. If PHP runs as root, write --user root
See: token-bucket status --help
[2]
$ token-bucket peek login x --pool /etc/passwd
token-bucket: --pool must name a file with one pool; /etc/passwd has none
[1]
$ token-bucket peek login --pool=FOLDER/fpm.conf
token-bucket: CLIENT is missing: what the application passes to TokenBucket\limiter(), such as an address
See: token-bucket peek --help
[2]
$ token-bucket peek logins x --pool=FOLDER/fpm.conf
token-bucket: token_bucket.limits has no limit "logins": must be one of login, login_network, login_user; for a limit in code write --identifier ID in place of NAME CLIENT
[1]
$ token-bucket peek login_user x y --pool=FOLDER/fpm.conf
token-bucket: login_user is one limit and takes one CLIENT
See: token-bucket peek --help
[2]
$ token-bucket block login_user eve 0 --pool=FOLDER/fpm.conf
token-bucket: TIME must be greater than 0 and at most four years, in seconds
See: token-bucket block --help
[2]
$ token-bucket block login_user eve an hour --pool=FOLDER/fpm.conf
token-bucket: TIME must be a number of seconds, or one with s, m, h or d, such as 90, 15m, 2h or 1d; it is "an hour"
See: token-bucket block --help
[2]
$ token-bucket status --user nobody-such
token-bucket: --user must name a user of this system; there is no nobody-such
See: token-bucket status --help
[2]
$ token-bucket top logn_user --pool=FOLDER/fpm.conf
token-bucket: no call was counted for logn_user; did you mean login_user?
[1]
$ token-bucket denials a b c --pool=FOLDER/fpm.conf
token-bucket: denials takes a NAME, a CLIENT, a NAME and a CLIENT, or none
See: token-bucket denials --help
[2]
$ token-bucket limits chek LIMITS
token-bucket: limits needs: check FILE, or check FILE NAME CLIENT
See: token-bucket limits --help
[2]
$ token-bucket limits check /nowhere
token-bucket: no such file: /nowhere
[1]
$ token-bucket limits check LIMITS
LIMITS: line 2: limit must be a whole number; it is "five"
[1]
$ token-bucket status --pool=FOLDER/fpm.conf
The file of limits has a mistake. Workers keep the limits that they have read, and a worker that starts now throws: token_bucket.limits: LIMITS: line 2: limit must be a whole number; it is "five"

limit                         checked       denied   would deny   degraded     exempt
code                                2            1            0          0          0
login_network                       6            2            0          0          0
login_user                          5            1            0          0          0

blocked
login_user               login_user:eve                           for 11 d 13 h
login_network            login_network:x                          for 11 d 13 h

table                            used           of    evictions  newcomers denied
shop                                6      524,032            0                 0
[1]
