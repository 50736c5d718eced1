<?php
declare(strict_types=1);

/* Where the directives of a pool come from: its file, and php-fpm's own php.ini and conf.d beside pool.d. */

require __DIR__ . '/application.inc';

$fpm = "$folder/fpm";
array_map(mkdir(...), [$fpm, "$fpm/conf.d", "$fpm/pool.d", "$folder/php-fpm.d"]);
$login = write_file('login.ini', "[login]\nlimit = 7\ninterval = 900\n");
$pool = write_file('fpm/pool.d/www.conf', "[www]\nuser = $user\n");

// This PHP has no directives of its own but the folder of tables.
$options = ['-d', 'extension=' . getenv('EXTENSION'), '-d', "token_bucket.shm_path=$folder/tables", ...array_slice($options, 6)];
$of_pool = static fn (array $words, string $file): array => command([...$words, '--pool', $file], '', [], $options);

$result = $of_pool(['peek', 'login', 'anna'], $pool);
check('without a php.ini beside pool.d a pool has its own directives alone', $result['code'] === 1 && str_contains($result['err'], 'token_bucket.limits is empty'), $result);
check('the message says where --pool finds it', str_contains($result['err'], "; --pool FILE takes it from a php-fpm pool and its php.ini\n"), $result);

write_file('fpm/php.ini', <<<INI
    [PHP]
    memory_limit = 128M
    error_reporting = E_ALL & ~E_NOTICE
    token_bucket.limits = "$login"
    token_bucket.prefix = "ini:"
    token_bucket.storage = "shm:ini"
    token_bucket.on_error = \${TB_POLICY}
    [token_bucket]
    token_bucket.deny_cache = Off
    token_bucket.lease = 10
    [HOST=shop.example]
    token_bucket.prefix = "shop:"
    [PHP]
    token_bucket.prefix = "still shop:"
    INI);
write_file('fpm/conf.d/20-token_bucket.ini', "extension = no_such\ntoken_bucket.lease = 20\ntoken_bucket.storage = \"shm:twenty\"\n");
write_file('fpm/conf.d/30-site.ini', "token_bucket.storage = \"shm:thirty\"\n");
write_file('fpm/conf.d/40-site.ini.bak', "token_bucket.storage = \"shm:backup\"\n");
symlink('/nonexistent', "$fpm/conf.d/50-gone.ini");
putenv('TB_POLICY=closed');

$result = $of_pool(['peek', 'login', 'anna'], $pool);
check('a file of limits that php.ini names is found', $result['code'] === 0 && $result['out'] === "login anna: 7 of 7 left\n", $result);
$directives = static fn (string $file): array => json_decode($of_pool(['status', '--json'], $file)['out'], true)['directives'] ?? [];
$shown = $directives($pool);
$names = ['limits', 'prefix', 'storage', 'on_error', 'deny_cache', 'lease'];
$read_by_php = json_decode((string) shell_exec("PHPRC=$fpm PHP_INI_SCAN_DIR=$fpm/conf.d " . escapeshellarg(PHP_BINARY) . ' -d display_startup_errors=0 -d error_log=/dev/null -d extension=' . getenv('EXTENSION') . ' -r '
    . escapeshellarg('echo json_encode(array_map(fn ($name) => ini_get("token_bucket.$name"), ' . var_export($names, true) . '));')), true);
foreach ($names as $number => $name) {
    check("token_bucket.$name is as PHP reads it", ($shown["token_bucket.$name"] ?? null) === $read_by_php[$number], [$shown, $read_by_php]);
}
check('conf.d overrides php.ini, and a later file an earlier one', $shown['token_bucket.storage'] === 'shm:thirty' && $shown['token_bucket.lease'] === '20', $shown);

write_file('fpm/pool.d/www.conf', "[www]\nuser = $user\nphp_admin_value[token_bucket.prefix] = \$pool:\n");
$shown = $directives($pool);
check("the pool's file overrides both", $shown['token_bucket.prefix'] === 'www:' && $shown['token_bucket.storage'] === 'shm:thirty', $shown);
check('a relative name is found from the folder of the command', command(['peek', 'login', 'anna', '--pool', 'fpm/pool.d/www.conf'], '', [], $options)['code'] === 0);
write_file('php-fpm.d/www.conf', "[www]\nuser = $user\n");
check('a folder of another name has no php.ini', $directives("$folder/php-fpm.d/www.conf")['token_bucket.prefix'] === 'tb:');

