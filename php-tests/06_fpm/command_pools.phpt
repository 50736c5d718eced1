--TEST--
php-fpm: a command that finds nothing of a user names the user's pools that have counts of their own, and takes their files
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

$place = sys_get_temp_dir() . '/token_bucket-pools-' . getmypid();
array_map(mkdir(...), [$place, "$place/apart"]);
chmod("$place/apart", 01777);
register_shutdown_function(fn () => remove($place));
chmod($place, 01777);
// Each in a file of its own, as packages have them. Other tests have no pools of these users.
$pool = fn (string $name, string $user, string $folder, array $directives = []): Fpm => new Fpm([$name => $directives + [
    'user' => $user, 'pm.max_children' => '1', 'php_admin_value[token_bucket.shm_path]' => $folder,
]]);
$fpms = [
    'shop' => $pool('shop', 'daemon', $place, ['php_admin_value[token_bucket.prefix]' => '$pool:', 'php_admin_value[token_bucket.storage]' => '"redis://:s3cret@127.0.0.1:1"']),
    'apart' => $pool('apart', 'daemon', "$place/apart"),
    'plain' => $pool('plain', 'daemon', $place),
    'alien' => $pool('alien', 'bin', $place, ['php_value[token_bucket.prefix]' => 'alien:']),
];
$fpms['apart']->script('call.php', '<?php TokenBucket::per(null, "login:$_GET[id]", 3, 300)->consume();');

/** Runs the command as root; returns its output, and what it says of these pools. */
function command(string ...$words): array
{
    global $fpms, $place;
    $shared = array_filter(['posix', 'pcntl'], fn (string $name): bool => file_exists(ini_get('extension_dir') . "/$name.so"));
    $options = array_merge(...array_map(fn (string $name): array => ['-d', "extension=$name"], [...$shared, "{$fpms['plain']->folder}/token_bucket.so"]));
    $process = proc_open([PHP_BINARY, '-n', ...$options, '-d', "token_bucket.shm_path=$place", dirname(__DIR__, 2) . '/bin/token-bucket', ...$words],
        [1 => ['pipe', 'w'], 2 => ['pipe', 'w']], $pipes);
    [$output, $errors] = array_map(stream_get_contents(...), [$pipes[1], $pipes[2]]);
    proc_close($process);
    $lines = explode("\n", trim($errors));
    sort($lines);
    $folders = array_map(fn (Fpm $fpm): string => $fpm->folder, $fpms);
    return [$output, str_replace([...$folders, $place], [...array_map('strtoupper', array_keys($folders)), 'PLACE'], implode("\n", $lines) . "\n")];
}

[$output, $hints] = command('status', '--user', 'daemon');
echo strtok($output, "\n"), "\n", strtok("\n"), "\n";
echo $hints;
foreach (['top', 'denials'] as $command) {
    echo command($command, '--user', 'daemon')[1] === $hints ? "$command: the same\n" : "$command: other hints\n";
}
echo 'bin: ', command('status', '--user', 'bin')[1];

$fpms['apart']->request('apart', 'call.php', ['id' => 'a']);
[$output, $hints] = command('status', "--pool={$fpms['apart']->folder}/fpm.conf");
echo preg_match('~^login .*\b1\b~m', $output) ? 'the pool is seen' : $output, $hints;
?>
--EXPECT--
limit                         checked       denied   would deny   degraded     exempt
(nothing was counted yet)
token-bucket: the pool apart has token_bucket.shm_path = "PLACE/apart": name it by --pool APART/fpm.conf
token-bucket: the pool shop has token_bucket.prefix = "shop:", another token_bucket.storage: name it by --pool SHOP/fpm.conf
top: the same
denials: the same
bin: token-bucket: the pool alien has token_bucket.prefix = "alien:": name it by --pool ALIEN/fpm.conf
the pool is seen
