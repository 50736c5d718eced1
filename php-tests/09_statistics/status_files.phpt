--TEST--
status() lists the tables of the folder, names those that cannot be used, and makes no file while another process removes one
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.shm_size=64K
--FILE--
<?php
use function TokenBucket\{prometheus, status};
require dirname(__DIR__) . '/utils.inc';
require_once dirname(__DIR__) . '/base.inc';
run_apart(__FILE__);

$permit = (new TokenBucket\ConcurrencyLimit(null, 'report', 2))->acquire();
(new TokenBucket(null, 'x', 1, 0.001))->consume();
$folder = ini_get('token_bucket.shm_path') . '/token_bucket-' . posix_geteuid();
umask(077);
$names = fn (): string => json_encode(array_map(fn (array $table): string => "$table[name] $table[holds] $table[used]", status()['tables']));
echo $names(), "\n";

// A table of permits that comes and goes while two processes ask.
$file = "$folder/default.permits.v13";
rename($file, "$folder/kept");
$children = [];
for ($i = 0; $i < 2; $i++) {
    if (($children[$i] = pcntl_fork()) === 0) {
        for ($end = hrtime(true) + 1e9; hrtime(true) < $end;) {
            status();
        }
        posix_kill(getmypid(), SIGKILL);
    }
}
$made = 0;
seed_chance();
foreach ($children as $child) {
    while (pcntl_waitpid($child, $status, WNOHANG) === 0) {
        copy("$folder/kept", "$folder/copy");
        rename("$folder/copy", $file);
        usleep(mt_rand(0, 300));
        unlink($file);
        usleep(mt_rand(0, 300));
        clearstatcache();
        $made += (int) file_exists($file);
    }
}
echo "$made files made\n";
rename("$folder/kept", $file);

// What is no table.
foreach (["\e[31mred.v13", "two\nlines.v13", '.v13', '.permits.v13', 'a.b.v13', 'a b.v13', str_repeat('a', 65) . '.v13', "\xff.v13", 'default.v3'] as $name) {
    copy("$folder/default.v13", "$folder/$name");
}
file_put_contents("$folder/empty.v13", '');
file_put_contents("$folder/random.v13", random_bytes(1 << 17));
file_put_contents("$folder/zeros.permits.v13", str_repeat("\0", 1 << 20));
mkdir("$folder/folder.v13");
posix_mkfifo("$folder/fifo.v13", 0600);
symlink('default.v13', "$folder/link.v13");
symlink("$folder/nothing.v13", "$folder/dangling.v13");
copy("$folder/default.v13", "$folder/shown.v13");
chmod("$folder/shown.v13", 0644);
echo $names(), ' ', preg_match_all('/^token_bucket_table_slots\{/m', prometheus()), "\n";
foreach (status()['shared_memory_errors'] as $error) {
    echo str_replace("$folder/", '', $error), "\n";
}
?>
--EXPECT--
["default buckets 1","default permits 1"]
0 files made
["default buckets 1","default permits 1"] 2
Shared memory dangling.v13 is a symbolic link; remove it
Shared memory fifo.v13 is not a regular file; remove it
Cannot open shared memory folder.v13: Is a directory (os error 21)
Shared memory link.v13 is a symbolic link; remove it
Shared memory shown.v13 is open to other users; remove it
