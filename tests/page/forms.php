<?php
/** Only a POST with the token of the same browser changes anything. */

declare(strict_types=1);

require __DIR__ . '/support.php';

/** Tells whether the client, which has used up its limit, is still denied. */
function is_denied(string $client): bool
{
    return call_limit('login_user', $client) === 0;
}

$client = 'form ' . bin2hex(random_bytes(4));
call_limit('login_user', $client, 6);
check('the client has used up its limit', is_denied($client));

$page = request('GET', 'change.php');
$secret = set_cookie($page, 'token_bucket_status');
preg_match('/name="token" value="([0-9a-f]{64})"/', $page->body, $parts);
$token = $parts[1] ?? '';
check('the page has a token and sets a cookie', $token !== '' && $secret !== null);
check('the token is not the cookie', $token !== $secret);
$cookies = $page->header('set-cookie');
check('its cookie is SameSite=Strict and HttpOnly', preg_match('/^.*; HttpOnly; SameSite=Strict$/D', $cookies) === 1, $cookies);

$reset = ['action' => 'reset', 'limit' => 'login_user', 'client' => $client];
$cookie = "Cookie: token_bucket_status=$secret";
$own_cookie = 'Cookie: token_bucket_status=' . str_repeat('a', 64);
$refused = [
    'without a token' => [$reset, [$cookie]],
    'with a wrong token' => [$reset + ['token' => str_repeat('0', 64)], [$cookie]],
    'with a token that is an array' => [$reset + ['token' => [$token]], [$cookie]],
    'with the token as cookie' => [$reset + ['token' => $token], ["Cookie: token_bucket_status=$token"]],
    'with the token of another browser' => [$reset + ['token' => $token], [$own_cookie]],
    'without the cookie' => [$reset + ['token' => $token], []],
    'with an empty cookie' => [$reset + ['token' => hash_hmac('sha256', '', '')], ['Cookie: token_bucket_status=']],
    'from another site' => [$reset + ['token' => $token], [$cookie, 'Sec-Fetch-Site: cross-site']],
    'from another host of the domain' => [$reset + ['token' => $token], [$cookie, 'Sec-Fetch-Site: same-site']],
    'from another origin' => [$reset + ['token' => $token], [$cookie, 'Origin: http://127.0.0.1:1']],
    'from no origin' => [$reset + ['token' => $token], [$cookie, 'Origin: null']],
];
foreach ($refused as $how => [$fields, $headers]) {
    $answer = request('POST', 'change.php', $fields, $headers);
    check("a POST $how answers 403", $answer->status === 403, (string) $answer->status);
    check("a POST $how says that nothing was changed", str_contains($answer->body, 'Nothing was changed'));
    check("a POST $how resets no client", is_denied($client));
}

$answer = request('POST', 'view.php', $reset + ['token' => $token], [$cookie]);
check("a POST to a page with 'view' answers 403", $answer->status === 403 && is_denied($client));

$block = ['action' => 'block', 'limit' => 'login_user', 'client' => "$client two", 'time' => 60];
$answer = change($block + ['token' => $token], [$cookie]);
check('a block that is not confirmed is a question', $answer->status === 200 && str_contains($answer->body, 'Block this client?'));
check('and blocks no client', call_limit('login_user', "$client two") === 1);

$changes = [$reset, $block + ['sure' => 'yes'], ['action' => 'reset_counts', 'sure' => 'yes']];
foreach ($changes as $fields) {
    $answer = request('GET', 'change.php?' . http_build_query($fields + ['token' => $token]), [], [$cookie]);
    check("a GET with action=$fields[action] shows the page", $answer->status === 200 && !str_contains($answer->body, 'id="notice"'));
}
check('a GET resets no client', is_denied($client));
check('a GET blocks no client', call_limit('login_user', "$client two") === 1);
check('a GET resets no counts', str_contains(request('GET', 'view.php')->body, $client));

