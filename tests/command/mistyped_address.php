<?php
declare(strict_types=1);

/* A client that is a mistyped address is not blocked without a word: a limit knows its clients by their texts alone. */

require __DIR__ . '/application.inc';

write_file('limits.ini', "[login]\nall = login_network login_pair\n[login_network]\nlimit = 5\ninterval = 900\n[login_pair]\nlimit = 2\ninterval = 900\n[plan]\nlimit = 1\ninterval = 900\n");

foreach (['127.0.0.300', '10.1.2', '192.0.2.1.7', '1.2.3.', '999.1.1.1/24', '2001:db8::/129x', '2001:db8::12345', 'fe80:::1', '2001:db8::1::2'] as $client) {
    $result = run(['block', 'login_network', $client, '1h']);
    $is_refused = !in_array($client, ['10.1.2', '2001:db8::/129x'], true);
    check("block $client is " . ($is_refused ? 'refused' : 'taken for a name'), $is_refused ? $result['code'] === 2 && $result['out'] === '' && str_contains($result['err'],
        "\"$client\" looks like an address and is none. If it is what the application passes, add --as-is\n") : $result['code'] === 0, $result);
}
check('nothing was blocked by that', array_column(json('status')['blocked'], 'identifier') === ['login_network:2001:db8::/129x', 'login_network:10.1.2']
    || array_column(json('status')['blocked'], 'identifier') === ['login_network:10.1.2', 'login_network:2001:db8::/129x'], json('status')['blocked']);
foreach ([['login_pair', '192.0.2.256 anna'], ['login', '192.0.2.256'], ['--identifier', 'search:192.0.2.256'], ['--identifier', '192.0.2.256']] as $words) {
    foreach (['block', 'unblock', 'peek', 'reset'] as $command) {
        $result = run([$command, ...$words, ...$command === 'block' ? ['60'] : []]);
        check("$command " . implode(' ', $words) . ' is refused', $result['code'] === 2 && str_contains($result['err'], '"192.0.2.256" looks like an address and is none'), $result);
    }
}
foreach (['192.0.2.1', '192.0.2.1 anna', '2001:db8:1:2::/64', '::1', '::ffff:192.0.2.1', 'fe80::1%eth0', 'unknown', 'anna', '4711', '12:34:56', 'aa:bb:cc:dd:ee:ff', '1.2.3', 'a.b.c.1', 'host1.example.org', '192.0.2.1,anna', '192.0.2.1/anna', 'https://anna.example/', 'App::Login', ''] as $client) {
    $result = run(['peek', '--identifier', "any:$client"]);
    check("\"$client\" is taken as it is", $result['code'] === 0, $result);
}

$result = run(['block', 'plan', '10.20.30.400', '60', '--as-is']);
check('--as-is blocks it', $result['code'] === 0 && str_starts_with($result['out'], 'plan 10.20.30.400: blocked for 1 min'), $result);
check('what is blocked is refused as well: an earlier mistake makes no later one right', run(['block', 'plan', '10.20.30.400', '60'])['code'] === 2);
check('--as-is unblocks it', run(['unblock', 'plan', '10.20.30.400', '--as-is'])['code'] === 0);
foreach (['192.0.2.l', 'l92.0.2.1', '192.O.2.I', '192.0.2.x/24', '192.0.2.*', '192.0,2.1', '192.0.2.1:4711', '[2001:db8::1]', '[2001:db8::1]:80', 'http://192.0.2.1/', 'https://[2001:db8::1]:80/x',
    '192.0.2.1,192.0.2.2', '192.0.2.1,', '192.0.2.1-192.0.2.9', '192.0.2.1-9', '192.0.2.1-9 anna', '2001:db8:1:2:/64', '2001:db8:1:2:3:4:5:66666'] as $client) {
    $result = run(['peek', 'plan', $client]);
    check("$client is refused", $result['code'] === 2 && str_contains($result['err'], '" looks like an address and is none. If it is what the application passes, add --as-is'), $result);
    check("and not with --as-is", run(['peek', 'plan', $client, '--as-is'])['code'] === 0);
}
foreach (['192.0.2.1 192.0.2.2', '192.0.2.1 - 192.0.2.2'] as $client) {
    check("$client is refused", str_contains(run(['peek', 'plan', $client])['err'], 'has two addresses; name one client'));
}
foreach ([' 192.0.2.1', '192.0.2.1 ', "anna\t"] as $client) {
    check("\"$client\" is refused", str_contains(run(['peek', 'plan', $client])['err'], '" begins or ends with a space'));
}
check('a whole identifier is an address with a port', run(['peek', '--identifier', '192.0.2.1:4711'])['code'] === 2);
$result = command(['limits', 'check', 'limits.ini', 'plan', '203.0.113.999']);
check('limits check refuses it as well', $result['code'] === 2 && str_contains($result['err'], '"203.0.113.999" looks like an address and is none. If it is'), $result);
check('and not with --as-is', command(['limits', 'check', 'limits.ini', 'plan', '203.0.113.999', '--as-is'])['code'] === 0);

// A limit that knows five addresses and nothing else has no other clients.
application('foreach ([1, 2, 3, 4, 5] as $i) { for ($n = 0; $n < 7; $n++) { \\TokenBucket::per(null, "search:192.0.2.$i", 5, 300)->consume(); \\TokenBucket::per(null, "user:" . ($n % 2 ? "anna$i" : "192.0.2.$i"), 1, 300)->consume(); } }');
run(['block', '--identifier', 'search:eve', '60', '--as-is']);
foreach (['192.0.2', 'anna'] as $client) {
    $result = run(['block', '--identifier', "search:$client", '60']);
    check("$client is refused where nearly all clients are addresses", $result['code'] === 2 && str_contains($result['err'], "\"$client\" is no address, and nearly all clients are that this limit has denied or blocked. If"), $result);
}
check('an address is not', run(['block', '--identifier', 'search:198.51.100.1', '60'])['code'] === 0);
check('nor the one that is blocked', run(['unblock', '--identifier', 'search:eve'])['code'] === 0);
check('nor a name where some clients are names', run(['block', '--identifier', 'user:eve', '60'])['code'] === 0);
