<?php
declare(strict_types=1);

/* Names that clients made up, which the command shows on a terminal. */

require __DIR__ . '/harness.inc';

mkdir("$folder/tables");
$options = ['-d', 'extension=' . getenv('EXTENSION'), '-d', "token_bucket.shm_path=$folder/tables"];
foreach (['posix', 'pcntl'] as $name) {
    if (is_file(ini_get('extension_dir') . "/$name.so")) {
        array_push($options, '-d', "extension=$name");
    }
}
$user = exec('id -un');

check('of no names none is near', command(['top', 'login', '--user', $user], '', [], $options)['err'] === "token-bucket: no call was counted for login\n");

// An identifier without a colon is the name of its own limit.
$script = write_file('count.php', '<?php foreach (["\x1b[2Jname", "\xffx\ny"] as $id) { (new TokenBucket(null, $id, 1, 1))->consume(); }');
exec(implode(' ', array_map('escapeshellarg', [...php($options), $script])));
foreach (['nosuch', "\x1b[2Jnam"] as $word) {
    $result = command(['top', $word, '--user', $user], '', [], $options);
    check('a suggestion has no control characters', $result['code'] === 1 && str_contains($result['err'], '\x1b[2Jname') && preg_match('~[^\x20-\x7e\n]|\ny~', $result['err']) === 0, $result);
}

// JSON, too, may be shown on a terminal.
$script = write_file('deny.php', '<?php $bucket = TokenBucket::per(null, "deny:\x7f\x1b[2J\u{202e}", 1, 3600); $bucket->consume(); $bucket->consume();');
exec(implode(' ', array_map('escapeshellarg', [...php($options), $script])));
$result = command(['denials', '--json', '--user', $user], '', [], $options);
check('JSON has no control characters', preg_match('~[^\x20-\x7e\n]~', $result['out']) === 0, $result);
check('and names the client', (json_decode($result['out'], true)[0]['identifier'] ?? null) === "deny:\x7f\x1b[2J\u{202e}", $result);
