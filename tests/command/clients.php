<?php
declare(strict_types=1);

/* Which line of the file of limits, or of a file of clients, is about a client: said by check, peek, top and block. */

require __DIR__ . '/application.inc';

$clients = write_file('clients.ini', "4711 = 1\nfar = none\n");
$limits = write_file('limits.ini', "[api]\nlimit = 5\ninterval = 60\nexcept = 10.0.0.0/8\nclients = clients.ini\n[all]\nlimit = 9\ninterval = 60\n[both]\nall = api all\n");

// check
$result = command(['limits', 'check', 'limits.ini']);
check('check counts the clients', preg_match("~^api +5 in 1 min, token_bucket, except 1, 2 clients by $clients$~m", $result['out']) === 1 && $result['code'] === 0, $result);
foreach (['10.1.2.3' => "exempt by $limits, line 4", '4711' => "1 by $clients, line 1", 'far' => "exempt by $clients, line 2", '192.0.2.1' => 'no line of its own'] as $client => $line) {
    check("check says which line is about $client", command(['limits', 'check', 'limits.ini', 'api', (string) $client])['out'] === "api $client: $line\n");
}
check('and of a set about each of its limits', command(['limits', 'check', 'limits.ini', 'both', '10.1.2.3'])['out'] === "api 10.1.2.3: exempt by $limits, line 4\nall 10.1.2.3: no line of its own\n");
check('also as JSON', json_decode(command(['limits', 'check', 'limits.ini', 'both', '10.1.2.3', '--json'])['out'], true) === ['api' => "exempt by $limits, line 4", 'all' => null]);
$result = command(['limits', 'check', 'limits.ini', 'apo', '4711']);
check('check says which limits there are', $result['code'] === 1 && str_contains($result['err'], 'has no limit "apo": must be one of all, api, both'), $result);
check('check takes a file, or also a limit and a client', command(['limits', 'check', 'limits.ini', 'api'])['code'] === 2);
chmod($clients, 0o666);
check('check warns of a file of clients that others may change', command(['limits', 'check', 'limits.ini'])['err'] === "$clients may be written to by others, who set the limits then: chmod go-w\n");
chmod($clients, 0o644);

// peek
check('peek tells that a client is exempt', run(['peek', 'api', '10.1.2.3'])['out'] === "api 10.1.2.3: exempt\napi: exempt by $limits, line 4\n", run(['peek', 'api', '10.1.2.3']));
check('peek tells whose numbers a client has', run(['peek', 'api', '4711'])['out'] === "api 4711: 1 of 1 left\napi: 1 by $clients, line 1\n");
check('peek says nothing of other clients', run(['peek', 'api', '192.0.2.1'])['out'] === "api 192.0.2.1: 5 of 5 left\n");
check('peek of a set says it of each limit', run(['peek', 'both', '10.1.2.3'])['out'] === "both 10.1.2.3: 9 of 9 left\napi: exempt by $limits, line 4\n");
check('also as JSON', json('peek', 'both', '10.1.2.3')['terms'] === ["api: exempt by $limits, line 4"] && json('peek', 'api', '192.0.2.1')['terms'] === []);

// top and status
application('foreach (["4711", "10.1.2.3"] as $client) { for ($i = 0; $i < 4; $i++) { limiter("api", $client)->consume(); } }');
check('top tells whose numbers a client has', preg_match("~^ +3  api +4711 +limited for .*, 1 by $clients, line 1$~m", run(['top'])['out']) === 1, run(['top']));
check('status counts the calls of exempt clients', preg_match('~^api +4 +3 +0 +0 +4$~m', run(['status'])['out']) === 1, run(['status']));
check('also as JSON', json('status')['limits']['api']['exempt'] === 4);
check('and says which clients there are', json('status')['named_limits']['api']['clients'] === ['path' => $clients, 'count' => 2] && json('status')['named_limits']['api']['except'] === 1);

// A block from before the exemption.
write_file('limits.ini', str_replace('except = 10.0.0.0/8', '; except', (string) file_get_contents($limits)));
run(['block', 'api', '10.9.9.9', '1h']);
write_file('limits.ini', str_replace('; except', 'except = 10.0.0.0/8', (string) file_get_contents($limits)));
check('status says which line exempts a client that was blocked before', preg_match("~^api +api:10\.9\.9\.9 +for .*, exempt by $limits, line 4$~m", run(['status'])['out']) === 1, run(['status']));

// block
$result = run(['block', 'api', '10.1.2.3', '1h']);
$refusal = "api 10.1.2.3: nothing has changed, because the client is exempt (api: exempt by $limits, line 4)";
check('a block of an exempt client is refused', $result['code'] === 1 && $result['out'] === '' && $result['err'] === "token-bucket: $refusal\n", $result);
foreach (['unblock', 'reset'] as $command) {
    $result = run([$command, 'api', '10.1.2.3']);
    check("so is $command", $result['code'] === 1 && $result['out'] === '' && str_contains($result['err'], $refusal), $result);
}
$result = run(['block', 'both', '10.1.2.3', '1h']);
check('of a set the other limits are blocked', $result['code'] === 0 && $result['out'] === "both 10.1.2.3: blocked for 1 h\n" && str_contains($result['err'], "the client stays exempt, api: exempt by $limits, line 4"), $result);
check('which deny then', run(['peek', 'both', '10.1.2.3'])['code'] === 1 && run(['peek', 'api', '10.1.2.3'])['code'] === 0);