call_limit('login_user', 'office', 9);
foreach (['block' => ['sure' => 'yes', 'time' => 60], 'reset' => [], 'unblock' => []] as $action => $fields) {
    $answer = change(['action' => $action, 'limit' => 'login_user', 'client' => 'office', 'token' => $token] + $fields, [$cookie]);
    check("$action of an exempt client says that nothing has changed", $answer->status === 422 && preg_match('~login_user office: nothing has changed, because the client is exempt \(login_user: exempt by .*limits\.ini, line \d+\)~', $answer->body) === 1, $answer->body);
}
check('its calls are counted beside the others', str_contains(request('GET', 'view.php')->body, 'and 9&nbsp;exempt') && call_limit('login_user', 'office') === 1);

// A mistyped address.
foreach (['login_user' => '127.0.0.300', 'in the code' => 'search:127.0.0.300 anna'] as $limit => $typed) {
    foreach (['reset', 'unblock'] as $action) {
        $answer = change(['action' => $action, 'limit' => $limit, 'client' => $typed, 'token' => $token], [$cookie]);
        check("$action of $typed is refused", $answer->status === 422 && str_contains($answer->body, '&quot;127.0.0.300&quot; looks like an address and is none.'), $answer->body);
    }
    $answer = change(['action' => 'block', 'limit' => $limit, 'client' => $typed, 'token' => $token], [$cookie]);
    check("block of $typed asks", $answer->status === 200 && str_contains($answer->body, 'Block this client?') && str_contains($answer->body, '&quot;127.0.0.300&quot; looks like an address and is none'), $answer->body);
    $known = ['limit' => $limit, 'client_base64' => base64_encode($typed), 'token' => $token];
    $answer = change(['action' => 'block', 'sure' => 'yes', 'time' => '60'] + $known, [$cookie]);
    check("confirming blocks $typed", $answer->status === 303 && str_contains($answer->body, 'Blocked:'), $answer->body);
    $answer = change(['action' => 'unblock', 'limit' => $limit, 'client' => $typed, 'token' => $token], [$cookie]);
    check("what is blocked is unblocked: $typed", $answer->status === 303 && str_contains($answer->body, 'Unblocked:'), $answer->body);
}
foreach (['192.0.2.l', '[2001:db8::1]:80', '192.0.2.1,192.0.2.2', ' 192.0.2.1', '192.0.2.1 192.0.2.2'] as $typed) {
    $answer = change(['action' => 'reset', 'limit' => 'login_user', 'client' => $typed, 'token' => $token], [$cookie]);
    check("reset of \"$typed\" is refused, as by the command", $answer->status === 422 && preg_match('~is none\.|two addresses|begins or ends with a space~', $answer->body) === 1, $answer->body);
}
foreach (['2001:db8::1' => 'block 2001:db8::/64 instead', '198.51.100.0/24' => 'use a firewall'] as $typed => $doubt) {
    $answer = change(['action' => 'block', 'limit' => 'login_user', 'client' => $typed, 'token' => $token], [$cookie]);
    check("the question of a block of $typed says what it does not do", str_contains($answer->body, 'Block this client?') && str_contains($answer->body, $doubt), $answer->body);
}
foreach (['login_user' => '192.0.2.5', 'in the code' => 'search:2001:db8::/64'] as $limit => $typed) {
    $answer = change(['action' => 'block', 'limit' => $limit, 'client' => $typed, 'token' => $token], [$cookie]);
    check("$typed is an address", str_contains($answer->body, 'Block this client?') && !str_contains($answer->body, 'is none') && !str_contains($answer->body, 'no address'));
}

$mistakes = [
    'an unknown action' => ['action' => 'drop'],
    'an unknown limit' => ['limit' => 'logn_user'],
    'no client' => ['client' => ''],
    'a client that is too long' => ['client' => str_repeat('x', 5000)],
    'a client that is no base64' => ['client_base64' => '???'],
    'a time that is a word' => ['action' => 'block', 'sure' => 'yes', 'time' => 'long'],
    'a time without a number' => ['action' => 'block', 'sure' => 'yes', 'time' => 'm'],
    'a time with two units' => ['action' => 'block', 'sure' => 'yes', 'time' => '1h30m'],
    'a negative time' => ['action' => 'block', 'sure' => 'yes', 'time' => '-1'],
    'a time that is too long' => ['action' => 'block', 'sure' => 'yes', 'time' => '1e300'],
    'an endless time' => ['action' => 'block', 'sure' => 'yes', 'time' => '1e999'],
    'a network that is not written as one' => ['client' => '192.0.2.5/24'],
    'a block of no client' => ['action' => 'block', 'client' => ''],
    'counts without the tick' => ['action' => 'reset_counts'],
];
foreach ($mistakes as $mistake => $fields) {
    $answer = change($fields + ['token' => $token] + $reset, [$cookie]);
    check("$mistake answers 422", $answer->status === 422, (string) $answer->status);
    check("$mistake gets a message", (bool) preg_match('/id="notice"[^>]*><strong>Nothing was changed:<.strong> ./', $answer->body));
    check("$mistake changes nothing", is_denied($client));
}

