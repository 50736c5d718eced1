<?php
declare(strict_types=1);

/* Limits written in code are seen, peeked, reset and blocked by their whole identifier, and are not taken for limits of the file. */

require __DIR__ . '/application.inc';

write_file('limits.ini', "[login]\nalgorithm = sliding_window\nlimit = 5\ninterval = 900\n[set]\nall = login\n[plan]\nfirst = month login\n[month]\nalgorithm = calendar\nlimit = 3\nunit = month\ntimezone = Europe/Berlin\n[report]\nalgorithm = concurrency\nlimit = 2\n[0]\nlimit = 1\ninterval = 900\n[1]\nlimit = 1\ninterval = 900\n");

// The login of README, whose client is blocked, beside a limit of the same name in the file.
application('$tries = \TokenBucket::per(null, "login:192.0.2.1", 30, 300); $tries->block(300); $tries->consume();');
$result = run(['top']);
check('top shows the whole identifier of a limit in code, and its block', preg_match('~^ +1  login +login:192\.0\.2\.1 +blocked for~', $result['out']) === 1, $result);
$result = run(['peek', 'login', '192.0.2.1']);
check('peek of a named limit tells of the one in code', $result['code'] === 1
    && preg_match('~^login 192\.0\.2\.1: 5 of 5 left\nAnother limit, in code: login:192\.0\.2\.1, token bucket: blocked for ~', $result['out']) === 1, $result);
check('also as JSON', array_column(json('peek', 'login', '192.0.2.1')['others'], 'identifier') === ['login:192.0.2.1']);
application('\TokenBucket::per(null, "set:192.0.2.1", 2, 7200)->consume();');
$result = run(['peek', 'set', '192.0.2.1']);
check('a set has nothing under its own name', $result['code'] === 0 && str_contains($result['out'], 'Another limit, in code: set:192.0.2.1, token bucket: full again in '), $result);
check('without another limit nothing is said', run(['peek', 'login', '192.0.2.2'])['out'] === "login 192.0.2.2: 5 of 5 left\n");
application('(new \TokenBucket(null, "other:x", 1, 1))->consume();');
$status = run(['status'])['out'];
check('status tells which limits are in code', preg_match('~^other .*  in code$~m', $status) === 1 && preg_match('~^login .*\d$~m', $status) === 1, $status);

$result = run(['peek', '--identifier', 'login:192.0.2.1']);
check('peek tells a block', $result['code'] === 1 && preg_match('~^login:192\.0\.2\.1, token bucket: blocked for .* min.*\n$~', $result['out']) === 1, $result);
$result = run(['reset', '--identifier', 'login:192.0.2.1']);
check('reset lifts it', $result['code'] === 0 && $result['out'] === "login:192.0.2.1: reset\n"
    && application('var_dump((new \TokenBucket(null, "login:192.0.2.1", 1, 1))->consume());') === "bool(true)\n", $result);

// Whatever the algorithm is.
$each = 'foreach ([\TokenBucket::per(null, $id, 9, 900), new LeakyBucket(null, $id, 9, 900), new FixedWindow(null, $id, 9, 900), new SlidingWindow(null, $id, 9, 900)] as $limiter) ';
$result = run(['block', '--identifier', 'mail:anna', '3600']);
check('a block denies the calls of each algorithm', $result['code'] === 0 && application("\$id = 'mail:anna'; $each echo (int) \$limiter->consume(0);") === '0000', $result);
check('peek shows each state', array_column(json('peek', '--identifier', 'mail:anna')['states'], 'blocked', 'algorithm')
    === ['token_bucket' => true, 'fixed_window' => true, 'sliding_window' => true, 'calendar' => true]);
run(['reset', '--identifier', 'mail:anna', '--algorithm', 'fixed_window']);
check('one algorithm alone is reset', application("\$id = 'mail:anna'; $each echo (int) \$limiter->consume(0);") === '0010');
run(['reset', '--identifier', 'mail:anna']);
check('what is reset counts no call', run(['peek', '--identifier', 'mail:anna'])['out'] === "mail:anna: nothing is stored, no call counts\n");
application("\$id = 'mail:anna'; $each \$limiter->consume(3);");
$result = run(['peek', '--identifier', 'mail:anna']);
check('peek needs no numbers to show what is stored', $result['code'] === 0
    && preg_match('~, token bucket: full again in .*\n.*, fixed window: 3 calls count, the last for .*\n.*, sliding window: 3 calls count, the last for ~', $result['out']) === 1, $result);
