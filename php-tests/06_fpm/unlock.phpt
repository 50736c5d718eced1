--TEST--
php-fpm: examples/unlock.php mails a link to a user who is denied, whose button lifts the denial on the device that is denied, and tells nobody which users exist
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/fpm.inc';

$mails = sys_get_temp_dir() . '/token_bucket-mails.' . bin2hex(random_bytes(6));
register_shutdown_function(fn () => @unlink($mails));
$fpm = new Fpm(['www' => ['env[LOGIN_KEY]' => 'a-key-for-a-test', 'php_admin_value[sendmail_path]' => "\"/bin/cat >>$mails\""]]);
foreach (['login', 'unlock'] as $page) {
    $fpm->script("$page.php", file_get_contents(dirname(__DIR__, 2) . "/examples/$page.php"));
}

/** What a page says to a client, without its form. */
function say(string $page, string $address, array $get, array $post): string
{
    global $fpm;
    $answer = $fpm->request('www', "$page.php", $get, http_build_query($post), [
        'REMOTE_ADDR' => $address,
    ] + ($post === [] ? [] : ['REQUEST_METHOD' => 'POST', 'CONTENT_TYPE' => 'application/x-www-form-urlencoded']));
    preg_match('~<p>(.*)</p>~', $answer->body, $message);
    preg_match_all('~name="(\w+)" value="([^"]+)"~', $answer->body, $GLOBALS['hidden']);
    return "$answer->status $message[1]";
}
/** The query of the mail that came last, once there are so many. */
function mailed(int $count): array
{
    global $mails;
    wait_until(function () use ($mails, $count, &$links): bool {
        return preg_match_all('~^http://127\.0\.0\.1:8080/unlock\.php\?(.+)$~m', (string) @file_get_contents($mails), $links) === $count;
    });
    parse_str(trim(end($links[1])), $query);
    return $query;
}

$right = ['user' => 'joe', 'password' => 'secret'];
for ($i = 0; $i < 6; $i++) {
    say('login', '192.0.2.1', [], ['user' => 'joe', 'password' => 'guess']);
}
echo 'denied: ', say('login', '192.0.2.1', [], $right), "\n";
echo 'the form: ', say('unlock', '192.0.2.1', [], []), "\n";
echo 'a user: ', say('unlock', '192.0.2.1', [], ['user' => ' Joe']), "\n";
$query = mailed(1);
echo 'another: ', say('unlock', '192.0.2.1', [], ['user' => 'nobody']), "\n";
echo 'the link: ', say('unlock', '192.0.2.9', $query, []), "\n";
$post = array_combine($hidden[1], $hidden[2]);
echo 'it is opened only: ', say('login', '192.0.2.1', [], $right), "\n";
echo 'elsewhere: ', say('unlock', '192.0.2.9', [], $post), "\n";
echo 'for another user: ', say('unlock', '192.0.2.1', [], ['user' => 'nobody'] + $post), "\n";
echo 'where it is denied: ', say('unlock', '192.0.2.1', [], $post), "\n";
echo 'again: ', say('unlock', '192.0.2.1', [], $post), "\n";
echo 'the login: ', say('login', '192.0.2.1', [], $right), "\n";
$said = array_map(fn (): string => say('unlock', '192.0.2.1', [], ['user' => 'joe']), range(1, 3));
mailed(3);
echo 'a fourth mail: ', json_encode(array_values(array_unique($said))), ', mails: ', substr_count(file_get_contents($mails), 'Subject: '), "\n";
?>
--EXPECT--
denied: 429 Too many attempts. Please wait a moment.
the form: 200 Your login is denied? Ask for a link by mail.
a user: 200 If there is such a user, a mail with a link is on its way. Open it on this device.
another: 200 If there is such a user, a mail with a link is on its way. Open it on this device.
the link: 200 <b>Press this on the device that was denied, in the same network.</b>
it is opened only: 429 Too many attempts. Please wait a moment.
elsewhere: 200 <b>Nothing was lifted, for you are not denied here. Open the link on the device that is denied: it is still valid.</b>
for another user: 200 <b>This link has been used, or is too old.</b>
where it is denied: 200 <b>You may log in again: your failed attempts from this network are forgiven.</b>
again: 200 <b>This link has been used, or is too old.</b>
the login: 200 Welcome.
a fourth mail: ["200 If there is such a user, a mail with a link is on its way. Open it on this device."], mails: 3