// What is right works, with and without what newer browsers send.
$accepted = [
    'with the token' => [],
    'from the same origin' => ['Sec-Fetch-Site: same-origin', 'Origin: ' . getenv('PAGE_URL')],
    'over plain HTTP' => ['Origin: ' . getenv('PAGE_URL')],
];
foreach ($accepted as $how => $headers) {
    call_limit('login_user', $client, 6);
    $answer = change($reset + ['token' => $token], [...$headers, $cookie]);
    check("a POST $how resets the client", $answer->status === 303 && call_limit('login_user', $client) === 1, (string) $answer->status);
}

// A block is listed until it is lifted, also that of a client that was never denied.
$listed = function (string $client): string {
    $section = strstr(strstr(request('GET', 'change.php?open=limited')->body, 'aria-labelledby="limited"'), '</section>', true);
    return preg_match('~<tr[^>]*>(?:(?!</tr>).)*' . preg_quote($client, '~') . '(?:(?!</tr>).)*</tr>~s', $section, $row) ? strip_tags(str_replace('&nbsp;', ' ', $row[0])) : '';
};
$never = 'never ' . bin2hex(random_bytes(4));
foreach (['90' => '1 min 30 s', '15m' => '15 min', ' 2 h ' => '2 h', '1d' => '1 d'] as $time => $shown) {
    change(['time' => (string) $time, 'client' => "$never $shown"] + $block + ['sure' => 'yes', 'token' => $token], [$cookie]);
    // Its last second may have begun.
    $row = $listed("$never $shown");
    check("a block of \"$time\" is listed", str_contains($row, "$never {$shown}login_userblocked$shown") || preg_match('/blocked\d+ (?:s|min|h) \d+/', $row) === 1, $row);
}
$unblock = ['action' => 'unblock', 'limit' => 'login_user', 'client' => "$never 2 h", 'token' => $token];
$answer = change($unblock, [$cookie]);
check('Unblock says that it lifted the block', str_contains($answer->body, '<strong>Unblocked:') && str_contains(strip_tags($answer->body), ': 5 of 5 left.'));
check('the client is listed no longer', $listed("$never 2 h") === '');
call_limit('login_user', "$never 2 h", 2);
$answer = change($unblock, [$cookie]);
check('the page says that a client was not blocked, and the client keeps its calls', str_contains($answer->body, '<strong>It was not blocked:') && str_contains(strip_tags($answer->body), ': 3 of 5 left.'));
$page = request('GET', 'view.php?open=limited')->body;
check('a page without buttons lists blocks, too', str_contains($page, "$never 1 d") && !str_contains($page, 'value="unblock"'));

// Any bytes are a client, and each worker knows the token.
$odd = "\xFF\0'\"<b>";
call_limit('login_user', $odd, 6);
for ($worker = 0; $worker < 12; $worker++) {
    $answer = change(['action' => 'block', 'sure' => 'yes', 'time' => '60', 'limit' => 'login_network', 'client' => "worker $worker", 'token' => $token], [$cookie]);
    check("request $worker blocks, whichever worker answers", $answer->status === 303 && call_limit('login_network', "worker $worker") === 0);
}
$answer = change(['action' => 'reset', 'limit' => 'login_user', 'client_base64' => base64_encode($odd), 'token' => $token], [$cookie]);
check('a client of any bytes is reset', $answer->status === 303 && call_limit('login_user', $odd) === 1);

$answer = change(['action' => 'reset', 'limit' => 'login_user', 'client' => str_repeat("\xFF", 4_000), 'token' => $token], [$cookie]);
check('a client as long as may be is no longer answer than nginx takes', $answer->status === 303 && str_contains($answer->body, 'Nothing was stored:'), (string) $answer->status);

