<?php
/** What an operator has to look at stands above all else. */

declare(strict_types=1);

require __DIR__ . '/support.php';

/** Returns what a page prints in a PHP of its own, with tables of its own. */
function run_apart(string $page): string
{
    return run_alone($page, 'extension=' . getenv('EXTENSION'), 'token_bucket.shm_path=' . temporary_folder());
}

$tables = temporary_folder();
$directives = ['extension=' . getenv('EXTENSION'), "token_bucket.shm_path=$tables", 'token_bucket.shm_size=64K'];

$page = run_alone('view.php', ...$directives);
check('nothing needs attention at first', str_contains($page, 'Nothing needs attention'));
check('there are no calls, limits or servers yet', str_contains($page, 'No limit was asked yet') && str_contains($page, 'No server is in use'));

$page = run_alone('flood.php', ...$directives);
check('a full table needs attention', str_contains($page, ' full: raise'));
check('a table that was too small needs attention', str_contains($page, 'was too small'));

$page = run_alone('view.php', 'token_bucket.test_clock=1', ...$directives);
check('the clock of tests needs attention', str_contains($page, 'test_clock = 1'));

$page = run_alone('behind_proxy.php', ...$directives);
check('a proxy that is not named needs attention', str_contains($page, '100 % of the denials of the limit &quot;login&quot; are of 10.0.0.5') && !str_contains($page, 'Nothing needs attention'));

$page = run_apart('mostly_denied.php');
preg_match_all('~<bdi>The limit (.*?) denied (\S+?) % of its calls in the last 10 minutes~', $page, $limits, PREG_SET_ORDER);
check('a limit that denies most of its calls needs attention, as the alert has it', array_column($limits, 2, 1) === ['login' => '51.7'], json_encode($limits));
check('the curve of the last hour says what it shows', str_contains($page, 'aria-label="60 calls in 1 minute, 60 in one at most; 31 denied in 1 minute"'));

$page = run_apart('last_minute.php');
check('rates are those of the last full minute', preg_match_all('~\((\d[\d.]*)&nbsp;per&nbsp;s\)~', $page, $rates) === 2 && $rates[1] === ['0.50', '0.33'], strip_tags($page));

$page = run_apart('denied_in_outage.php');
check('a denial by on_error says why', str_contains($page, ', denied by on_error because the server failed'));

$file = "$tables/limits.ini";
$page = run_alone('view.php', "token_bucket.limits=$file", ...$directives);
check('a file of limits that is not there needs attention', str_contains($page, 'The file of limits has a mistake') && str_contains($page, $file));
file_put_contents($file, "[login]\nlimt = 5\n");
$page = run_alone('view.php', "token_bucket.limits=$file", ...$directives);
check('a mistake in it needs attention', str_contains($page, 'The file of limits has a mistake') && str_contains($page, 'limt'));

[$directory] = glob("$tables/token_bucket-*");
chmod($directory, 0755);
$page = run_alone('view.php', ...$directives);
check('shared memory that cannot be used needs attention first', preg_match('~<ul>\s*<li>.*is open to other users; its mode must be 0700~', $page) === 1);
chmod($directory, 0700);

$page = run_alone('view.php', 'token_bucket.track_identifiers=0', ...$directives);
check('a page without identifiers says why', str_contains($page, 'Identifiers are not kept'));
check('a page without identifiers names none', !str_contains($page, 'flood:'));
$page = run_alone('view.php', ...$directives);
check('the latest denials stand there with their cause', preg_match('~Denied last.*<bdi>flood:\d+</bdi>.*, (?:used up|no slot was free)~s', $page) === 1);

call_limit('export', 'someone');
check('a server that does not answer needs attention, with the reason', preg_match('~ has not answered for [^<]*: cannot connect: ~', request('GET', 'view.php')->body) === 1);


request('GET', 'call.php?' . http_build_query(['limit' => 'payment', 'client' => base64_encode('someone'), 'calls' => 1]));
check('one error is an error, not errors', preg_match('/\b1 (<[^>]*>)?error\b/', request('GET', 'view.php')->body) === 1);

// Of many denied calls nobody reads that nothing needs attention.
$page = run_apart('some_denied.php');
check('where four of ten calls are denied the page says how many', !str_contains($page, 'Nothing needs attention')
    && str_contains($page, 'No fault is known. 40.0&nbsp;% of all calls were denied'), substr(strip_tags($page), 0, 600));

// Of several things the file of limits comes first.
$page = run_alone('behind_proxy.php', "token_bucket.limits=$file", ...$directives);
check('a broken file of limits comes first', preg_match('~<ul>\s*<li><bdi>The file of limits has a mistake~', $page) === 1, substr(strip_tags($page), 0, 600));
