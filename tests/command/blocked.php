<?php
declare(strict_types=1);

/* The clients that go on while they are blocked are listed for a firewall, and nothing else is, whatever clients write. */

require __DIR__ . '/application.inc';
load_command_classes();

use TokenBucket\Command\Network;
use TokenBucket\Command\NeverList;

write_file('limits.ini', implode('', array_map(static fn (string $name): string => "[$name]\nlimit = 1\ninterval = 900\n", ['search', 'login', 'raw', 'order'])) . <<<'INI'
    [busy]
    limit = 5
    interval = 900
    leave = 3
    [trial]
    limit = 1
    interval = 900
    enforce = off
    [set]
    all = search login
    [reports]
    algorithm = concurrency
    limit = 1
    lifetime = 9
    [shared]
    like = login
    [far]
    limit = 1
    interval = 900
    storage = "redis://127.0.0.1:1?on_error=closed"
    INI);

/** Blocks a client of a named limit for a time, after which it calls so often. */
function blocked(string $name, string $client, int $calls, float $seconds = 90): void
{
    application('$limit = limiter(' . var_export($name, true) . ', ' . var_export($client, true) . "); \$limit->block($seconds); for (\$i = 0; \$i < $calls; \$i++) { \$limit->consume(); }");
}
/** @return list<string> the clients that are listed */
function listed(string ...$words): array
{
    return array_map(static fn (string $line): string => strtok($line, ' '), array_filter(explode("\n", run(['blocked', ...$words])['out'])));
}

$result = run(['blocked', 'search']);
check('a limit without a denial blocks nobody', $result === ['code' => 0, 'out' => '', 'err' => ''], $result);

// Clients that go on.
blocked('search', '198.51.100.7', 10);
blocked('search', '198.51.100.8', 9);
blocked('search', '2001:db8:1:2::/64', 30, 5000);
blocked('search', '203.0.113.5', 0);
$result = run(['blocked', 'search']);
check('clients that go on are listed, with what is left of the block', preg_match('~^2001:db8:1:2::/64 300\n198\.51\.100\.7 (89|90)\n$~', $result['out']) === 1 && $result['err'] === '', $result);
check('--max-time caps it', str_contains(run(['blocked', 'search', '--max-time', '30s'])['out'], "198.51.100.7 30\n"));
check('--min-denials is how often they went on', listed('search', '--min-denials', '9') === ['2001:db8:1:2::/64', '198.51.100.7', '198.51.100.8'], listed('search', '--min-denials', '9'));
check('--count takes those denied most', listed('search', '--count', '1') === ['2001:db8:1:2::/64'], run(['blocked', 'search', '--count', '1']));
check('and says how many are left out', run(['blocked', 'search', '--count', '1'])['err'] === "token-bucket: clients left out: 1 beyond --count\n");
application('$limit = limiter("search", "203.0.113.6"); for ($i = 0; $i < 30; $i++) { $limit->consume(); }');
check('a client that is limited, not blocked, is not listed', !in_array('203.0.113.6', listed('search'), true));
application('$limit = limiter("busy", "198.51.100.10"); $limit->block(0.01); for ($i = 0; $i < 12; $i++) { $limit->consume(); } usleep(20_000); for ($i = 0; $i < 9; $i++) { $limit->consume(); }');
check('a client whose block is over is not listed, also if the limit leaves the tokens that it has', listed('busy') === [] && str_starts_with(run(['unblock', 'busy', '198.51.100.10'])['out'], "busy 198.51.100.10: was not blocked"), run(['blocked', 'busy']));
blocked('trial', '198.51.100.9', 30);
check('a dry run blocks nobody', run(['blocked', 'trial']) === ['code' => 0, 'out' => '', 'err' => ''], run(['blocked', 'trial']));
$limits = (string) file_get_contents("$folder/limits.ini");
write_file('limits.ini', preg_replace('~^\[search\]$~m', "$0\nexcept = 198.51.100.0/29", $limits));
check('a client that the limit excepts is listed no longer', listed('search', '--min-denials', '9') === ['2001:db8:1:2::/64', '198.51.100.8'], run(['blocked', 'search', '--min-denials', '9']));
write_file('limits.ini', $limits);
$rows = json('blocked', 'search');
check('JSON tells the limit and the denials', array_slice($rows[0], 0, 2) === ['client' => '2001:db8:1:2::/64', 'limit' => 'search'] && $rows[0]['denials'] === 30, $rows);

