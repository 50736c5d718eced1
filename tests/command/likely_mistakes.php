<?php
declare(strict_types=1);

/* What the counts show to be probably wrong stands above them. */

require __DIR__ . '/application.inc';

write_file('limits.ini', "[api]\nlimit = 1\ninterval = 1\n");

application('for ($i = 0; $i < 60; $i++) { \TokenBucket::per(null, "login:10.0.0.5", 30, 300)->consume(); }');
$told = "100 % of the denials of the limit \"login\" are of 10.0.0.5. If that is a proxy, all its clients count as one: name it, client_address(\$_SERVER, ['10.0.0.5'])";
$result = run(['status']);
check('status begins with a proxy that is not named', $result['code'] === 0 && str_starts_with($result['out'], "$told\n\nlimit "), $result);
check('also as JSON', json('status')['likely_mistakes'] === [$told]);

// The worst comes first.
application('for ($i = 0; $i < 60; $i++) { \TokenBucket::per("redis://127.0.0.1:1?timeout_ms=500", "far:x", 1, 300)->consume(); }');
write_file('limits.ini', "[api]\nlimit = many\ninterval = 1\n");
$result = run(['status']);
$lines = explode("\n", $result['out']);
check('status begins with a broken file of limits', $result['code'] === 1 && str_contains($lines[0], 'limits.ini') && str_contains($lines[0], 'limit'), $result);
check('a server that is down is next', preg_match('~^Redis at 127\.0\.0\.1:1 has not answered for \d~', $lines[1]) === 1, $result);
check('then what the counts show', $lines[2] === $told, $result);
check('then limits that deny most of their calls', preg_match('~^The limit \w+ denied \d\d\.\d % of its calls in the last 10 minutes: an attack, or a limit that is too low$~', $lines[3]) === 1, $result);
check('and the counts', preg_match('~\n\nlimit ~', $result['out']) === 1, $result);