foreach (['token_bucket' => 3, 'fixed_window' => 6, 'sliding_window' => 6] as $algorithm => $left) {
    $result = run(['peek', '--identifier', 'mail:anna', '--limit', '9', '--interval', '900', '--algorithm', $algorithm]);
    check("by its numbers a $algorithm tells what is left", $result['out'] === "mail:anna: $left of 9 left\n", $result);
}
application('for ($i = 0; $i < 9; $i++) { (new SlidingWindow(null, "mail:eve", 9, 900))->consume(); }');
check('and that the next call would be denied', run(['peek', '--identifier', 'mail:eve', '--limit', '9', '--interval', '900', '--algorithm', 'sliding_window'])['code'] === 1);
run(['block', '--identifier', 'a:b', '60', '--storage', 'shm:other?prefix=x:']);
check('the storage may be another one', application('var_dump((new \TokenBucket("shm:other?prefix=x:", "a:b", 1, 1))->consume(), (new \TokenBucket(null, "a:b", 1, 1))->consume());')
    === "bool(false)\nbool(true)\n");
$held = application('$permit = (new ConcurrencyLimit(null, "report:anna", 2))->acquire();
    echo shell_exec(' . var_export(implode(' ', array_map('escapeshellarg', [...php($options), __DIR__ . '/../../bin/token-bucket'])), true) . ' . " peek --identifier report:anna --algorithm concurrency --user ' . $user . '");');
check('permits are counted', $held === "report:anna: 1 permits are held\n", $held);
check('and freed', run(['reset', '--identifier', 'report:anna', '--algorithm', 'concurrency'])['code'] === 0);

$held = application('$permit = concurrency_limit("report", "eve")->acquire();
    echo shell_exec(' . var_export(implode(' ', array_map('escapeshellarg', [...php($options), __DIR__ . '/../../bin/token-bucket'])), true) . ' . " peek report eve --user ' . $user . '");');
check('those of a named limit by its name', $held === "report:eve: 1 permits are held\n", $held);
check('and freed', run(['reset', 'report', 'eve'])['out'] === "report:eve: nothing was stored\n", run(['reset', 'report', 'eve']));
check('but not blocked', str_contains(run(['block', 'report', 'eve', '5'])['err'], 'permits cannot be blocked'));

// Limits of the calendar, and of several the first that accepts.
application('limiter("month", "anna")->consume(2);');
check('a limit of the calendar tells what is left', run(['peek', 'month', 'anna'])['out'] === "month anna: 1 of 3 left\n", run(['peek', 'month', 'anna']));
check('also under its identifier', preg_match('~, calendar: 2 calls count, the last for ~', run(['peek', '--identifier', 'month:anna'])['out']) === 1, run(['peek', '--identifier', 'month:anna']));
check('the next limit of a set follows', run(['peek', 'plan', 'anna'])['out'] === "plan anna: 1 of 3 left\n", run(['peek', 'plan', 'anna']));
run(['block', '--identifier', 'month:anna', '60']);
check('a block of the identifier blocks it', application('var_dump(limiter("month", "anna")->consume());') === "bool(false)\n");
check('then the next limit of the set accepts', run(['peek', 'plan', 'anna'])['out'] === "plan anna: 5 of 5 left\n", run(['peek', 'plan', 'anna']));
run(['reset', 'plan', 'anna']);
check('a set is reset as a whole', application('var_dump(limiter("month", "anna")->consume(3));') === "bool(true)\n");
$rules = command(['limits', 'check', $limits], '', [], $options)['out'];
check('limits check describes both', str_contains($rules, '3 in a month of Europe/Berlin, calendar') && str_contains($rules, 'the first that accepts of month, login'), $rules);

// Identifiers of any bytes, which no shell reads: as top shows them, on standard input.
$odd = ["odd:\xff\x1b[2J\n'\$(touch here)", 'odd:\xff', "odd:a'; touch here;'", 'odd:\x5cxff', "odd:\xfe"];
application('foreach (unserialize(base64_decode("' . base64_encode(serialize($odd)) . '")) as $id) { $bucket = \TokenBucket::per(null, $id, 1, 900); $bucket->consume(); $bucket->consume(); }');
$shown = array_column(json('top', 'odd'), 'identifier');
check('no two identifiers look the same', count(array_unique($shown)) === count($odd), $shown);
foreach ($shown as $identifier) {
    $result = run(['reset', '--identifier', '-'], "$identifier\n");
    check("$identifier is reset", $result['out'] === "$identifier: reset\n", $result);
}
check('all of them are', application('foreach (unserialize(base64_decode("' . base64_encode(serialize($odd)) . '")) as $id) { echo (int) \TokenBucket::per(null, $id, 1, 900)->consume(); }') === '11111');
check('a client of a named limit, too', run(['block', 'login', '-', '60'], "o'hara\n")['out'] === "login o'hara: blocked for 1 min\n");

// Names and clients that are numbers, or no UTF-8, as keys of JSON.
application('foreach (["0", "1", "\xff", "\xfe"] as $client) { foreach (["0", "1"] as $name) { limiter($name, $client)->consume(2); } }');
application('foreach (["\xff", "\xfe"] as $name) { (new \TokenBucket(null, $name, 1, 1))->consume(); }');
$status = json_decode(run(['status', '--json'])['out']);
check('maps stay objects', is_object($status->named_limits) && is_object($status->limits->{'0'}->most_denied) && is_object($status->limits->other->most_denied), $status);
check('keys that are no UTF-8 stay different', array_key_exists('\xff', (array) $status->limits) && array_key_exists('\xfe', (array) $status->limits)
    && array_key_exists('0:\xff', (array) $status->limits->{'0'}->most_denied) && array_key_exists('0:\xfe', (array) $status->limits->{'0'}->most_denied), $status);
write_file('numbers.ini', "[0]\nlimit = 1\ninterval = 900\n[1]\nlimit = 1\ninterval = 900\n");
check('so do those of limits check', is_object(json_decode(command(['limits', 'check', 'numbers.ini', '--json'], '', [], $options)['out'])->limits->{'1'}->limited));

// A network is no client but where the application says so.
$refused = [
    [['block', 'login', '192.0.2.0/24', '60'], 'add --network if it does'],
    [['block', '--identifier', 'login:192.0.2.0/24', '60'], 'add --network if it does'],
    [['reset', '--identifier', 'login:2001:db8::/48'], 'add --network if it does'],
    [['block', 'login', '192.0.2.1/24', '60', '--network'], 'did you mean 192.0.2.0/24?'],
    [['block', 'login', '2001:db8::1/64', '60'], 'did you mean 2001:db8::/64?'],
    [['block', 'login', '192.0.2.1/32', '60'], 'did you mean 192.0.2.1?'],
    [['peek', 'login', '192.0.2.1/33'], 'did you mean 192.0.2.1?'],
    [['peek', 'login', 'x', '--storage', 'shm:x'], '--storage needs --identifier'],
    [['peek', 'login', 'x', '--identifier', 'a:b'], '--identifier replaces NAME CLIENT; remove login'],
    [['peek', '--identifier', 'a:b', '--limit', '5'], '--interval must be a number'],
    [['peek', '--identifier', 'a:b', '--limit', '5', '--interval', '0'], '--interval must be greater than 0'],
    [['peek', '--identifier', 'a:b', '--limit', '5000', '--interval', '9', '--algorithm', 'sliding_window'], '--limit must be between 1 and 1024'],
    [['peek', '--identifier', 'a:b', '--algorithm', 'bucket'], '--algorithm must be token_bucket, leaky_bucket, fixed_window, sliding_window, calendar or concurrency; it is "bucket"'],
    [['block', '--identifier', 'a:b', '5', '--algorithm', 'concurrency'], 'cannot be blocked'],
    [['peek', '--identifier', ''], '--identifier must be between 1 and 4096 bytes long'],
    [['peek', '--identifier', '-'], '--identifier is -, and standard input has no line'],
    [['block'], 'NAME, CLIENT and TIME are missing: block needs NAME CLIENT TIME, or --identifier ID TIME'],
    [['block', 'login'], 'CLIENT and TIME are missing after "login": block needs'],
    [['block', 'login', '2h'], 'TIME is missing after "login 2h": block needs'],
    [['block', '--identifier', 'a:b'], 'TIME is missing: block needs NAME CLIENT TIME, or --identifier ID TIME'],
];
foreach ($refused as [$words, $expected]) {
    $result = run($words);
    check(implode(' ', $words) . ' is wrong usage', $result['code'] === 2 && $result['out'] === '' && str_contains($result['err'], $expected), $result);
}
foreach ([['192.0.2.0/24', '--network'], ['2001:db8::/64'], ['10/8'], ['a/24']] as $words) {
    $result = run(['block', 'login', $words[0], '60', ...array_slice($words, 1)]);
    check("$words[0] is a client", $result['code'] === 0, $result);
}

$result = run(['reset', '--identifier', 'a:b', '--storage', 'redi://h']);
check('a storage that is none is no outage', $result['code'] === 1 && str_contains($result['err'], 'redi') && !str_contains($result['err'], 'on the server'), $result);

application('\TokenBucket::per(null, "\x1b[2J:x", 1, 900)->consume();');
$result = run(['peek', '--identifier', '\x1b[2J:x', '--limit', '1', '--interval', '900']);
check('the name of a limit that denies has no control characters', $result['code'] === 1 && str_starts_with($result['out'], '\x1b[2J:x: denied by ') && !str_contains($result['out'], "\x1b"), $result);

// A folder named by ${...} in php.ini may have any name.
$result = command(['peek', '--identifier', 'a:b', '--user', $user], '', ['TB_FOLDER' => "/nowhere/\x1b[2J\u{9b}2J"], [...$options, '-d', 'token_bucket.shm_path=${TB_FOLDER}']);
check('no message has control characters', $result['code'] === 1 && str_contains($result['err'], '\u{1b}[2J') && preg_match('~[\x00-\x09\x0b-\x1f]|\xc2\x9b~', $result['err'] . $result['out']) === 0, $result);

// NAME CLIENT of a limit in code: what it is called here is said, not how to make a file.
application('for ($i = 0; $i < 9; $i++) { \TokenBucket::per(null, "signup:192.0.2.9 anna", 5, 300, "signup_pair")->consume(); }');
$is_counted = 'token-bucket: signup_pair is counted, but is not in ';
$whole = "If it is a limit in code, name its client by --identifier 'signup:192.0.2.9 anna'\n";
foreach ([['peek'], ['unblock'], ['block', '1h'], ['reset']] as $words) {
    $command = array_shift($words);
    $result = run([$command, 'signup_pair', '192.0.2.9 anna', ...$words]);
    check("$command of a limit in code names --identifier with the identifier", $result['code'] === 1 && $result['err'] === "{$is_counted}the file of limits\n$whole", $result);
}
$result = run(['peek', 'signup_pair', '192.0.2.8 bob']);
check('of a client that was not denied it says where identifiers are found', $result['code'] === 1
    && str_contains($result['err'], "--identifier 'signup_pair:192.0.2.8 bob', or by what the code passes as identifier: token-bucket top signup_pair shows some\n"), $result);
check('a name that nobody knows is another mistake', str_contains(run(['peek', 'no_such', 'anna'])['err'], 'has no limit "no_such"'));
$own_file = $options;
$options = [...$options, '-d', 'token_bucket.limits='];
$result = run(['peek', 'signup_pair', '192.0.2.9 anna']);
check('also without a file of limits, where it may be that of a pool', $result['code'] === 1
    && $result['err'] === "{$is_counted}a file of limits, for token_bucket.limits is empty\n{$whole}If it is in the file of a php-fpm pool, name the pool by --pool FILE\n", $result);
$options = $own_file;

// A limit of the file and one in code have one name, and the identifiers of the one in code begin with another word.
write_file('limits.ini', "[gate_pair]\nlimit = 5\ninterval = 900\n[gate_twin]\nlike = gate_pair\n[gate_net]\nlimit = 9\ninterval = 9\n[gate]\nall = gate_pair gate_net\n");
application('for ($i = 0; $i < 9; $i++) { foreach (["192.0.2.6 ann", "192.0.2.7 bob"] as $client) { \TokenBucket::per(null, "gate:$client", 5, 300, "gate_pair")->consume(); limiter("gate_twin", $client)->consume(); } }');
foreach (['peek', 'unblock', 'block', 'reset'] as $command) {
    $result = run([$command, 'gate_pair', '192.0.2.7 bob', ...$command === 'block' ? ['60'] : []]);
    check("$command says that a limit in code has the name", str_contains($result['err'], "token-bucket: a limit in code is also counted as gate_pair; name its clients by --identifier, such as --identifier 'gate:192.0.2.7 bob'\n"), $result);
}
$result = run(['peek', 'gate_twin', '192.0.2.7 bob']);
check('a limit that shares buckets is none in code', $result['err'] === '', $result);
