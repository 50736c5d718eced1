--TEST--
limiter(): share/limits.ini, the example that packages install, is valid, and its comments say what its limits do
--INI--
token_bucket.limits={PWD}/../../share/limits.ini
token_bucket.storage=array:
token_bucket.test_clock=1
pcre.jit=0
--FILE--
<?php
use TokenBucket\TestClock;
use function TokenBucket\{concurrency_limit, limiter};

TestClock::freeze(1000);
// The sections as the file has them, so that a new one cannot be forgotten here.
preg_match_all('/^\[(.+)\]$/m', file_get_contents(__DIR__ . '/../../share/limits.ini'), $sections);
foreach ($sections[1] as $name) {
    if ($name === 'report') {
        echo get_class(concurrency_limit($name, 'anna')), "\n";
        continue;
    }
    $limiter = limiter($name, 'anna');
    echo get_class($limiter), ' ', $limiter->attempt()->getHeaders()['RateLimit-Policy'], "\n";
}

echo "\nThe call in the comment on the set:\n";
$login = limiter('login', ['login_network' => '192.0.2.1', 'login_pair' => '192.0.2.1 bob']);
$decision = $login->attempt(5);
echo json_encode($login->attempt()->getDeniedBy()), ' ', limiter('login_network', '192.0.2.1')->peek()->getRemainingTokens(), "\n";

echo "\nWhat a batch job leaves, and when credits are charged:\n";
echo limiter('search_batch', 'bob')->takeUpTo(30)->getTokens(), ' ', limiter('search', 'bob')->takeUpTo(30)->getTokens(), "\n";
$plan = limiter('plan', 'bob');
echo json_encode([$plan->attempt(10_000)->getChargedTo(), $plan->attempt()->getChargedTo()]), "\n";

echo "\nThe limit that is tried out:\n";
limiter('page', '192.0.2.1')->consume(120);
$decision = limiter('page', '192.0.2.1')->attempt();
echo json_encode([$decision->isAccepted(), $decision->wouldDeny()]), "\n";
?>
--EXPECT--
TokenBucket "search";q=30;w=60
TokenBucket\Compound "login_pair";q=5;w=300, "login_network";q=30;w=300
TokenBucket "login_network";q=30;w=300
TokenBucket "login_pair";q=5;w=300
TokenBucket "login_account";q=100;w=3600
TokenBucket "api_of_customers";q=100;w=60
TokenBucket\SlidingWindow "contact_form";q=3;w=600
TokenBucket\FixedWindow "export";q=50;w=86400
TokenBucket "search_batch";q=20;w=60
TokenBucket\FirstOf "included";q=10000;w=2674800
TokenBucket\CalendarWindow "included";q=10000;w=2674800
TokenBucket\FixedWindow "credits";q=5000;w=31536000
TokenBucket "page";q=120;w=60
TokenBucket\ConcurrencyLimit

The call in the comment on the set:
["login_pair"] 25

What a batch job leaves, and when credits are charged:
20 10
[["included"],["credits"]]

The limit that is tried out:
[true,true]