// Several limits; limits in code.
blocked('login', '198.51.100.7', 20, 3000);
check('of several limits the longest block counts', run(['blocked', 'search', 'login', 'search'])['out'] === "2001:db8:1:2::/64 300\n198.51.100.7 300\n", run(['blocked', 'search', 'login']));
blocked('shared', '198.51.100.70', 20);
check('a limit like another has its clients, too', listed('shared') === ['198.51.100.70'], run(['blocked', 'shared']));
application('foreach (["code:198.51.100.71", "code:2001:db8:7::/64"] as $id) { $limit = new SlidingWindow(null, $id, 1, 60, "given"); $limit->block(600); for ($i = 0; $i < 10; $i++) { $limit->consume(); } }');
check('a limit in code is named as it is counted', listed('given') === ['2001:db8:7::/64', '198.51.100.71'], run(['blocked', 'given']));
application('foreach (["198.51.100.72", "2001:db8:8::/64"] as $id) { $limit = new \TokenBucket(null, $id, 1, 1, name: "whole"); $limit->block(600); for ($i = 0; $i < 10; $i++) { $limit->consume(); } }');
check('also one whose identifiers are addresses', listed('whole') === ['2001:db8:8::/64', '198.51.100.72'], run(['blocked', 'whole']));

// The list of the run before.
run(['reset', 'search', '198.51.100.8']);
$last = write_file('last', "198.51.100.8 300\n203.0.113.5 300\n203.0.113.99 300\n");
check('of the last list those stay that are still blocked', listed('search', '--last', $last) === ['203.0.113.5', '2001:db8:1:2::/64', '198.51.100.7'], run(['blocked', 'search', '--last', $last]));
check('they come first', listed('search', '--last', $last, '--count', '1') === ['203.0.113.5']);
foreach (['plain', 'nft', 'haproxy', 'crowdsec'] as $format) {
    write_file('last', run(['blocked', 'search', '--format', $format, '--direct', '--last', $last])['out']);
    $kept = listed('search', '--min-denials', '1000', '--last', $last);
    sort($kept);
    check("the last list may be of --format $format", $kept === ['198.51.100.7', '2001:db8:1:2::/64', '203.0.113.5'], [file_get_contents($last), $kept]);
}
run(['unblock', 'search', '203.0.113.5']);
check('a block that is lifted is listed no longer', listed('search', '--last', $last) === ['2001:db8:1:2::/64', '198.51.100.7']);

// Formats, and the lines that each firewall is given.
$outputs = [
    'nft' => "flush set inet token_bucket blocked4\nflush set inet token_bucket blocked6\nadd element inet token_bucket blocked4 {\n198.51.100.7 timeout 9s,\n}\nadd element inet token_bucket blocked6 {\n2001:db8:1:2::/64 timeout 9s,\n}\n",
    'haproxy' => "prompt\nclear table token_bucket\nset table token_bucket key 2001:db8:1:2:: data.gpt0 64\nset table token_bucket key ::ffff:198.51.100.7 data.gpt0 32\n",
    'crowdsec' => "duration,reason,scope,value\n9s,token_bucket,Range,2001:db8:1:2::/64\n9s,token_bucket,Ip,198.51.100.7\n",
];
foreach ($outputs as $format => $expected) {
    $result = run(['blocked', 'search', '--format', $format, '--direct', '--max-time', '9']);
    check("--format $format", $result === ['code' => 0, 'out' => $expected, 'err' => ''], $result);
    $lines = '~^(' . str_replace("\n", '|', trim(file_get_contents(__DIR__ . "/../../share/firewall/$format.lines"))) . ')$~D';
    check("$format.lines has each line of it", preg_grep($lines, explode("\n", rtrim($expected)), PREG_GREP_INVERT) === []);
    foreach (['0.0.0.0/0 timeout 9s,', '198.51.0.0/16 timeout 9s,', '::/0 timeout 9s,', '2001:db8::/32 timeout 9s,', '198.51.100.7 timeout 0s,', '198.51.100.7 timeout 3601s,', '198.51.100.7,', '198.51.100.1-198.51.100.9 timeout 9s,',
        'flush ruleset', '198.51.100.7 timeout 9s, } ; flush ruleset', 'include "/etc/passwd"', 'add element inet filter x {', 'flush set inet filter x', 'clear table www', 'set server www/a state maint', 'set table token_bucket key :: data.gpt0 0',
        'set table token_bucket key ::1 data.gpt0 64; shutdown frontend www', '9s,token_bucket,Range,0.0.0.0/0', '9999h,token_bucket,Ip,198.51.100.7', '9s,token_bucket,Country,FR', ''] as $line) {
        check("$format.lines has no \"$line\"", preg_match($lines, $line) === 0);
    }
}

