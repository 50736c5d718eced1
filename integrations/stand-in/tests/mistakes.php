<?php

/*
 * What is likely to be a mistake only here is in the log, once: a denied decision that was never asked, with its file and line, and a frozen
 * clock on files that outlive the test. A relative token_bucket.limits is the reason why there are no limits.
 * Usage: mistakes.php, with token_bucket.warn_of_mistakes=1, token_bucket.limits=conf/limits.ini and error_log=FILE
 */

declare(strict_types=1);

use TokenBucket\{Compound, FixedWindow};

require __DIR__ . '/../../../php-tests/check.inc';

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
