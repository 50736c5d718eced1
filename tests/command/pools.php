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
check('the message says where --pool finds it', str_contains($result['err'], "; --pool FILE takes it from a php-fpm pool and its php.ini. For a limit in code write --identifier ID in place of NAME CLIENT\n"), $result);

write_file('fpm/php.ini', <<<INI
    [PHP]
    memory_limit = 128M
    error_reporting = E_ALL & ~E_NOTICE
    token_bucket.limits = "$login"
    token_bucket.prefix = "ini:"
    token_bucket.storage = "shm:ini"
    token_bucket.on_error = closed
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
$hint = "token-bucket: the pool www has token_bucket.limits = \"$login\", token_bucket.prefix = \"ini:\", another token_bucket.storage: name it by --pool $pool\n";
check('a running pool is named for the directives of its php.ini, without a DSN', str_contains($result['err'], $hint), $result);
foreach (['block login anna 60', 'peek login anna', 'unblock --identifier login:anna', 'block --identifier login:anna 60'] as $words) {
    $result = command([...explode(' ', $words), '--user', $user], '', [], $options);
    check("also by $words", str_contains($result['err'], $hint), $result);
}
command(['reset', '--identifier', 'login:anna', '--user', $user], '', [], $options);

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
    && str_contains($result['err'], 'token_bucket.limits must not have control characters or ${; it is "/x'), $result);
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

// A variable of php.ini is one of php-fpm's environment. This command's own may be root's, with its secrets.
array_map(unlink(...), glob("$fpm/conf.d/*.ini"));
putenv('TB_SECRET=s3cret');
foreach (['storage = "redis://:${TB_SECRET}@127.0.0.1:1"', 'storage = "redis://:s3cret@${TB_SECRET}:1"', 'prefix = ${TB_SECRET}', 'prefix = "${TB_SECRET:-x}"', 'shm_path = "/dev/shm/${TB_SECRET}"'] as $line) {
    write_file('fpm/php.ini', "memory_limit = \${TB_SECRET}\ntoken_bucket.lease = 5\ntoken_bucket.$line\n");
    $result = $of_pool(['status'], $pool);
    $name = 'token_bucket.' . strstr($line, ' ', true);
    check("php.ini's variables are not taken from this command's environment: $line", $result['code'] === 1 && !str_contains($result['out'] . $result['err'], 's3cret')
        && str_starts_with($result['err'], "token-bucket: $fpm/php.ini: $name has a variable of php-fpm's environment, \${...}, which this command does not know: write its value\n"), $result);
}
write_file('fpm/php.ini', "memory_limit = \${TB_SECRET}\n; \${TB_SECRET\ntoken_bucket.lease = 5\n");
check('variables of other directives do not matter', $of_pool(['status'], $pool)['code'] === 0);
write_file('fpm/pool.d/www.conf', "[www]\nuser = $user\nphp_admin_value[token_bucket.shm_path] = \"$folder/\${TB_SECRET}\"\n");
$result = $of_pool(['status'], $pool);
check("nor are the pool's", $result['code'] === 1 && str_contains($result['err'], "$pool: token_bucket.shm_path has a variable") && !file_exists("$folder/s3cret"), $result);
mkdir("$folder/\${TB_SECRET}");
$result = command(['limits', 'check', write_file('${TB_SECRET}/limits.ini', "[a]\nlimit = 1\ninterval = 1\n")], '', [], $options);
check('nor are those in the name of a file', $result['code'] === 1 && str_contains($result['err'], 'must not have control characters or ${') && !str_contains($result['err'], 's3cret'), $result);
unlink("$folder/\${TB_SECRET}/limits.ini");
rmdir("$folder/\${TB_SECRET}");
// A master may include any number of files.
mkdir("$folder/many");
for ($number = 0; $number < 1_200; $number++) {
    write_file("many/$number.conf", "[many$number]\nuser = $user\nphp_admin_value[token_bucket.prefix] = \"many:\"\n");
}
$master = proc_open([PHP_BINARY, '-n', '-r', 'cli_set_process_title("php-fpm: master process (" . $argv[1] . ")"); echo "\n"; sleep(60);', write_file('many.conf', "include=$folder/many/*.conf\ninclude=$folder/many/*\n")], [1 => ['pipe', 'w']], $pipes);
fgets($pipes[1]);
$result = command(['top', '--user', $user], '', [], $options);
preg_match('~ and (\d+) more pools\n~', $result['err'], $more);
check('a thousand files are read at most', str_contains($result['err'], 'the pool many') && ($more[1] ?? 0) > 900 && $more[1] < 1_000, $result);
proc_terminate($master, SIGKILL);
proc_close($master);

