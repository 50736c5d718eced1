<?php
declare(strict_types=1);

/* What is blocked is listed, for times that a person writes, and unblocked. */

require __DIR__ . '/application.inc';

write_file('limits.ini', "[login]\nall = login_network login_user\n[login_network]\nlimit = 5\ninterval = 900\n[login_user]\nalgorithm = leaky_bucket\nlimit = 2\ninterval = 900\n[trial]\nlimit = 5\ninterval = 9\nenforce = off\n[far]\nlimit = 5\ninterval = 60\nstorage = \"redis://:s3cret@127.0.0.1:1\"\n");

check('top says that none is blocked', run(['top'])['out'] === "No client was denied, and none is blocked.\n");
check('status says nothing of blocks', !str_contains(run(['status'])['out'], 'blocked'));

// Times as a person writes them.
foreach (['90' => '1 min 30 s', '0.5' => '0.5 s', '30s' => '30 s', '15m' => '15 min', '15min' => '15 min', '2h' => '2 h', '1.5h' => '1 h 30 min', '1d' => '1 d'] as $time => $shown) {
    check("block for $time is for $shown", run(['block', 'login_user', "anna $time", (string) $time])['out'] === "login_user anna $time: blocked for $shown\n");
}
foreach (['', 'm', '15x', '15M', '1h30m', 'an hour', '1w', "5\x1b[2Jm"] as $time) {
    $result = run(['block', 'login_user', 'bob', $time]);
    check("block for \"$time\" says what would be right", $result['code'] === 2 && $result['out'] === '' && !str_contains($result['err'], "\x1b")
        && str_contains($result['err'], 'TIME must be a number of seconds, or one with s, m, h or d, such as 90, 15m, 2h or 1d; it is "'), $result);
}
foreach (['0', '0h', '1462d'] as $time) {
    $result = run(['block', 'login_user', 'bob', $time]);
    check("block for $time says the range", $result['code'] === 2 && str_contains($result['err'], 'TIME must be greater than 0 and at most four years'), $result);
}
check('a mistake blocks nobody', run(['peek', 'login_user', 'bob'])['code'] === 0);
check('a block of four years is in range', run(['block', 'login_user', 'long', '1461d'])['code'] === 0);
run(['unblock', 'login_user', 'long']);

// The block of a client that was never denied.
run(['block', 'login_network', '127.0.0.77', '3600']);
$result = run(['top']);
check('top lists it', preg_match('~^ +0  login_network +127\.0\.0\.77 +blocked for (1 h|59 min 5\d s)$~m', $result['out']) === 1, $result);
$result = run(['top', 'login']);
check('also of its set alone', str_contains($result['out'], '127.0.0.77'), $result);
check('and not of another limit', !str_contains(run(['top', 'login_user'])['out'], '127.0.0.77'));
$result = run(['status']);
check('status lists it', preg_match('~\nblocked\n(.*\n)*login_network +login_network:127\.0\.0\.77 +for (1 h|59 min 5\d s)\n~', $result['out']) === 1, $result);
$status = json('status');
check('also as JSON', in_array(['login_network', 'login_network:127.0.0.77', 'token_bucket', true], array_map(static fn (array $block): array => array_values(array_slice($block, 0, 4)), $status['blocked']), true), $status['blocked']);
$rows = array_column(json('top'), null, 'client');
check('top tells it as JSON', $rows['127.0.0.77']['blocked_seconds'] > 3500 && $rows['127.0.0.77']['denied'] === 0 && $rows['127.0.0.77']['in_code'] === false, $rows['127.0.0.77']);
application('limiter("login_network", "127.0.0.77")->consume(); (new SlidingWindow(null, "api:x", 1, 60))->block(600);');
check('a client that was denied, too, is listed once', preg_match_all('~127\.0\.0\.77~', run(['top'])['out']) === 1 && str_contains(run(['top'])['out'], ' 1  login_network '));
check('a block by the code is listed', preg_match('~^ +0  api +api:x +blocked for ~m', run(['top'])['out']) === 1, run(['top']));
check('of few lines those that are blocked are not left out', preg_match_all('~blocked for~', run(['top', '--count', '1'])['out']) === 2, run(['top', '--count', '1']));

// Of each identifier once, however many limits are blocked under it.
run(['block', '--identifier', 'mail:anna', '1h']);
check('an identifier is listed once', preg_match_all('~mail:anna~', run(['status'])['out']) === 1 && preg_match_all('~mail:anna~', run(['top', 'mail'])['out']) === 1);

