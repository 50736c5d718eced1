--TEST--
php-fpm: unlock.php of examples/known_browsers mails a link to a user who is denied; the browser that uses it may log in while an attack goes on there; no answer tells which users exist
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/fpm.inc';

$mails = sys_get_temp_dir() . '/token_bucket-mails.' . bin2hex(random_bytes(6));
register_shutdown_function(fn () => @unlink($mails));
$fpm = new Fpm(['www' => ['env[LOGIN_KEY]' => 'a-key-for-a-test', 'php_admin_value[sendmail_path]' => "\"/bin/sleep 2; /bin/cat >>$mails\""]]);
foreach (['accounts', 'login', 'unlock'] as $page) {
    $fpm->script("$page.php", file_get_contents(dirname(__DIR__, 2) . "/examples/known_browsers/$page.php"));
}

/** What a page says to a client, without its form. */
function say(string $page, string $address, array $get, array $post, string $cookie = '', array $headers = []): string
{
    global $fpm, $given;
    $answer = $fpm->request('www', "$page.php", $get, http_build_query($post), [
        'REMOTE_ADDR' => $address,
        'HTTP_COOKIE' => $cookie,
    ] + $headers + ($post === [] ? [] : ['REQUEST_METHOD' => 'POST', 'CONTENT_TYPE' => 'application/x-www-form-urlencoded']));
    $given = urldecode(strtok($answer->headers['set-cookie'] ?? '', ';'));
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
$hash = '$2y$04$yn0s5JabOxVUF17KE.EzEe4CY.j.GinC90LNl.DjnnCk.wlTzHHJm';
$signature = fn (string $purpose, string $ticket, string $hash): string => hash_hmac('sha256', json_encode([$purpose, $ticket, 'joe', $hash]), 'a-key-for-a-test');
$attack = fn (int $count): array => array_count_values(array_map(fn (): string => substr(say('login', '192.0.2.1', [], ['user' => 'joe', 'password' => 'guess']), 0, 3), range(1, $count)));
echo 'an attack: ', json_encode($attack(8)), "\n";
echo 'denied: ', say('login', '192.0.2.1', [], $right), "\n";
echo 'the form: ', say('unlock', '192.0.2.1', [], []), "\n";
$begin = microtime(true);
echo 'a user: ', say('unlock', '192.0.2.1', [], ['user' => ' Joe']), "\n";
$took = microtime(true) - $begin;
$query = mailed(1);
// Sending takes two seconds, which the answer does not wait for.
echo 'the answer comes ', $took < microtime(true) - $begin - 0.5 ? 'before' : 'after', " the mail\n";
echo 'another: ', say('unlock', '192.0.2.1', [], ['user' => 'nobody']), "\n";
echo 'the link: ', say('unlock', '192.0.2.1', $query, []), $given, "\n";
$post = array_combine($hidden[1], $hidden[2]);
echo 'by a page of another site: ', say('unlock', '192.0.2.1', [], $post, '', ['HTTP_HOST' => 'a.example', 'HTTP_ORIGIN' => 'https://b.example']), "\n";
$wrong = [
    'forged' => ['signature' => str_repeat('0', 64)], 'prolonged' => ['ticket' => "9$query[ticket]"], 'for another user' => ['user' => 'nobody'],
    'too late' => ['ticket' => $late = time() - 1 . '-0e9a0e9a0e9a0e9a', 'signature' => $signature('unlock', $late, $hash)],
    'of an earlier password' => ['signature' => $signature('unlock', $query['ticket'], 'x')], 'a cookie of the browser' => ['signature' => $signature('browser', $query['ticket'], $hash)],
    'a list' => ['ticket' => [$query['ticket']]],
];
foreach ($wrong as $what => $fields) {
    echo "$what: ", say('unlock', '192.0.2.1', [], $fields + $post), $given, "\n";
}
echo 'used: ', say('unlock', '192.0.2.1', [], $post, '', ['HTTP_HOST' => 'a.example', 'HTTP_ORIGIN' => 'https://a.example']), "\n";
$cookie = $given;
echo 'again: ', say('unlock', '192.0.2.1', [], $post), $given, "\n";
echo 'the attack goes on: ', json_encode($attack(8)), "\n";
echo 'mistyped: ', say('login', '192.0.2.1', [], ['password' => 'x'] + $right, $cookie), "\n";
echo 'the login: ', say('login', '192.0.2.1', [], $right, $cookie), "\n";
echo 'in another browser: ', say('login', '192.0.2.1', [], $right), "\n";
// A network may ask for ten, of which the unknown users' are none.
$fpm->script('left.php', '<?php echo (new TokenBucket\SlidingWindow(null, "unlock-mail-user:joe", 3, 3600))->peek()->getRemainingTokens();');
array_map(fn (int $i): string => say('unlock', '192.0.2.7', [], ['user' => "user$i"]), range(1, 10));
say('unlock', '192.0.2.7', [], ['user' => 'joe']);
echo 'once a network has asked for ten, joe has left: ', $fpm->request('www', 'left.php')->body, "\n";
$said = array_map(fn (): string => say('unlock', '192.0.2.1', [], ['user' => 'joe']), range(1, 3));
mailed(3);
echo 'a fourth mail: ', json_encode(array_values(array_unique($said))), ', mails: ', substr_count(file_get_contents($mails), 'Subject: '), "\n";
?>
--EXPECT--
an attack: {"403":5,"429":3}
denied: 429 Too many attempts. Please wait a moment.
the form: 200 Your login is denied? Ask for a link by mail.
a user: 200 If there is such a user, a mail with a link is on its way.
the answer comes before the mail
another: 200 If there is such a user, a mail with a link is on its way.
the link: 200 <b>Press this in the browser in which you want to log in as joe.</b>
by a page of another site: 403 Please ask on this page.
forged: 200 <b>This link has been used, or is too old.</b>
prolonged: 200 <b>This link has been used, or is too old.</b>
for another user: 200 <b>This link has been used, or is too old.</b>
too late: 200 <b>This link has been used, or is too old.</b>
of an earlier password: 200 <b>This link has been used, or is too old.</b>
a cookie of the browser: 200 <b>This link has been used, or is too old.</b>
a list: 200 <b>This link has been used, or is too old.</b>
used: 200 <b>You may <a href="login.php">log in</a> now, in this browser.</b>
again: 200 <b>This link has been used, or is too old.</b>
the attack goes on: {"429":8}
mistyped: 403 There is no such user, or that is not the password.
the login: 200 Welcome.
in another browser: 429 Too many attempts. Please wait a moment.
once a network has asked for ten, joe has left: 2
a fourth mail: ["200 If there is such a user, a mail with a link is on its way."], mails: 3
