<?php
/**
 * Fails on tests that pass or fail by chance: six kinds, each found by a narrow pattern. The patterns are tried first on EXAMPLES: what has
 * failed by chance must be found, and what took its place must not.
 * Usage: php flaky_tests.php
 */

/** The cure of each kind. */
const KINDS = [
    'text' => 'the text of another program changes with its version: expect its code, and %s or ... for the rest',
    'clock' => 'a busy machine makes one measurement long: use within_three_tries() of php-tests/processes.inc',
    'file time' => 'a change of a file is not seen after so many seconds: poll until it is',
    'port' => 'another program may take the port before the server does: let the server choose it (php -S 127.0.0.1:0, a unix socket), or use free_port()',
    'chance' => 'a failure cannot be repeated without the seed: use seed_chance() of php-tests/base.inc, or a fixed seed',
    'records' => 'tests run side by side: use run_apart(), a token_bucket.shm_path of the test, or a name with getmypid() or random_bytes()',
];

/** For each kind what a test had that failed by chance, in the code or below --EXPECT--, and what took its place. */
const EXAMPLES = [
    ['text', "--EXPECT--\nRedis at PORT: NOPERM this user has no permissions to run the 'evalsha' command", "--EXPECTF--\nRedis at PORT: NOPERM %s; limits are"],
    ['text', "--EXPECT--\nDeprecated: Implicit conversion from float 1.5 to int in x.php", "--EXPECTF--\nDeprecated: Implicit %s in x.php\nWarning: TokenBucket::consume(): no server here"],
    ['clock', '$took = milliseconds($take); echo $took < 250 ? "in time" : $took;', '[$took] = within_three_tries(250, fn () => [milliseconds($take), ""]); echo $took <= 250 ? "in time" : $took;'],
    ['clock', '$seconds = (hrtime(true) - $begin) / 1e9; if ($seconds > 0.2) { echo "late"; }', '$seconds = (hrtime(true) - $begin) / 1e9; echo $seconds >= 0.2 && $seconds < 20;'],
    ['file time', "--INI--\ntoken_bucket.limits={PWD}/x.ini\n--FILE--\nwrite(\$limits); usleep(1_700_000); echo ask();", "--INI--\ntoken_bucket.limits={PWD}/x.ini\n--FILE--\nwrite(\$limits); wait_until(fn () => ask() !== \$old);"],
    ['port', '$socket = stream_socket_server("tcp://127.0.0.1:0"); return stream_socket_get_name($socket, false);', '$listener = stream_socket_server("tcp://127.0.0.1:0"); $client = stream_socket_accept($listener);'],
    ['port', '$port = random_int(20_000, 60_000);', '$port = free_port();'],
    ['chance', '$victim = $workers[array_rand($workers)];', 'seed_chance(); $victim = $workers[array_rand($workers)];'],
    ['chance', 'mt_srand(getmypid()); usleep(mt_rand(0, 5_000));', 'mt_srand($process); usleep(mt_rand(0, 5_000));'],
    ['records', '$servers = count(TokenBucket\status()["servers"]);', 'run_apart(__FILE__); $servers = count(TokenBucket\status()["servers"]);'],
    ['records', '$log = sys_get_temp_dir() . "/token_bucket.log";', '$log = sys_get_temp_dir() . "/token_bucket.log." . getmypid();'],
    ['records', '$bucket = new TokenBucket(server_dsn("TB_REDIS"), "x", 1, 60);', '$bucket = new TokenBucket(server_dsn("TB_REDIS"), "x:" . bin2hex(random_bytes(8)), 1, 60);'],
];

/** A section of a phpt, with spaces in the place of the others, so that each place stays; all of another file is code. */
function section(string $text, string $name): string
{
    $current = preg_match('/^--[A-Z]+--$/m', $text) ? '' : 'FILE';
    $kept = [];
    foreach (explode("\n", $text) as $line) {
        $current = preg_match('/^--([A-Z]+)--$/', $line, $found) ? $found[1] : $current;
        $kept[] = str_starts_with($current, $name) ? $line : str_repeat(' ', strlen($line));
    }
    return implode("\n", $kept);
}

/** @return list<int> where a pattern matches */
function places(string $pattern, string $text): array
{
    preg_match_all($pattern, $text, $found, PREG_OFFSET_CAPTURE);
    return array_column($found[0], 1);
}

/** What servers say behind a code, and PHP's warnings: one that names this extension is its own. */
function texts(string $text): array
{
    return places('/\b(NOPERM|READONLY|MISCONF|OOM|LOADING|CLUSTERDOWN|ACL failure in script) (?!\.\.\.|%s|=>)\w+ \w+|SQLSTATE\[\w+\]:? [^%\n]+ \w+ \w+ \w|command denied to user \S+ for table [`\'\w]'
        . '|^(?:PHP )?(?:Warning|Notice|Deprecated|Fatal error): (?!.*(?i:token_?bucket))[^%\n]* [^%\n ]+ [^%\n ]+ (?!%s)[^%\n ]+ in /m', section($text, 'EXPECT'));
}

