<?php
/** What an operator has to look at stands above all else. */

declare(strict_types=1);

require __DIR__ . '/support.php';

$tables = getenv('PAGE_FOLDER') . '/other';
mkdir($tables);
$directives = ['extension=' . getenv('EXTENSION'), "token_bucket.shm_path=$tables", 'token_bucket.shm_size=64K'];

$page = run_alone('view.php', ...$directives);
check('nothing needs attention at first', str_contains($page, 'Nothing needs attention'));
check('there are no calls, limits or servers yet', str_contains($page, 'No limit was asked yet') && str_contains($page, 'No server is in use'));

$page = run_alone('flood.php', ...$directives);
check('a full table needs attention', str_contains($page, ' full: raise'));
check('a table that was too small needs attention', str_contains($page, 'was too small'));

$page = run_alone('view.php', 'token_bucket.test_clock=1', ...$directives);
check('the clock of tests needs attention', str_contains($page, 'test_clock = 1'));

$file = "$tables/limits.ini";
$page = run_alone('view.php', "token_bucket.limits=$file", ...$directives);
check('a file of limits that is not there needs attention', str_contains($page, 'file of the named limits has a mistake') && str_contains($page, $file));
file_put_contents($file, "[login]\nlimt = 5\n");
$page = run_alone('view.php', "token_bucket.limits=$file", ...$directives);
check('a mistake in it needs attention', str_contains($page, 'file of the named limits has a mistake') && str_contains($page, 'limt'));

[$directory] = glob("$tables/token_bucket-*");
chmod($directory, 0755);
$page = run_alone('view.php', ...$directives);
check('shared memory that cannot be used needs attention first', preg_match('~<ul>\s*<li>.*is open to other users; its mode must be 0700~', $page) === 1);
chmod($directory, 0700);

$page = run_alone('view.php', 'token_bucket.track_identifiers=0', ...$directives);
check('a page without identifiers says why', str_contains($page, 'Identifiers are not kept'));
check('a page without identifiers names none', !str_contains($page, 'flood:'));
$page = run_alone('view.php', ...$directives);
check('the latest denials stand there with their cause', preg_match('~Denied last.*<bdi>flood:\d+</bdi>.*: (?:used up|no slot was free)~s', $page) === 1);

call_limit('export', 'someone');
check('a server that does not answer needs attention, with the reason', preg_match('~ has not answered for [^<]*: <bdi>cannot connect: ~', request('GET', 'view.php')['body']) === 1);


request('GET', 'call.php?' . http_build_query(['limit' => 'payment', 'client' => base64_encode('someone'), 'calls' => 1]));
check('one error is an error, not errors', preg_match('/\b1 (<[^>]*>)?error\b/', request('GET', 'view.php')['body']) === 1);

finish('attention');
