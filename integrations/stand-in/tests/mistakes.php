<?php

/*
 * What is likely to be a mistake only here is in the log, once: a denied decision that was never asked, with its file and line, and a frozen
 * clock on files that outlive the test. A relative token_bucket.limits is the reason why there are no limits.
 * Usage: mistakes.php, with token_bucket.warn_of_mistakes=1, token_bucket.limits=conf/limits.ini and error_log=FILE
 */

declare(strict_types=1);

use TokenBucket\{Compound, FixedWindow};

require __DIR__ . '/../../../php-tests/check.inc';
require __DIR__ . '/../../../php-tests/web_server.inc';

$window = new FixedWindow('array:', 'unasked', 1, 60);
$asked = static fn(TokenBucket\Decision $decision): bool => $decision->isAccepted();
foreach ([
    static fn() => (bool) $window->attempt(),
    static fn() => $asked($window->attempt()) || $window->consume() || $window->peek()->wouldDeny() && json_encode($window->peek()),
    static fn() => (new Compound($window))->attempt() ? 1 : 0,
    static fn() => (bool) $window->attempt(),
] as $i => $call) {
    $call();
    $log = file_exists(ini_get('error_log')) ? file_get_contents(ini_get('error_log')) : '';
    check("the log after call $i", substr_count($log, 'never asked') === (int) ($i >= 2), $log);
}
// The Compound is the first.
preg_match('/mistakes\.php:(\d+), but/', $log, $found);
check('it names the line', str_contains(file(__FILE__)[(int) ($found[1] ?? 1) - 1], 'new Compound('), $log);
TokenBucket\TestClock::freeze(1_000);
TokenBucket::per('array:', 'frozen', 1, 60)->consume();
check('a frozen clock on no file is right', !str_contains(file_get_contents(ini_get('error_log')), 'TestClock'));
// The usual folder, in which nothing is left of it.
TokenBucket\StandIn\configure(['shm_path' => '']);
TokenBucket::per('shm:', 'frozen ' . getmypid(), 1, 60)->reset();
check('one on files is not', str_contains(file_get_contents(ini_get('error_log')), 'TestClock limits by files that outlive the test'));
try {
    TokenBucket\limiter('search', 'anna');
    $reason = 'no exception';
} catch (TokenBucket\ConfigurationException $e) {
    $reason = $e->getMessage();
}
check_same('a relative path', 'token_bucket.limits must be an absolute path; in php.ini it is conf/limits.ini', $reason);

// Each page is a new process to PHP, and an attacker could fill the log.
$folder = temporary_folder();
$stand_in = var_export(dirname(__DIR__) . '/stand-in.php', true);
file_put_contents("$folder/page.php", "<?php require $stand_in; echo TokenBucket\\client_address(\$_SERVER);");
$directives = ['token_bucket.shm_path' => $folder, 'token_bucket.warn_of_mistakes' => '1', 'log_errors' => '1', 'error_log' => "$folder/log"];
$server = new PhpServer("$folder/page.php", 4, $directives);
$pages = fn (): array => array_map(fn (Answer $it): string => $it->body, Http::send_all($server->port, array_fill(0, 8, ['/', ['X-Forwarded-For: 192.0.2.1']])));
$count = fn (): int => substr_count((string) file_get_contents("$folder/log"), 'so all clients of that proxy count as one');
check_same('pages behind a forgotten proxy', array_fill(0, 8, '127.0.0.1'), $pages());
$said = $count();
check('some pages at once say it', $said >= 1 && $said <= 4, $said);
$pages();
check_same('later ones do not', $said, $count());
[$note] = glob("$folder/*/said.forgotten_proxy");
touch($note, time() - 90_000);
$pages();
check('until a day later', $count() > $said);
