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
