<?php
declare(strict_types=1);

/* What clients wrote stays text: in the terminal, in the report, in JSON. */

require __DIR__ . '/harness.inc';

$agents = [
    '<script>alert(1)</script>',
    '\"><img src=x onerror=alert(2)>',
    "' autofocus onfocus='alert(3)",
    '</style></svg><script>alert(4)</script>',
    "\x1b]0;owned\x07\x1b[2J\x1b[31m",
    "\u{202e}txt.exe\u{200b}\u{9b}2J",
    "\xff\xfe not UTF-8",
    '&lt;b&gt; &#x3c;i&#x3e;',
    str_repeat('A', 50_000),
];
$lines = '';
foreach ($agents as $number => $agent) {
    for ($try = 0; $try < 25; $try++) {
        $lines .= combined("192.0.2.$number", TIME + $try, 'POST /login', $agent, '<b>evil' . $number . '</b>');
        $lines .= json_encode(['ts' => TIME + $try, 'ip' => "192.0.2.$number", 'user' => "<script>user$number</script>\x1b[2J\n\r\t\0", 'request' => 'POST /login', 'user_agent' => $agent], JSON_INVALID_UTF8_SUBSTITUTE) . "\n";
    }
}
$lines .= "<script>broken()</script>\x1b[2J\n" . str_repeat("x\r", 3000) . "\n\xff\xfe\n";
// One that is no address.
$lines .= combined('<script>client</script>', TIME);
// The log's own name, too.
$log = write_file("<script>name()<\x1b[2J.log", $lines);
$report = "$folder/report.html";

foreach ([[], ['--match', 'POST /*<script>match()</script>'], ['--by', 'user'], ['--by', 'field:user']] as $words) {
    $words = ['find-limit', $log, '--html', $report, '--rates', '1/min,1/h', ...($words[0] ?? '') === '--match' ? [...$words, '--match', '/login'] : $words];
    $result = command($words);
    $name = implode(' ', array_slice($words, 6));
    check("$name: succeeds", $result['code'] === 0, $result['err']);
    check("$name: no control characters reach the terminal", preg_match('~[^\P{Cc}\n]|\p{Cf}~u', $result['out'] . $result['err']) === 0, $result['out']);
    check("$name: the clients are named", str_contains($result['out'], ($words[6] ?? '') === '--by' ? '<script>user' : '192.0.2.'), $result['out']);

    $html = file_get_contents($report);
    check("$name: the report is valid UTF-8", is_utf8($html));
    // Only elements that the report itself has, with its own attributes.
    $policy = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'">';
    check("$name: the report may fetch and run nothing", str_contains($html, $policy));
    preg_match_all('~<(?!/|!)([^\s>]*)([^>]*)>~', str_replace($policy, '', $html), $tags, PREG_SET_ORDER);
    $own = ['html', 'head', 'meta', 'title', 'style', 'body', 'h1', 'h2', 'p', 'div', 'table', 'caption', 'tr', 'th', 'td', 'code', 'pre', 'span', 'figure', 'figcaption', 'svg', 'line', 'path', 'text'];
    $foreign = array_filter($tags, static fn (array $tag): bool => !in_array($tag[1], $own, true) || preg_match('~\son|["\']["\']|href|src=~i', $tag[2]) === 1);
    check("$name: the report has its own elements only", $foreign === [], $foreign);
    check("$name: what clients wrote is there as text", str_contains($html, '&lt;script&gt;') && !str_contains($html, "\x1b") && !str_contains($html, "\u{202e}"), substr($html, 0, 3000));

    $json = command([...$words, '--json'])['out'];
    check("$name: JSON is valid", is_array(json_decode($json, true)) && !str_contains($json, "\x1b"), $json);
}

// Clients fill logs of their headers with addresses, methods and paths, in fields of any name.
$headers = static fn (int $line): array => array_merge(...array_map(static fn (int $number): array => ["x-$line-$number" => "8.8.$line.$number", "y-$line-$number" => 'GET', "z-$line-$number" => '/'], range(0, 99)));
$lines = implode('', array_map(static fn (int $line): string => json_encode(['ts' => TIME + $line, 'ip' => '192.0.2.' . $line % 30, 'method' => 'POST', 'uri' => '/login', 'headers' => $headers($line % 250)]) . "\n", range(0, 1000)));
$found = find_limit(write_file('headers.log', $lines), '--match', 'POST /login');
check('headers of any name', $found['clients'] === 30 && count($found['read_as'][0]['not_the_client']) < 50, $found['read_as']);
check('they take little memory', getrusage(1)['ru_maxrss'] < 200_000, getrusage(1)['ru_maxrss']);