if (exec('id -u') !== '0') {
    skip('files and processes of other users', 'only root can make them');
    return;
}
// Root follows only what no other user can change: the pool's file, what stands beside it, the folders above them, and links on the way.
$ways = [
    'the file is the user\'s' => [fn () => chown($pool, 65534), "$pool belongs to nobody: chown root"],
    'the file may be written to' => [fn () => chmod($pool, 0o664), "$pool may be written to by others: chmod go-w"],
    'the folder is the user\'s' => [fn () => chown("$fpm/pool.d", 65534), "$fpm/pool.d belongs to nobody: chown root"],
    'the folder may be written to' => [fn () => chmod("$fpm/pool.d", 0o757), "$fpm/pool.d may be written to by others: chmod go-w"],
    'a folder above is the user\'s' => [fn () => chown($fpm, 65534), "$fpm belongs to nobody: chown root"],
    'php.ini is the user\'s' => [fn () => chown("$fpm/php.ini", 65534), "$fpm/php.ini belongs to nobody: chown root"],
    'php.ini may be written to' => [fn () => chmod("$fpm/php.ini", 0o646), "$fpm/php.ini may be written to by others: chmod go-w"],
    'conf.d may be written to' => [fn () => chmod("$fpm/conf.d", 0o777), "$fpm/conf.d may be written to by others: chmod go-w"],
    'a file of conf.d is a link to one that is the user\'s' => [
        fn () => symlink('../theirs/limits.ini', "$fpm/conf.d/60-link.ini") && chown("$folder/fpm/theirs/limits.ini", 65534),
        "$fpm/theirs/limits.ini belongs to nobody: chown root",
    ],
    'a file of conf.d leads through a folder that is the user\'s' => [
        fn () => symlink("$fpm/theirs/limits.ini", "$fpm/conf.d/60-link.ini") && chown("$folder/fpm/theirs", 65534),
        "$fpm/theirs belongs to nobody: chown root",
    ],
    'a link is the user\'s' => [
        fn () => symlink("$fpm/theirs/limits.ini", "$fpm/conf.d/60-link.ini") && lchown("$fpm/conf.d/60-link.ini", 65534),
        "$fpm/conf.d/60-link.ini belongs to nobody: chown root",
    ],
    'nobody else may change them' => [fn () => symlink("../theirs/limits.ini", "$fpm/conf.d/60-link.ini"), null],
    'a sticky folder above' => [fn () => chmod($fpm, 0o1777), null],
    // Whoever may make the file can do so between the look at it and its reading.
    'a sticky folder lacks the file' => [fn () => unlink($pool) && chmod("$fpm/pool.d", 0o1777), "$pool is not there, in a folder for all"],
    'a sticky folder lacks what a link in it names' => [
        fn () => unlink($pool) && symlink('other.conf', $pool) && chmod("$fpm/pool.d", 0o1777),
        "$fpm/pool.d/other.conf is not there, in a folder for all",
    ],
];
foreach ($ways as $name => [$change, $reason]) {
    foreach ([$fpm, "$fpm/conf.d", "$fpm/pool.d", "$fpm/theirs"] as $path) {
        is_dir($path) || mkdir($path);
        chown($path, 0);
        chmod($path, 0o755);
    }
    foreach (['theirs/limits.ini' => "token_bucket.lease = 7\n", 'php.ini' => "token_bucket.lease = 5\ntoken_bucket.prefix = \"ini:\"\n", 'pool.d/www.conf' => "[www]\nuser = $user\n"] as $file => $text) {
        @unlink("$fpm/$file");
        chmod(write_file("fpm/$file", $text), 0o644);
    }
    @unlink("$fpm/conf.d/60-link.ini");
    $change();
    $result = $of_pool(['status'], $pool);
    check("--pool as root: $name", $reason === null ? $result['code'] === 0 : $result['code'] === 1 && str_contains($result['err'], "root follows only what root alone may change, and $reason\n"), $result);
    // As the pool's own user, whose master and files these would be.
    $master = proc_open([PHP_BINARY, '-n', '-r', 'cli_set_process_title("php-fpm: master process (" . $argv[1] . ")"); echo "\n"; sleep(60);', $pool], [1 => ['pipe', 'w']], $pipes);
    fgets($pipes[1]);
    $result = command(['status', '--user', 'root'], '', [], $options);
    check(($reason === null ? 'a running pool is named' : 'no running pool is named') . ": $name", str_contains($result['err'], $pool) === ($reason === null), $result);
    proc_terminate($master, SIGKILL);
    proc_close($master);
}

// Anybody can call a process php-fpm.
$path = write_file('foreign.conf', "[foreign]\nuser = $user\nphp_admin_value[token_bucket.prefix] = \"foreign:\"\n");
$is_named = static function (string $path, string $user, string ...$words) use ($options): bool {
    // A set-user-id program that waits has root's id as effective one, and that of its caller as real one.
    $process = proc_open(['setpriv', ...$words, '--pdeathsig=KILL', 'bash', '-pc', "exec -a 'php-fpm: master process ($path)' sleep 60"], [], $pipes);
    $process_id = proc_get_status($process)['pid'];
    wait_until(static fn (): bool => str_contains((string) file_get_contents("/proc/$process_id/cmdline"), "php-fpm: master process ($path)"));
    $result = command(['top', '--user', $user], '', [], $options);
    proc_terminate($process, SIGKILL);
    return str_contains($result['err'], $path);
};
check("root's php-fpm is named", $is_named($path, 'root', '--reuid=0', '--clear-groups'));
check('a process of another user that is called so is not', !$is_named($path, 'root', '--reuid=65534', '--clear-groups'));
check('nor is one whose effective user alone is root', !$is_named($path, 'root', '--ruid=65534'));
check('nor is one whose effective user alone is another', !$is_named($path, 'root', '--euid=65534', '--clear-groups'));
// A command that root has begun trusts no process of the user that it has become.
if (exec('id -u nobody') === '65534') {
    $theirs = dirname(write_file('fpm/theirs/limits.ini', "[theirs]\nuser = nobody\nphp_admin_value[token_bucket.prefix] = \"theirs:\"\n"));
    chmod($folder, 0o755);
    chown($theirs, 65534);
    $path = "$theirs/limits.ini";
    check("a pool of the user's own is not recommended to root", !$is_named($path, 'nobody', '--reuid=65534', '--clear-groups'));
}