// What clients write.
$forged = ['1.2.3.4; flush ruleset', "1.2.3.4\nflush ruleset", "1.2.3.4\0", '1.2.3.4 anna', '198.51.100.7/', '1.2.3', 'add element'];
foreach ($forged as $client) {
    blocked('raw', $client, 20);
    $result = run(['blocked', 'raw', '--format', 'nft', '--direct']);
    check('a limit is left out while a client is no address: ' . json_encode($client), $result['out'] === "flush set inet token_bucket blocked4\nflush set inet token_bucket blocked6\n"
        && $result['err'] === "token-bucket: the limit raw is left out: 1 of its denied clients are no addresses, so clients may write them. Name a limit whose client is what client_network() returns\n", $result);
    application('reset_statistics();');
    run(['reset', 'raw', TokenBucket\Command\Text::identifier($client)]);
}
$own = array_filter(array_column(array_merge(...array_column(net_get_interfaces(), 'unicast')), 'address'));
$never = ['203.0.113.40', '203.0.113.128/26', '2001:db8:9::/48'];
$of_never = ['203.0.113.40', '203.0.113.41', '203.0.113.129', '203.0.113.160/27', '203.0.113.0/24', '2001:db8:9:1::/64', '2001:db8:9::1'];
$reasons = [
    'without an address' => ['unknown'],
    'not as client_network() writes an address' => ['2001:DB8::1', '2001:db8::1/64', '198.51.100.7/24', '198.51.100.7/32', '198.51.100.0/024'],
    'larger than a /24 of IPv4 or a /48 of IPv6' => ['0.0.0.0/0', '::/0', '198.51.100.0/23', '2001:db8::/47'],
    "private, reserved, this host's own, or of --never" => [...array_map(static fn (string $address): string => strtok($address, '%'), $own), '10.1.2.3', '127.0.0.2', '192.168.1.0/24', '169.254.1.1', '224.0.0.1', '255.255.255.255', '::', '::ffff:1.2.3.4', '64:ff9b::102:304',
        'fe80::1', 'fd00::/64', 'ff02::1', '::1.2.3.4', ...$of_never],
];
foreach (array_merge(...array_values($reasons)) as $client) {
    blocked('order', $client, 20);
}
// A zone makes no address of it.
blocked('order', 'fe80::1%eth0', 20);
blocked('order', '203.0.113.66', 20);
$never_file = write_file('never', "# ours\n$never[0]\n $never[1] # office\n\n$never[2]\n::ffff:203.0.113.41\n");
$result = run(['blocked', 'order', '--format', 'nft', '--direct', '--max-time', '9', '--never', $never_file]);
check('none of these is listed', $result['out'] === "flush set inet token_bucket blocked4\nflush set inet token_bucket blocked6\nadd element inet token_bucket blocked4 {\n203.0.113.66 timeout 9s,\n}\n", $result);
foreach ($reasons as $reason => $clients) {
    $count = count(array_unique($clients)) + ($reason === 'without an address' ? 1 : 0);
    check("they are counted: $reason", str_contains($result['err'], "token-bucket: clients left out: $count $reason\n"), $result['err']);
}
check('no text of a client is in a message', array_filter(array_merge(...array_values($reasons)), static fn (string $client): bool => strlen($client) > 3 && str_contains($result['err'], $client) && $client !== 'unknown') === [], $result['err']);
check('without --never its networks are listed', in_array('203.0.113.0/24', listed('order'), true) && in_array('2001:db8:9:1::/64', listed('order'), true), listed('order'));
check('an address in a network that is listed is not listed, too', array_intersect(['203.0.113.40', '203.0.113.66'], listed('order')) === [], listed('order'));
check('a second file of --never adds to the first', listed('order', '--never', $never_file, '--never', write_file('more', '203.0.113.64/29')) === []);
application('foreach (["a:198.51.100.7", "b:198.51.100.8"] as $id) { $limit = new FixedWindow(null, $id, 1, 60, "mixed"); $limit->block(600); for ($i = 0; $i < 10; $i++) { $limit->consume(); } }');
blocked('search', '198.51.100.7', 10);
$result = run(['blocked', 'mixed', 'search']);
check('a limit whose identifiers begin with several names is left out, others are not', str_contains($result['err'], 'the limit mixed is left out: its identifiers do not all begin alike') && str_contains($result['out'], '198.51.100.7'), $result);

