<?php
declare(strict_types=1);

/* denials finds a client by the beginning of its identifier, with and without a limit's name, and says what it has searched. */

require __DIR__ . '/application.inc';

write_file('limits.ini', "[login]\nall = login_network login_pair\n[login_network]\nlimit = 100\ninterval = 900\n[login_pair]\nlimit = 1\ninterval = 900\n[idle]\nlimit = 1\ninterval = 900\n");
$result = run(['denials']);
check('an empty log is said to be empty', $result['code'] === 0 && $result['out'] === "No call was denied: under the prefix \"tb:\" the log is empty.\n", $result);

application('for ($i = 0; $i < 4; $i++) { limiter("login", ["127.0.0.9", "127.0.0.9 joe@example.org"])->consume(); limiter("login", ["::9", "2001:db8::1 eve"])->consume(); }');
foreach ([['login', '127.0.0.9'], ['login_pair', '127.0.0.9'], ['127.0.0.9'], ['login_pair:127.0.0.9'], ['127.0.0.9 joe@example.org'], ['2001:db8::1'], ['-']] as $words) {
    $result = run(['denials', ...$words], "127.0.0.9\n");
    check(implode(' ', $words) . ' finds the client', $result['code'] === 0
        && preg_match('~^.* UTC  login_pair +login_pair:(127\.0\.0\.9 joe@example\.org|2001:db8::1 eve) +3 times since .*: 1 in 15 min, used up\n$~', $result['out']) === 1, $result);
}
check('also as JSON', array_column(json('denials', '127.0.0.9'), 'count') === [3]);
$log = 'under the prefix "tb:" the log has 2 entries since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\.\n';
foreach ([
    [['login', '127.0.0.'], "No call of 127\\.0\\.0\\. was denied by login or login_network or login_pair: $log"],
    [['2001:db8:'], "No limit is called 2001:db8:\\. No call of 2001:db8: was denied: $log"],
    [['203.0.113.9'], "No call of 203\\.0\\.113\\.9 was denied: $log"],
    [['login_network', '127.0.0.9'], "No call of 127\\.0\\.0\\.9 was denied by login_network: {$log}Other limits have denied the client: login_pair\\.\n"],
    [['idle'], null],
] as [$words, $expected]) {
    $result = run(['denials', ...$words]);
    check(implode(' ', $words) . ' says what was searched', $expected === null ? $result['code'] === 1 && str_contains($result['err'], 'no call was counted for idle')
        : $result['code'] === 0 && preg_match("~^$expected$~", $result['out']) === 1, $result);
}
$result = run(['denials', 'logn_pair']);
check('a misspelt name is no client', $result['code'] === 1 && $result['err'] === "token-bucket: no limit and no denied client is logn_pair; did you mean login_pair?\n", $result);
$result = run(['denials', 'logn_pair', '127.0.0.9']);
check('beside a client it is a mistake', $result['code'] === 1 && str_contains($result['err'], 'no call was counted for logn_pair; did you mean login_pair?'), $result);

// What a denial came from.
application(<<<'PHP'
    @\TokenBucket::per('redis://127.0.0.1:1?on_error=closed', 'closed:x', 5, 300)->consume();
    foreach (['redis://127.0.0.1:1', 'shm:?enforce=0'] as $storage) {
        $limit = \TokenBucket::per($storage, ['shm:?enforce=0' => 'trial:x'][$storage] ?? 'fallback:x', 1, 300);
        @$limit->consume();
        @$limit->consume();
    }
    PHP);
foreach ([
    'closed' => '5 in 5 min, denied by on_error because the server failed',
    'fallback' => '1 in 5 min, used up, decided by this host because the server failed',
    'trial' => '1 in 5 min, used up; accepted because it is a dry run',
] as $name => $cause) {
    $result = run(['denials', $name]);
    check("the denial of $name says its cause", str_ends_with($result['out'], " once: $cause\n"), $result);
}

// README's login: the identifiers begin with another word than the limits' names.
application(<<<'PHP'
    $pair = \TokenBucket::per(null, 'enter:198.51.100.7 ann', 2, 300, 'enter_pair');
    $network = \TokenBucket::per(null, 'enter:198.51.100.7', 30, 300, 'enter_network');
    $ipv6 = \TokenBucket::per(null, 'enter:2001:db8::7:5 ann', 2, 300, 'enter_ipv6');
    for ($i = 0; $i < 7; $i++) { (new Compound($pair, $network))->attempt(); $ipv6->consume(); }
    PHP);
foreach ([['enter_pair', '198.51.100.7'], ['198.51.100.7'], ['enter_pair', '198.51.100.7 ann'], ['enter:198.51.100.7']] as $words) {
    $result = run(['denials', ...$words]);
    check(implode(' ', $words) . ' is found behind the first colon', $result['code'] === 0
        && preg_match('~^.* UTC  enter_pair +enter:198\.51\.100\.7 ann +5 times since .*: 2 in 5 min, used up\n$~', $result['out']) === 1, $result);
}
$result = run(['denials', 'enter_network', '198.51.100.7']);
check('a limit that has not denied it names the other', str_ends_with($result['out'], "Other limits have denied the client: enter_pair.\n"), $result);
$result = run(['denials', 'nosuch']);
check('a word that is no limit is said to be none', str_starts_with($result['out'], 'No limit is called nosuch. No call of nosuch was denied: '), $result);
$result = run(['denials', 'entre_network']);
check('a name near one of a limit in code is no client', $result['code'] === 1 && str_contains($result['err'], 'did you mean enter_network?'), $result);
check('the colons of an address end no client', json('denials', 'enter_ipv6', '2001:db8::7') === [] && count(json('denials', 'enter_ipv6', '2001:db8::7:5')) === 1);
check('nor does another byte', json('denials', '198.51.100.') === []);