// Unblock.
application('times(2, limiter("login_user", "eve")->consume(...)); function times($n, $call) { while ($n--) { $call(); } }');
$result = run(['unblock', 'login_user', 'eve']);
check('a client that was not blocked is told so', $result['code'] === 0 && str_starts_with($result['out'], 'login_user eve: was not blocked, but is denied for '), $result);
check('and keeps its counts', str_contains(run(['peek', 'login_user', 'eve'])['out'], 'denied'));
$result = run(['unblock', 'login_network', '127.0.0.77']);
check('unblock says what it did', preg_match("~^login_network 127\.0\.0\.77: unblocked, (1 h|59 min [45]\d s) before the block's end\n$~", $result['out']) === 1 && $result['err'] === '', $result);
check('the client is accepted', run(['peek', 'login_network', '127.0.0.77'])['out'] === "login_network 127.0.0.77: 5 of 5 left\n");
check('and listed no longer', !str_contains(run(['top'])['out'] . run(['status'])['out'], 'login_network:127.0.0.77'));
run(['block', 'login', 'net', 'carl', '15m']);
run(['reset', 'login_network', 'net']);
application('limiter("login_network", "net")->consume();');
$result = run(['unblock', 'login', 'net', 'carl']);
check('of a set the limits that are blocked are unblocked', str_starts_with($result['out'], 'login (login_network net; login_user carl): unblocked, ') && run(['peek', 'login_user', 'carl'])['out'] === "login_user carl: 2 of 2 left\n"
    && run(['peek', 'login_network', 'net'])['out'] === "login_network net: 4 of 5 left\n", $result);
foreach (['peek' => '2 of 2 left', 'block' => 'blocked for 1 min', 'reset' => 'reset'] as $command => $answer) {
    $result = run([$command, 'login', 'carl', 'net', ...$command === 'block' ? ['1m'] : []]);
    check("$command of a set shows which limit got which client, also in another order than the file's", $result['out'] === "login (login_network carl; login_user net): $answer\n", $result);
}
run(['unblock', '--identifier', 'mail:anna']);
check('an identifier is unblocked under each algorithm', run(['peek', '--identifier', 'mail:anna'])['code'] === 0 && !str_contains(run(['status'])['out'], 'mail:anna'));
run(['block', 'trial', 'x', '60']);
check('a block of a dry run is unblocked, too', json('unblock', 'trial', 'x')['was_blocked'] === true && json('unblock', 'trial', 'x') === ['unblocked' => 'trial x', 'was_blocked' => false, 'seconds' => null, 'others' => []]);

application('for ($i = 0; $i < 9; $i++) { limiter("login_network", "spent")->consume(); }');
$result = run(['unblock', 'login_network', 'spent']);
check('a client that is denied and not blocked needs reset', preg_match('~^login_network spent: was not blocked, but is denied for \d.*: token-bucket reset forgets its calls\n$~', $result['out']) === 1, $result);
run(['reset', 'login_network', 'spent']);
check('after which nothing denies it', run(['unblock', 'login_network', 'spent'])['out'] === "login_network spent: was not blocked\n");

// Another limit under the same identifier.
application('(new SlidingWindow(null, "login_user:dora", 1, 60))->block(600); (new FixedWindow("shm:other", "login_user:fred", 1, 60))->block(600);');
$result = run(['unblock', 'login_user', 'dora']);
check('unblock tells of a limit in code', str_starts_with($result['out'], "login_user dora: was not blocked\nAnother limit, in code: login_user:dora, sliding window: blocked for "), $result);
$result = run(['unblock', 'login_user', 'fred']);
check('also of one on another storage', str_contains($result['err'], 'token-bucket: login_user:fred is blocked by a limit in code, on another storage: name it by --identifier and --storage'), $result);
check('which is named so', str_starts_with(run(['unblock', '--identifier', 'login_user:fred', '--storage', 'shm:other'])['out'], 'login_user:fred: unblocked, '));
check('top tells a limit in code from that of the file', preg_match('~^ +0  login_user +login_user:dora +blocked for ~m', run(['top'])['out']) === 1, run(['top']));

check('permits cannot be unblocked', str_contains(run(['unblock', '--identifier', 'a:b', '--algorithm', 'concurrency'])['err'], 'permits cannot be blocked'));
check('no password is shown', !str_contains(json_encode(json('status')) . run(['status'])['out'] . run(['unblock', 'far', 'x'])['err'], 's3cret'));

// Many blocks.
application('for ($i = 0; $i < 30; $i++) { (new FixedWindow(null, "many:$i", 1, 60))->block(900); }');
$result = run(['status']);
check('status shows the twenty that last longest', preg_match_all('~^many +many:\d+ +for ~m', $result['out']) < 20 && preg_match('~^and \d+ more: --json has all$~m', $result['out']) === 1, $result);
check('the help fits', max(array_map('strlen', explode("\n", run(['unblock', '--help'])['out'] . run(['top', '--help'])['out'] . run(['block', '--help'])['out'] . command(['--help'])['out']))) <= 80);

// A name can be copied: it is never cut.
$long = 'a_limit_with_a_long_name_of_forty_bytes_';
application("\$limit = \\TokenBucket::per(null, '$long:someone.with.a.long.name@mail.example.org', 1, 900); for (\$i = 0; \$i < 9; \$i++) { \$limit->consume(); } \$limit->block(9000); \$limit->consume();");
foreach (['status' => 2, 'top' => 1, 'denials' => 2] as $command => $lines) {
    $result = run([$command]);
    check("$command shows long names whole", preg_match_all("~\\b$long ~", $result['out']) >= $lines && str_contains($result['out'], "$long:someone.with.a.long.name@mail.example.org "), $result);
}
