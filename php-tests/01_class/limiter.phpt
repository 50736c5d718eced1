--TEST--
limiter(): limits and sets of a file, found by their names
--INI--
token_bucket.limits={PWD}/limiter.limits.ini
token_bucket.storage=array:
token_bucket.test_clock=1
--FILE--
<?php
use TokenBucket\TestClock;
use function TokenBucket\limiter;

$file = __DIR__ . '/limiter.limits.ini';
file_put_contents($file, <<<'INI'
    ; the limits of a login
    [login]
    all = login_network login_user

    [login_network]
    limit = 20
    interval = 60        ; a minute

    [login_user]
    algorithm = sliding_window
    limit = 3
    interval = "900"

    [mail]
    algorithm = fixed_window
    limit = 2
    interval = 10.5
    enforce = off

    [report]
    algorithm = leaky_bucket
    limit = 1
    interval = 5
    storage = array:?prefix=reports:
    on_error = closed
    INI);

TestClock::freeze(1000);
foreach (['login_network', 'login_user', 'mail', 'report', 'login'] as $name) {
    $limiter = limiter($name, 'anna');
    echo get_class($limiter), ' ', $limiter->attempt()->getHeaders()['RateLimit-Policy'], "\n";
}

echo "\nThe identifier is the name and the client:\n";
$own = new TokenBucket\SlidingWindow(null, 'login_user:anna', 3, 900);
echo $own->peek()->getRemainingTokens(), "\n";

echo "\nA set is charged as a whole, each limit for a client of its own:\n";
foreach ([['login_user' => 'bob', 'login_network' => '192.0.2.0/24'], ['192.0.2.0/24', 'bob'], ['192.0.2.0/24', 'bob'], ['192.0.2.0/24', 'bob']] as $client) {
    $decision = limiter('login', $client)->attempt();
    echo json_encode([$decision->isAccepted(), $decision->getDeniedBy()]), ' ';
}
echo limiter('login_network', '192.0.2.0/24')->peek()->getRemainingTokens(), ' ', limiter('login_user', 'bob')->peek()->getRemainingTokens(), "\n";

echo "\nenforce = off is a dry run:\n";
limiter('mail', 'x')->consume(2);
var_dump(limiter('mail', 'x')->consume());
var_dump(limiter('mail', 'x')->attempt()->wouldDeny());
?>
--CLEAN--
<?php
@unlink(__DIR__ . '/limiter.limits.ini');
?>
--EXPECT--
TokenBucket "login_network";q=20;w=60
TokenBucket\SlidingWindow "login_user";q=3;w=900
TokenBucket\FixedWindow "mail";q=2;w=11
TokenBucket\LeakyBucket "report";q=1;w=5
TokenBucket\Compound "login_network";q=20;w=60, "login_user";q=3;w=900

The identifier is the name and the client:
1

A set is charged as a whole, each limit for a client of its own:
[true,[]] [true,[]] [true,[]] [false,["login_user"]] 17 0

enforce = off is a dry run:
bool(true)
bool(true)
