--TEST--
dl() loads the extension; where functions of these names are there, the stand-in's or a program's own, PHP refuses it and goes on
--FILE--
<?php
preg_match('~ (/\S*token_bucket\S*\.so)$~m', file_get_contents('/proc/self/maps'), $found);
$folder = ini_get('token_bucket.shm_path');

/** What a PHP without the extension prints, and how it ends. */
function run(string $code): void
{
    global $found, $folder;
    [$directory, $name] = [dirname($found[1]), basename($found[1])];
    $php = escapeshellarg(PHP_BINARY) . " -n -d enable_dl=1 -d display_errors=0 -d log_errors=0 -d extension_dir=$directory -d token_bucket.shm_path=$folder -r ";
    exec($php . escapeshellarg(str_replace('LOADED', "@dl('$name')", $code)) . ' 2>&1', $output, $status);
    echo implode("\n", $output), "\nstatus $status\n";
}

run('var_dump(LOADED, (new TokenBucket("shm:dl", "x", 1, 0.0001))->consume(), (new TokenBucket("shm:dl", "x", 1, 0.0001))->consume());');
run('namespace TokenBucket; function status() { } var_dump(LOADED);');
$stand_in = var_export(dirname(__DIR__, 2) . '/integrations/stand-in/stand-in.php', true);
run("require $stand_in; var_dump(LOADED, (new TokenBucket('array:', 'x', 1, 1))->consume());");
?>
--EXPECT--
bool(true)
bool(true)
bool(false)
status 0
bool(false)
status 0
bool(false)
bool(true)
status 0