// A log that is refused shows a line of it.
foreach ([combined("<script>client</script>\x1b[2J", TIME), "\x1b[2J\u{202e}\n", "{\"ts\":\"\x1b[2J\u{202e}\",\"ip\":\"\\u001b[2J\"}\n"] as $line) {
    $result = command(['find-limit', write_file('refused.log', $line)]);
    check('no control characters reach the terminal in a refusal', $result['code'] === 1 && preg_match('~[^\P{Cc}\n]|\p{Cf}~u', $result['err']) === 0, $result['err']);
}

// The report is complete, or not there: a file of that name is replaced as a whole, and a link is replaced, not followed.
$other = write_file('other.txt', 'keep');
unlink($report);
symlink($other, $report);
command(['find-limit', $log, '--html', $report]);
check('a link in place of the report is not followed', file_get_contents($other) === 'keep' && !is_link($report));
// Who may write to the folder knows the numbers of processes that come next.
$next = range(getmypid() + 1, getmypid() + 4000);
array_map(static fn (int $process): bool => symlink($other, "$report.$process.new"), $next);
command(['find-limit', $log, '--html', $report]);
check('nor is a link beside it', file_get_contents($other) === 'keep' && is_file($report) && !is_link($report));
array_map(static fn (int $process): bool => @unlink("$report.$process.new"), $next);
check('nothing else is left beside it', glob("$report.*") === [] && glob("$folder/.token-bucket-*") === []);
exec('mkfifo ' . escapeshellarg("$folder/fifo"));
$result = command(['find-limit', $log, '--html', "$folder/fifo"]);
check('what is no file is not replaced', $result['code'] === 2 && str_contains($result['err'], '--html must name a file') && filetype("$folder/fifo") === 'fifo', $result);
if (exec('id -u') === '0' && is_file(ini_get('extension_dir') . '/posix.so')) {
    $as_root = static fn (string $path): array => command(['find-limit', $log, '--html', $path], '', [], ['-d', 'extension=' . getenv('EXTENSION'), '-d', 'extension=posix', ...is_file(ini_get('extension_dir') . '/pcntl.so') ? ['-d', 'extension=pcntl'] : []]);
    foreach (["$folder/theirs", "$folder/theirs/plain", "$folder/roots"] as $path) {
        mkdir($path);
    }
    chmod($folder, 0o755);
    symlink('../roots', "$folder/theirs/link");
    symlink('theirs/plain', "$folder/link");
    chown("$folder/theirs", 65534);
    $result = $as_root('theirs/link/report.html');
    check('root goes through no link of another user', $result['code'] === 1 && str_contains($result['err'], 'another user has put a link') && !file_exists("$folder/roots/report.html"), $result);
    check('but into a folder of another user', $as_root("$folder/theirs/plain/report.html")['code'] === 0 && is_file("$folder/theirs/plain/report.html"));
    check('and through a link of its own', $as_root('link/again.html')['code'] === 0 && is_file("$folder/theirs/plain/again.html"));
    unlink("$folder/theirs/link");
    unlink("$folder/link");
    chmod($folder, 0o700);
} else {
    skip('links on the way to a report of root', 'needs root and posix');
}
check('a report in the folder where one is', command(['find-limit', $log, '--html', 'here.html'])['code'] === 0 && is_file("$folder/here.html"));

// A pattern is no regular expression, and hard ones take no time.
$log = write_file('long.log', combined('192.0.2.1', TIME, 'GET /' . str_repeat('a', 50_000)));
check('patterns are taken literally', command(['find-limit', $log, '--match', '/(a+)+$'])['code'] === 1);
$found = find_limit($log, '--match', '/' . str_repeat('*a', 10) . '*b$', '--match', '/' . str_repeat('*a', 10) . '$');
check('many wildcards decide', $found['requests'] === 1, $found);
$log = write_file('commas.log', str_repeat(str_repeat('a, ', 60_000) . "\n", 5) . combined('192.0.2.1', TIME));
check('lines of commas, which took minutes', find_limit($log)['broken_lines'] === 5);
$log = write_file('brackets.log', str_repeat(str_repeat('a [', 30_000) . "\n", 3) . combined('192.0.2.1', TIME));
check('lines of brackets', find_limit($log)['broken_lines'] === 3);

function is_utf8(string $text): bool
{
    return preg_match('~~u', $text) === 1;
}