// A limit in the code, whose login has blocked a client; a set of the file has its name.
$identifier = "login:$client 'code'";
check('the code has blocked the client', call_limit('', $identifier, 3, 300) === 0);
$page = request('GET', 'view.php')->body;
$shown = htmlspecialchars($identifier, ENT_QUOTES | ENT_HTML5);
check('the page lists the client as limited now', preg_match('~<section[^>]*aria-labelledby="limited.*' . preg_quote($shown, '~') . '.*<section[^>]*aria-labelledby="most-denied~s', $page) === 1);
preg_match_all('~^<tr[^>]*><th[^>]*><code><bdi>login</bdi></code></th>.*~m', $page, $rows);
check('the set and the limit in the code have one row', count($rows[0]) === 1 && preg_match('~all of .*and a limit .*in the code~', $rows[0][0]) === 1, implode(' | ', $rows[0]));
$in_code = ['limit' => 'in the code', 'client_base64' => base64_encode($identifier), 'token' => $token];
$answer = change(['action' => 'unblock'] + $in_code, [$cookie]);
check('Unblock lifts the block', str_contains($answer->body, '<strong>Unblocked:') && str_contains(strip_tags($answer->body), 'not blocked.') && call_limit('', $identifier) === 1, (string) $answer->status);
call_limit('', $identifier, 1, 300);
$answer = change(['action' => 'reset'] + $in_code, [$cookie]);
check('its reset does, too', str_contains($answer->body, '<strong>Reset:') && str_contains(strip_tags($answer->body), 'not blocked.') && call_limit('', $identifier) === 1, (string) $answer->status);
$answer = change(['action' => 'block', 'sure' => 'yes', 'time' => '60'] + $in_code, [$cookie]);
check('and it is blocked by hand', str_contains(strip_tags($answer->body), 'blocked for 1 min') && call_limit('', $identifier) === 0, (string) $answer->status);

$answer = change(['action' => 'block', 'sure' => 'yes', 'time' => '60', 'limit' => 'search', 'client' => 'dry', 'token' => $token], [$cookie]);
check('a block of a dry run is listed as one', str_contains($listed('dry'), 'dry run'), $listed('dry'));
check('a block of a dry run says that it does not deny', str_contains(strip_tags($answer->body), 'search dry: denied (dry run).') && call_limit('search', 'dry') === 1, strip_tags(strstr($answer->body, '<header')));
$answer = change(['action' => 'block', 'sure' => 'yes', 'time' => '60', 'limit' => 'export', 'client' => 'x', 'token' => $token], [$cookie]);
check('a change while the server is down says so', $answer->status === 503 && str_contains($answer->body, 'It is not known whether anything was changed') && str_contains($answer->body, 'The server did not confirm the change'), $answer->body);
check('and PHP\'s log says why', preg_match('~could not make a change: .*server~', file_get_contents(getenv('PAGE_FOLDER') . '/nginx.log')) === 1);
$answer = change(['action' => 'unblock', 'limit' => 'export', 'client' => 'x', 'token' => $token], [$cookie]);
check('no client is said to be unblocked while the server is down', $answer->status === 503 && !str_contains($answer->body, 'Unblocked'), $answer->body);
check('and is not listed: the server has not said that it blocks', !str_contains(request('GET', 'view.php?open=limited')->body, '<code><bdi>x</bdi></code>'));

$answer = change(['action' => 'block', 'sure' => 'yes', 'time' => '60', 'limit' => 'payment', 'client' => 'x', 'token' => $token], [$cookie]);
check('a change that a store may not have made is not reported as done', $answer->status === 503 && str_contains($answer->body, 'It is not known whether anything was changed'));

$answer = change(['action' => 'reset_counts', 'sure' => 'yes', 'token' => $token], [$cookie]);
// Blocked clients stay listed.
[, $most_denied] = explode('id="most-denied"', request('GET', 'view.php')->body);
check('the counts are reset', $answer->status === 303 && str_contains($answer->body, 'all counts are zero') && !str_contains($most_denied, $client), $most_denied);
