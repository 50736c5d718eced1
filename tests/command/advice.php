<?php
declare(strict_types=1);

/* The hints of the command: another prefix, an address for a network, a misspelt name, a broken file. */

require __DIR__ . '/application.inc';

const LIMITS = "[login]\nall = login_network login_user\n[login_network]\nlimit = 1\ninterval = 900\n[login_user]\nlimit = 2\ninterval = 900\n";
write_file('limits.ini', LIMITS);

// The counts are the pool's, under its prefix.
$site = static fn (string $prefix): string => "ini_set('token_bucket.prefix', " . var_export($prefix, true) . "); (new \\TokenBucket(null, 'mail:anna', 1, 0.001))->check();";
application($site('shop:') . '(new \TokenBucket(null, "mail:anna", 1, 0.001))->check();');
$pool = write_file('pool.conf', "[shop]\nphp_admin_value[token_bucket.prefix] = \$pool:\n");
$hint = "token-bucket: calls are also counted under the prefix \"shop:\"; this command shows \"tb:\". --pool FILE takes a pool's token_bucket.prefix\n";
foreach (['status', 'top', 'denials', 'top mail', 'denials mail', 'peek --identifier mail:anna', 'peek login_user anna', 'reset --identifier mail:anna', 'block login_user anna 1', 'status --json'] as $words) {
    $result = run(explode(' ', $words));
    check("$words finds nothing and names the other prefix", str_starts_with($result['err'], $hint), $result);
    check("$words --pool does not", !str_contains(run([...explode(' ', $words), "--pool=$pool"])['err'], 'prefix'));
}
run(['block', 'login_user', 'anna', '60']);
check('what is found needs no hint', run(['peek', 'login_user', 'anna'])['err'] === '' && run(['reset', 'login_user', 'anna'])['err'] === '');
application($site("\x1b[2J") . $site('c:') . $site('d:') . $site('tb:'));
$result = run(['reset', '--identifier', 'mail:eve']);
check('of many prefixes three are named, safely', preg_match('~^token-bucket: calls are also counted under the prefix ("[^"]*")(, "[^"]*"){2} and 1 more; ~', $result['err']) === 1
    && str_contains($result['err'], '"\x1b[2J"') && !str_contains($result['err'], "\x1b"), $result);

// A reset says whether there was anything.
application('(new \TokenBucket(null, "mail:bob", 9, 0.001))->consume(); limiter("login_user", "bob")->consume();');
foreach (['login_user bob', '--identifier mail:bob'] as $words) {
    $name = str_replace('--identifier ', '', $words);
    check("the first reset $words resets", run(['reset', ...explode(' ', $words)])['out'] === "$name: reset\n");
    $result = run(['reset', ...explode(' ', $words)]);
    check('the second has nothing to do', $result['code'] === 0 && $result['out'] === "$name: nothing was stored\n", $result);
    check('also as JSON', json('reset', ...explode(' ', $words))['stored'] === false);
}

// A limit by network knows no single IPv6 address.
foreach (['login_network 2001:db8:1:2::5', '--identifier login:2001:db8:1:2::5', '--identifier 2001:db8:1:2::5', 'login 2001:db8:1:2::5 anna'] as $words) {
    $result = run(['block', ...explode(' ', $words), '60']);
    check("block $words names the network", $result['code'] === 0 && str_contains($result['err'],
        "token-bucket: if the application limits by client_network(), this has no effect; block 2001:db8:1:2::/64 instead\n"), $result);
}
foreach (['login_network 192.0.2.1', 'login_network 2001:db8:1:2::/64', 'login_user anna', 'login_network 2001:db8:1:2::5 --network'] as $words) {
    check("block $words does not", !str_contains(run(['block', ...explode(' ', "$words 60")])['err'], 'client_network'));
}
// client_network() makes another network only if the application gives it the length.
foreach (['192.0.2.0/24' => 'client_network($address, ipv4Bits: 24)', '2001:db8::/48' => 'client_network($address, ipv6Bits: 48)'] as $network => $call) {
    foreach ([['login_network', $network], ['--identifier', "login:$network"]] as $words) {
        $result = run(['block', ...$words, '60', '--network']);
        check("block $words[0] $words[1] says which call makes such a client", $result['code'] === 0
            && str_starts_with($result['err'], "token-bucket: this blocks only a client that the application calls $network, by $call. To keep out the whole network, use a firewall\n"), $result);
        $result = run(['block', ...$words, '60']);
        check('without --network, too', $result['code'] === 2 && $result['out'] === '' && str_contains($result['err'],
            "$network is a client only if the application calls $call: add --network if it does.\nIf it does not, no limit can block this network: use a firewall\n"), $result);
    }
}

// A set is counted as its limits. The log knows milliseconds, and not those of TestClock.
application('foreach (["x", "y"] as $network) { limiter("login", [$network, "carl"])->consume(); } limiter("login_network", "y")->consume(); usleep(5000); limiter("login_user", "carl")->consume();');
$denied = static fn (string ...$words): array => array_column(json(...$words), 'identifier');
check('denials of a set are those of its limits, the latest first', $denied('denials', 'login') === ['login_user:carl', 'login_network:y'], $denied('denials', 'login'));
check('also of one client', $denied('denials', 'login', 'carl') === ['login_user:carl']);
application('(new \TokenBucket(null, "login:192.0.2.1", 1, 0.001))->check(); (new \TokenBucket(null, "login:192.0.2.1", 1, 0.001))->check();');
check('a limit in code may have the name of a set', $denied('denials', 'login', '192.0.2.1') === ['login:192.0.2.1']);
check('top of a set lists their clients', array_diff(['login_user:carl', 'login_network:y'], $denied('top', 'login')) === []);
$result = run(['denials', 'login_usr', 'carl']);
check('denials of a misspelt name say so', $result['code'] === 1 && str_contains($result['err'], 'no call was counted for login_usr; did you mean login_user?'), $result);
check('times are UTC', preg_match('~^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC  login_user ~', run(['denials', 'login_user'])['out']) === 1);

// A pool's mistakes, in the words of PHP.
$mistakes = [
    'token_bucket.storag] = shm:' => 'token_bucket.storag is not a directive and has no effect; did you mean token_bucket.storage?',
    'token_bucket.on_error] = fallbak' => 'token_bucket.on_error must be "fallback", "open", "closed" or "throw", "fallbak" given; ',
];
foreach ($mistakes as $line => $expected) {
    $result = run(['status', '--pool', write_file('pool.conf', "[shop]\nphp_value[$line\n")]);
    check("$line is explained", $result['code'] === 1 && str_starts_with($result['err'], "token-bucket: $folder/pool.conf: $expected"), $result);
}

write_file('limits.ini', LIMITS . "limit = five\n");
$result = run(['reset', 'login_user', 'bob']);
check('a broken file names the way without it', $result['code'] === 1 && str_ends_with($result['err'],
    "\n--identifier NAME:CLIENT reaches a client without the file, with --storage DSN if the limit is not on token_bucket.storage\n"), $result);
unlink($limits);
check('so does one that is gone', str_contains(run(['reset', 'login_user', 'bob'])['err'], '--identifier NAME:CLIENT'));
