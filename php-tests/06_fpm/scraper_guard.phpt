--TEST--
The guard against scrapers: a dry run first, then enforced
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/fpm.inc';

$common = [
    'php_admin_value[token_bucket.test_clock]' => '1',
    'php_admin_value[auto_prepend_file]' => 'prepend.php',
    'php_admin_value[include_path]' => '.',
];
$fpm = new Fpm([
    'watch' => ['php_admin_value[token_bucket.enforce]' => '0'] + $common,
    'force' => $common,
]);
$fpm->script('prepend.php', '<?php TokenBucket\TestClock::freeze((float) $_SERVER["TIME"]); require "guard.php";');
$fpm->script('guard.php', file_get_contents(dirname(__DIR__, 2) . '/examples/scraper_guard.php'));
$fpm->script('page.php', '<?php echo "the page";');

function get(string $pool, string $address, string $path, float $time): string
{
    global $fpm;
    $answer = $fpm->request($pool, 'page.php', [], '', ['REMOTE_ADDR' => $address, 'REQUEST_URI' => $path, 'TIME' => (string) $time]);
    return "$answer->status $answer->body" . (isset($answer->headers['x-would-deny']) ? ' (would deny)' : '')
        . (isset($answer->headers['retry-after']) ? ' ' . $answer->headers['retry-after'] : '');
}

foreach (['watch' => 1000, 'force' => 2000] as $pool => $time) {
    $scraper = array_map(fn (int $i) => get($pool, '192.0.2.66', "/category/$i?page=$i", $time + $i), range(0, 19));
    echo "$pool: ", json_encode(array_count_values($scraper), JSON_UNESCAPED_SLASHES), "\n";
    echo '    another page: ', get($pool, '192.0.2.66', '/about', $time + 19), '; another client: ', get($pool, '192.0.2.1', '/search?q=x', $time + 19), "\n";
}
// However the path is written, it is of its group: ten at once.
$ways = ['/login', '//login', '/./login', '/x/../login', '/%6Cogin', '/login?a=/page', '/login#x', '/%2e/login', '/%2F/login', '/../login'];
foreach ($ways as $i => $way) {
    get('force', '192.0.2.77', $way, 3000);
}
foreach ($ways as $way) {
    $answer = get('force', '192.0.2.77', $way, 3000);
    str_starts_with($answer, '429') || print("$way: $answer\n");
}
// And a line of the log stays one.
$errors = $fpm->request('force', 'page.php', [], '', ['REMOTE_ADDR' => '192.0.2.77', 'REQUEST_URI' => '/login/%0Aforged%1B[31m', 'TIME' => '3000'])->errors;
echo preg_match('/users: .*forged.*$/m', $errors, $line) ? $line[0] : $errors, "\n";
// As the pools' user, who is ours where we are not root.
echo posix_geteuid() === 0
    ? $fpm->cli('www-data', 'guard.php', [])
    : shell_exec(escapeshellarg(PHP_BINARY) . " -n -d extension=$fpm->folder/token_bucket.so -d token_bucket.shm_path=$fpm->tables $fpm->folder/guard.php");
?>
--EXPECT--
watch: {"200 the page":9,"200 the page (would deny)":11}
    another page: 200 the page; another client: 200 the page
force: {"200 the page":9,"429 Too many requests. 3":3,"429 Too many requests. 2":3,"429 Too many requests. 1":3,"429 Too many requests. 4":2}
    another page: 200 the page; another client: 200 the page
users: 192.0.2.77 is denied /login/\nforged\033[31m
listing: 42 checked, 11 denied, 11 would have been
    listing:192.0.2.66 22
page: 2 checked, 0 denied, 0 would have been
users: 21 checked, 11 denied, 0 would have been
    users:192.0.2.77 11
