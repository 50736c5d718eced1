--TEST--
Two limits that alternate on one identifier give one warning, which names both; a limit that changes gives none
--FILE--
<?php
$base = (ini_get('token_bucket.shm_path') ?: '/dev/shm') . '/two_limits';
is_dir($base) || mkdir($base);

/** Runs each code in a PHP of its own, one after the other, with tables that no other process has. */
function run(string $title, string|array $codes, string $options = ''): void
{
    static $folder = 0;
    $folder++;
    $path = "$GLOBALS[base]/$folder";
    is_dir($path) || mkdir($path);
    echo "$title: ";
    foreach ((array) $codes as $code) {
        $php = escapeshellarg(PHP_BINARY) . ' -n -d display_errors=1 -d log_errors=0 -d html_errors=0 ' . getenv('TEST_PHP_EXTRA_ARGS');
        $code = 'use TokenBucket\{Compound, FixedWindow}; ' . $code;
        echo preg_replace('/ in Command line code on line \d+/', '', (string) shell_exec("$php -d token_bucket.shm_path=$path $options -r " . escapeshellarg($code)));
    }
    echo "\n";
}

$two = '$strict = TokenBucket::per(null, "login:192.0.2.1", 5, 300); $loose = TokenBucket::per(null, "login:192.0.2.1", 100, 300);';
run('in turn', $two . ' for ($i = 0; $i < 200; $i++) { $strict->consume(); $loose->consume(); }');
run('by several processes', [$two . '$strict->consume();', $two . '$loose->consume();', $two . '$strict->consume();']);
run('by check()', '$bucket = new TokenBucket(null, "login"); foreach ([5, 10, 5] as $limit) { $bucket->check("192.0.2.1", $limit, 300); }');
run('in a Compound', $two . '$both = new Compound($loose, new FixedWindow(null, "x", 9, 9)); $both->consume(); $a = $strict->attempt(); $b = $both->attempt();');
run('a given name', 'foreach ([5, 7, 5] as $limit) { (new FixedWindow(null, "joe@example.org", $limit, 60, name: "mail"))->consume(); }');
run('no name', 'foreach ([5, 7, 5] as $limit) { (new FixedWindow(null, "192.0.2.1", $limit, 60))->consume(); }');
run('in one process', 'foreach ([5, 7, 5] as $limit) { (new FixedWindow("array:", "a", $limit, 60))->consume(); }');
// Ten calls under each limit, by pages that make new objects each time, after other keys were called.
$page = fn (string $name): string => <<<PHP
    TokenBucket::per(null, 'other:192.0.2.9', 5, 300)->consume();
    for (\$client = 0; \$client < 20; \$client++) {
        for (\$i = 0; \$i < 10; \$i++) {
            foreach ([5, 100] as \$limit) { TokenBucket::per(null, "$name:192.0.2.\$client", \$limit, 300)->consume(); }
        }
    }
    PHP;
// Which of the two is named first depends on the call at which the key's place was free.
ob_start(fn (string $text): string => preg_replace('/: (10+ in 300 s) and (5 in 300 s)/', ': $2 and $1', $text));
run('while others are called', $page('login'));
run('two names', $page('login') . $page('search'));
run('by check() of several clients', '$bucket = new TokenBucket(null, "x", name: "whois"); $bucket->check("other", 9, 9); for ($client = 0; $client < 20; $client++) { for ($i = 0; $i < 10; $i++) { foreach ([5, 10] as $limit) { $bucket->check("192.0.2.$client", $limit, 300); } } }');
ob_end_flush();
echo "\nNothing is said of:\n";
run('a limit that changes', [$two . '$strict->consume(); $strict->consume();', $two . '$loose->consume();', $two . '$loose->consume();']);
// In the place of a worker that has not read the changed file yet there is a limit in code.
$file = "$base/limits.ini";
$turns = '$turns = function () { for ($i = 0; $i < 60; $i++) { TokenBucket::per(null, "mail:x", 5, 300)->consume(); TokenBucket\limiter("mail", "x")->consume(); } };';
$change = fn (int $limit): string => "file_put_contents('$file', \"[mail]\\nlimit = $limit\\ninterval = 300\\n\");";
$is_read = 'while (TokenBucket\limiter("mail", "x")->peek(0)->getLimit() !== 7) { usleep(20_000); }';
run('a changed file while old numbers are called', $turns . $change(5) . '$turns();' . $change(7) . $is_read . '$turns();', "-d token_bucket.limits=$file");
run('calls that take nothing', $two . '$strict->consume(); $loose->peek(); $loose->block(1); $loose->reset(); $strict->consume();');
run('two algorithms', '$bucket = TokenBucket::per(null, "a", 5, 300); $bucket->consume(); (new FixedWindow(null, "a", 9, 60))->consume(); $bucket->consume();');
run('one limit in other words', 'foreach ([300, 1] as $_) { TokenBucket::per(null, "a", 5, 300)->consume(); (new TokenBucket(null, "a", 5, 5 / 300))->consume(); }');
run('two identifiers', 'foreach ([5, 7, 5] as $limit) { TokenBucket::per(null, "login:$limit", $limit, 60)->consume(); }');
run('switched off', $two . '$strict->consume(); $loose->consume(); $strict->consume();', '-d token_bucket.warn_of_mistakes=0');
?>
--EXPECT--
in turn: 
Warning: TokenBucket::consume(): Two limits on one identifier of "login" overwrite each other: 5 in 300 s and 100 in 300 s; an identifier must have one limit

by several processes: 
Warning: TokenBucket::consume(): Two limits on one identifier of "login" overwrite each other: 5 in 300 s and 100 in 300 s; an identifier must have one limit

by check(): 
Warning: TokenBucket::check(): Two limits on one identifier overwrite each other: 5 in 300 s and 10 in 300 s; an identifier must have one limit

in a Compound: 
Warning: TokenBucket\Compound::attempt(): Two limits on one identifier of "login" overwrite each other: 100 in 300 s and 5 in 300 s; an identifier must have one limit

a given name: 
Warning: TokenBucket\FixedWindow::consume(): Two limits on one identifier of "mail" overwrite each other: 5 in 60 s and 7 in 60 s; an identifier must have one limit

no name: 
Warning: TokenBucket\FixedWindow::consume(): Two limits on one identifier overwrite each other: 5 in 60 s and 7 in 60 s; an identifier must have one limit

in one process: 
Warning: TokenBucket\FixedWindow::consume(): Two limits on one identifier overwrite each other: 5 in 60 s and 7 in 60 s; an identifier must have one limit

while others are called: 
Warning: TokenBucket::consume(): Two limits on one identifier of "login" overwrite each other: 5 in 300 s and 100 in 300 s; an identifier must have one limit

two names: 
Warning: TokenBucket::consume(): Two limits on one identifier of "login" overwrite each other: 5 in 300 s and 100 in 300 s; an identifier must have one limit

Warning: TokenBucket::consume(): Two limits on one identifier of "search" overwrite each other: 5 in 300 s and 100 in 300 s; an identifier must have one limit

by check() of several clients: 
Warning: TokenBucket::check(): Two limits on one identifier of "whois" overwrite each other: 5 in 300 s and 10 in 300 s; an identifier must have one limit


Nothing is said of:
a limit that changes: 
a changed file while old numbers are called: 
calls that take nothing: 
two algorithms: 
one limit in other words: 
two identifiers: 
switched off: 
