--TEST--
SharedMemoryStorage: directory and file get their modes whatever the umask; a directory of the user's own with other modes is corrected
--EXTENSIONS--
posix
--FILE--
<?php
$folder = sys_get_temp_dir() . '/token_bucket-umask.' . bin2hex(random_bytes(6));
mkdir($folder);
// Root may enter any directory: a user who may not takes its place. PHP and the extension may be where that one sees nothing.
[$as_user, $uid] = ['', posix_geteuid()];
if ($uid === 0) {
    ['uid' => $uid, 'gid' => $gid] = posix_getpwnam('nobody');
    $as_user = "setpriv --reuid $uid --regid $gid --clear-groups ";
    chown($folder, $uid);
}
preg_match('~ (/\S*token_bucket\S*\.so)$~m', file_get_contents('/proc/self/maps'), $found);
foreach (['token_bucket.so' => $found[1], 'php' => PHP_BINARY] as $name => $file) {
    copy($file, "$folder/$name");
    chmod("$folder/$name", 0755);
}
chmod($folder, 0755);

/** What a process of this umask says to a bucket of one, and the modes that there are afterwards. */
function ask(string $umask): string
{
    global $folder, $as_user, $uid;
    $code = "umask($umask);" . 'try { echo (int) @(new TokenBucket("shm:", "x", 1, 0.0001))->consume(); } catch (TokenBucket\StorageException $e) { echo $e->getMessage(); }';
    $answer = shell_exec("$as_user$folder/php -n -d extension=$folder/token_bucket.so -d token_bucket.shm_path=$folder -r " . escapeshellarg($code) . ' 2>&1');
    clearstatcache();
    $modes = array_map(fn (string $path): string => sprintf('%04o', @fileperms($path) & 07777), ["$folder/token_bucket-$uid", "$folder/token_bucket-$uid/default.v13"]);
    return "$answer, modes " . implode(' ', $modes);
}

foreach (['0177', '0777', '0277', '0'] as $umask) {
    echo "made under $umask: ", ask($umask), "; then: ", ask('022'), "\n";
    exec('rm -rf ' . escapeshellarg("$folder/token_bucket-$uid"));
}
foreach ([0600, 0, 0500, 0300] as $mode) {
    ask('022');
    chmod("$folder/token_bucket-$uid", $mode);
    printf("of mode %04o: %s\n", $mode, ask('022'));
    exec('chmod 700 ' . escapeshellarg("$folder/token_bucket-$uid") . ' && rm -rf ' . escapeshellarg("$folder/token_bucket-$uid"));
}
exec('rm -rf ' . escapeshellarg($folder));
?>
--EXPECT--
made under 0177: 1, modes 0700 0600; then: 0, modes 0700 0600
made under 0777: 1, modes 0700 0600; then: 0, modes 0700 0600
made under 0277: 1, modes 0700 0600; then: 0, modes 0700 0600
made under 0: 1, modes 0700 0600; then: 0, modes 0700 0600
of mode 0600: 0, modes 0700 0600
of mode 0000: 0, modes 0700 0600
of mode 0500: 0, modes 0700 0600
of mode 0300: 0, modes 0700 0600