/** Times that are measured once, and that a test takes for too long though they are less than a second. */
function clocks(string $text): array
{
    $code = section($text, 'FILE');
    $second = ['milliseconds' => 1e3, 'hrtime' => 1e9, 'microtime' => 1.0];
    preg_match_all('/\$(\w+)(?:\[\])? = (\(?)(?:array_map\(fn \([^)]*\) => )?(milliseconds|(?:hr|micro)time(?=\(true\) - \$))\((?:true\) - [^;]*?\)( \/ 1e9)?)?/', $code, $measured, PREG_SET_ORDER);
    $places = places('/(hrtime\(true\) - \$\w+ <=? ([\d_]{1,11}|[\d.]+e[1-8])|microtime\(true\) - \$\w+ <=? 0?\.\d+)\b(?![.\d])/', $code);
    foreach ($measured as $match) {
        $bound = isset($match[4]) ? 1.0 : $second[$match[3]];
        preg_match_all('/(if \()?\$' . $match[1] . '(?:\[\w+\])? ([<>])=? (\$\w+\b(?! -)|[\d_.]+(?:e\d+)?)/', $code, $compared, PREG_SET_ORDER | PREG_OFFSET_CAPTURE);
        foreach ($compared as [[, $at], [$if], [$sign], [$most]]) {
            // A lower bound is exact, for nothing is early by chance.
            if (($sign === '<' || $if !== '') && ($most[0] === '$' || (float) str_replace('_', '', $most) < $bound)) {
                $places[] = $at;
            }
        }
    }
    return $places;
}

/** Sleeps of a second and more in a test of a file that is watched. */
function file_times(string $text): array
{
    $is_watched = preg_match('/token_bucket\.limits\b|file[mc]time\(/', $text);
    return $is_watched ? places('/\b(sleep\([1-9]\)|usleep\([1-9](_?\d{3}){2}\))/', section($text, 'FILE')) : [];
}

/** Ports that are bound, closed and handed out, and those of net.ipv4.ip_local_port_range. */
function ports(string $text): array
{
    $is_kept = preg_match('/stream_socket_accept\(|pcntl_fork\(/', $text);
    return [
        ...$is_kept ? [] : places('~stream_socket_server\(.tcp://[\d.]+:0\b~', $text),
        ...places('/\bport\w* = (random_int|mt_rand)\([\d_]+, ?(3[3-9]|[4-6]\d)_?\d{3}\)|127\.0\.0\.1:(3[3-9]|[45]\d|6[0-4])\d{3}\b/i', section($text, 'FILE')),
    ];
}

/** Chance without a seed: in the parts of a program that takes SEED, all of its folder counts. */
function chances(string $text, string $folder): array
{
    $code = section($text, 'FILE');
    $is_seeded = preg_match('/\bmt_srand\(|seed_chance\(/', $code)
        || $folder !== '' && preg_match("/getenv\('SEED'\)/", implode(array_map(file_get_contents(...), glob("$folder/*.php"))));
    return places($is_seeded ? '/\bmt_srand\((getmypid\(\))?\)/' : '/(?<![:>\w])(mt_rand|rand|shuffle|str_shuffle|array_rand)\(|sleep\(random_int\(/', $code);
}

/** Numbers of all processes, files with one name, and identifiers on servers that all tests share. */
function records(string $text): array
{
    $is_apart = preg_match('/run_apart\(|token_bucket\.shm_path/', $text);
    return [
        ...$is_apart ? [] : places('/\b(count|array_sum)\((array_column\()?(TokenBucket\\\\)?(status\(\)\[.servers.\]|statistics\(\)|denials\(\))/', section($text, 'FILE')),
        ...places('~(sys_get_temp_dir\(\) ?\. ?(["\'])|(file_put_contents|fopen|mkdir|touch)\((["\'])/tmp)/[\w.-]+["\'](?! ?\.[^\n]*(pid|random_bytes))~', section($text, 'FILE')),
        ...places('/\(server_dsn\([^)]*\), (["\'])\w*\1,/', section($text, 'FILE')),
    ];
}

/** @return array<string, list<int>> the places of each kind */
function find(string $text, string $folder = ''): array
{
    return ['text' => texts($text), 'clock' => clocks($text), 'file time' => file_times($text), 'port' => ports($text), 'chance' => chances($text, $folder), 'records' => records($text)];
}

$faults = 0;
foreach (EXAMPLES as [$kind, $flaky, $mended]) {
    if (!find($flaky)[$kind] || find($mended)[$kind]) {
        echo "flaky_tests.php knows this \"$kind\" no more, or takes its cure for it: $flaky\n";
        $faults++;
    }
}
$files = explode("\n", trim(shell_exec("git ls-files -c -o --exclude-standard 'php-tests/*.phpt' 'php-tests/*.inc' 'tests/*.php' 'tests/*.inc' 'integrations/*/tests/*.php'")));
foreach (array_filter($files, is_file(...)) as $file) {
    $text = file_get_contents($file);
    foreach (find($text, str_ends_with($file, '.php') ? dirname($file) : '') as $kind => $places) {
        foreach (array_unique(array_map(fn (int $at): int => substr_count($text, "\n", 0, $at) + 1, $places)) as $line) {
            echo "$file:$line: $kind: ", KINDS[$kind], "\n";
            $faults++;
        }
    }
}
exit($faults ? 1 : 0);