// A user who asks without --pool.
$master = proc_open([PHP_BINARY, '-n', '-r', 'cli_set_process_title("php-fpm: master process (" . $argv[1] . ")"); echo "\n"; sleep(60);', $pool], [1 => ['pipe', 'w']], $pipes);
fgets($pipes[1]);
write_file('fpm/pool.d/www.conf', "[www]\nuser = $user\n");
$result = command(['status', '--user', $user], '', [], $options);
check('a running pool is named for the prefix of its php.ini', str_contains($result['err'], "token-bucket: the pool www has token_bucket.prefix = \"ini:\": name it by --pool $pool\n"), $result);

// Mistakes name their file.
write_file('fpm/conf.d/30-site.ini', "token_bucket.storag = shm:\n");
$result = $of_pool(['status'], $pool);
check('a misspelt directive is explained with the file that has it', $result['code'] === 1
    && $result['err'] === "token-bucket: $fpm/conf.d/30-site.ini: token_bucket.storag is not a directive and has no effect; did you mean token_bucket.storage?\n", $result);
write_file('fpm/conf.d/30-site.ini', "[PHP]\n\ntoken_bucket.prefix = x\ntoken_bucket.storage = shm:(\n");
$result = $of_pool(['status'], $pool);
check('so is a line that PHP cannot read', $result['code'] === 1 && preg_match("~^token-bucket: $fpm/conf\\.d/30-site\\.ini: syntax error, .* on line 4\n$~", $result['err']) === 1, $result);
check('a command without --pool goes on', command(['status', '--user', $user], '', [], $options)['code'] === 0);
proc_terminate($master);
proc_close($master);

// What other users write must neither be run by root nor keep it waiting.
array_map(unlink(...), glob("$fpm/conf.d/*.ini"));
$evil = write_file('evil.php', "<?php file_put_contents('$folder/run', 'yes');");
write_file('fpm/php.ini', "token_bucket.limits = '/x\"\nauto_prepend_file=$evil\n'\n");
$result = $of_pool(['status'], $pool);
check('a value with a line break is refused, and runs nothing', $result['code'] === 1 && !file_exists("$folder/run")
    && str_contains($result['err'], 'token_bucket.limits must not have control characters; it is "/x'), $result);
$name = "x\"\nauto_prepend_file=evil.php\n;.ini";
file_put_contents("$folder/$name", "[a]\nlimit = 1\ninterval = 1\n");
$result = command(['limits', 'check', $name], '', [], $options);
check('also in the name of a file', $result['code'] === 1 && !file_exists("$folder/run") && str_contains($result['err'], 'must not have control characters'), $result);
exec('mkfifo ' . escapeshellarg("$folder/fifo"));
ftruncate(fopen("$folder/large", 'w'), 3 << 30);
foreach (['fifo', 'large'] as $file) {
    $result = $of_pool(['status'], "$folder/$file");
    check("--pool refuses a file that is no ini file: $file", $result['code'] === 1 && str_contains($result['err'], '--pool must name a readable file'), $result);
    array_map(unlink(...), glob("$fpm/conf.d/*.ini"));
    link("$folder/$file", "$fpm/conf.d/10-$file.ini");
    write_file('fpm/php.ini', "token_bucket.lease = 5\n");
    $result = $of_pool(['status'], $pool);
    check("conf.d may have a $file", $file === 'fifo' ? $result['code'] === 0 : $result['code'] === 1 && str_contains($result['err'], 'this command cannot: '), $result);
}
if (exec('id -u') === '0') {
    // Anybody can call a process php-fpm.
    $path = write_file('foreign.conf', "[foreign]\nuser = $user\nphp_admin_value[token_bucket.prefix] = \"foreign:\"\n");
    $is_named = function (int $uid) use ($path, $options): bool {
        $process = proc_open(['setpriv', "--reuid=$uid", '--clear-groups', '--pdeathsig=KILL', 'bash', '-c', "exec -a 'php-fpm: master process ($path)' sleep 60"], [], $pipes);
        $process_id = proc_get_status($process)['pid'];
        while (!str_contains((string) file_get_contents("/proc/$process_id/cmdline"), "php-fpm: master process ($path)")) {
            usleep(1_000);
        }
        $result = command(['top', 'nothing', '--user', 'root'], '', [], $options);
        proc_terminate($process, SIGKILL);
        return str_contains($result['err'], $path);
    };
    check("root's php-fpm is named", $is_named(0));
    check("a process of another user that is called so is not", !$is_named(65534));
}