// Networks.
foreach (['192.0.2.1' => '192.0.2.1', '192.0.2.9/24' => '192.0.2.0/24', '192.0.2.255/25' => '192.0.2.128/25', '2001:DB8::1' => '2001:db8::1', '2001:db8:1:2:3::/63' => '2001:db8:1:2::/63', '::/0' => '::/0', '1.2.3.4/33' => null, '::/129' => null, 'x' => null, '' => null, "1.2.3.4\n" => null] as $text => $expected) {
    check("the network $text", Network::parse($text)?->text() === $expected, Network::parse($text)?->text());
}
foreach ([['192.0.2.0/24', '192.0.2.7', true], ['192.0.2.7', '192.0.2.0/24', true], ['192.0.2.0/25', '192.0.2.128/25', false], ['::/0', '1.2.3.4', false], ['2001:db8::/33', '2001:db8:8000::', false]] as [$one, $other, $overlap]) {
    check("$one and $other overlap or not", Network::parse($one)->overlaps(Network::parse($other)) === $overlap);
}
check('of the internet nothing else is on the never-list', !NeverList::read([])->overlaps(Network::parse('203.0.113.1')) && !NeverList::read([])->overlaps(Network::parse('2001:db8:ffff::/48')));

// Mistakes.
foreach ([
    [['blocked'], 'blocked needs NAME: a limit whose clients are addresses'],
    [['blocked', 'set'], 'set is a set: name a limit in it whose clients are addresses: search or login'],
    [['blocked', 'reports'], 'reports has permits, which cannot be blocked'],
    [['blocked', 'search', '--format', 'ipset'], '--format must be plain, nft, haproxy or crowdsec; it is "ipset"'],
    [['blocked', 'search', '--format', 'nft'], '--format nft needs --direct: a packet filter sees the address that connects.'],
    [['blocked', 'search', '--format', 'plain', '--json'], '--json and --format cannot be used together'],
    [['blocked', 'search', '--max-time', '2h'], '--max-time must be from 1 s to 1 h'],
    [['blocked', 'search', '--max-time', 'long'], '--max-time must be a number of seconds'],
    [['blocked', 'search', '--count', '16385'], '--count must be a whole number from 1 to 16384; it is "16385"'],
    [['blocked', 'search', '--min-denials', '0'], '--min-denials must be a whole number from 1 to'],
] as [$words, $message]) {
    $result = run($words);
    check("a mistake is told: $message", $result['code'] === 2 && $result['out'] === '' && str_contains($result['err'], $message), $result);
}
foreach ([
    [['--never', '/nowhere'], '--never must name a readable file; this one is not: /nowhere'],
    [['--never', write_file('bad', "192.0.2.1\nexample.org\n")], 'bad: line 2 must be an address or a network such as 192.0.2.0/24; it is "example.org"'],
    [['--last', '/nowhere'], '--last must name a readable file; this one is not: /nowhere'],
] as [$words, $message]) {
    $result = run(['blocked', 'search', ...$words]);
    check("a mistake is told: $message", $result['code'] === 1 && $result['out'] === '' && str_contains($result['err'], $message), $result);
}
$result = run(['blocked', 'serch']);
check('an unknown name stops no other', $result === ['code' => 0, 'out' => '', 'err' => "token-bucket: no call was counted for serch; did you mean search?\n"], $result);
$result = run(['blocked', 'far', '--last', write_file('last', "203.0.113.5 9\n")]);
check('a server that does not answer is a failure', $result['code'] === 1 && $result['out'] === '' && $result['err'] !== '', $result);
$without_tables = [...$options, '-d', 'token_bucket.shm_path=/nowhere'];
$result = command(['blocked', 'search', '--user', $user], '', [], $without_tables);
check('shared memory that cannot be used is a failure', $result['code'] === 1 && $result['out'] === '' && str_contains($result['err'], '/nowhere'), $result);
write_file('broken.ini', "[search]\nlimit = many\n");
$result = command(['blocked', 'search', '--user', $user], '', [], [...$options, '-d', "token_bucket.limits=$folder/broken.ini"]);
check('so is a file of limits with a mistake', $result['code'] === 1 && $result['out'] === '' && str_contains($result['err'], 'line 2: limit must be a whole number'), $result);
$options = [...$options, '-d', 'token_bucket.track_identifiers=0'];
check('without identifiers nothing can be listed', str_contains(run(['blocked', 'search'])['err'], 'token_bucket.track_identifiers must be 1'), run(['blocked', 'search']));
check('the help fits', max(array_map('strlen', explode("\n", command(['blocked', '--help'])['out']))) <= 80 && substr_count(command(['blocked', '--help'])['out'], "\n") <= 24, command(['blocked', '--help'])['out']);
