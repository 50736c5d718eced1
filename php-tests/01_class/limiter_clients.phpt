--TEST--
Named limits: clients that are exempt, and clients with other numbers
--INI--
token_bucket.limits={PWD}/limiter_clients.limits.ini
token_bucket.storage=array:
token_bucket.test_clock=1
token_bucket.prefix="limiter_clients:"
--FILE--
<?php
use TokenBucket\TestClock;
use function TokenBucket\{client_terms, concurrency_limit, limiter};

file_put_contents(__DIR__ . '/limiter_clients.limits.ini', <<<'INI'
    [api]
    limit = 3
    interval = 60
    except = 10.0.0.0/8, 2001:db8::/32 monitoring ; our office
    clients = limiter_clients.clients.ini

    [burst]
    algorithm = sliding_window
    limit = 2
    interval = 10
    clients = limiter_clients.clients.ini

    [day]
    algorithm = calendar
    limit = 2
    unit = day
    except = 10.0.0.0/8

    [work]
    algorithm = concurrency
    limit = 1
    except = 10.0.0.0/8

    [both]
    all = api burst

    [either]
    first = api burst
    INI);
file_put_contents(__DIR__ . '/limiter_clients.clients.ini', <<<'INI'
    ; customers
    4711 = 10
    4712 = 1 / 10
    10.1.0.0/16 = 5
    "anna b" = none
    INI);
TestClock::freeze(1_000_000.0);

function show(string $what, TokenBucket\Decision $decision): void
{
    echo $what, ': ', $decision->isExempt() ? 'exempt' : "{$decision->getRemainingTokens()} of {$decision->getLimit()}", ', charged to [', implode(' ', $decision->getChargedTo()),
        '], ', implode(' ', array_map(strval(...), $decision->getHeaders())) ?: 'no fields', "\n";
}

echo "# each client\n";
foreach (['192.0.2.1', '10.9.9.9', '10.9.9.9 anna', '10.1.1.1', '2001:db8:1::/64', '2001::/16', 'monitoring', '4711', '4712', 'anna b'] as $client) {
    show($client, limiter('api', $client)->attempt());
    $terms = client_terms('api', $client);
    echo '    ', $terms === null ? 'as others' : basename($terms['file']) . ':' . $terms['line'] . ' ' . json_encode(array_slice($terms, 2)), "\n";
}

echo "# of an exempt client nothing is charged, whatever it calls\n";
$office = limiter('api', '10.9.9.9');
for ($i = 0; $i < 100; $i++) {
    $office->consume() || print "denied\n";
}
echo json_encode([$office->takeUpTo(5)->getTokens(), $office->reserve(100)->getWait(), $office->refund(), $office->attempt(4)->settle(1), $office->attempt(100)->isAccepted()]), "\n";
$office->block(60);
$office->block(60);
show('blocked', $office->attempt());
echo json_encode($office->attempt()), "\n";

echo "# sets: each limit for itself\n";
$both = fn (string $a, string $b) => limiter('both', [$a, $b])->attempt();
show('one exempt', $both('10.9.9.9', 'b'));
show('all exempt', $both('10.9.9.9', 'anna b'));
$both('10.9.9.9', 'b');
show('the other denies', $denied = $both('10.9.9.9', 'b'));
echo implode(' ', $denied->getDeniedBy()), "\n";
echo json_encode([limiter('both', ['10.9.9.9', 'c'])->consume(), limiter('both', ['10.9.9.9', 'c'])->consume(), limiter('both', ['10.9.9.9', 'c'])->consume()]), "\n";
for ($i = 0; $i < 4; $i++) {
    show('first', limiter('either', ['192.0.2.2', 'anna b'])->attempt());
}
$compound = new TokenBucket\Compound(limiter('api', '10.9.9.9'), limiter('day', '10.9.9.9'), limiter('burst', '192.0.2.3'));
show('compound', $compound->attempt());

echo "# how many at once\n";
foreach (['10.9.9.9', '192.0.2.1'] as $client) {
    $work = concurrency_limit('work', $client);
    $held = [$work->acquire(), $work->acquire()];
    echo $client, ': ', count(array_filter($held)), ' held, ', $work->getActive(), " counted\n";
}
?>
--CLEAN--
<?php
array_map(unlink(...), glob(__DIR__ . '/limiter_clients.*.ini'));
--EXPECTF--
# each client
192.0.2.1: 2 of 3, charged to [api], "api";q=3;w=60 "api";r=2;t=20
    as others
10.9.9.9: exempt, charged to [], no fields
    limiter_clients.limits.ini:4 {"exempt":true,"limit":null,"interval":null}
10.9.9.9 anna: 2 of 3, charged to [api], "api";q=3;w=60 "api";r=2;t=20
    as others
10.1.1.1: 4 of 5, charged to [api], "api";q=5;w=60 "api";r=4;t=12
    limiter_clients.clients.ini:4 {"exempt":false,"limit":5,"interval":null}
2001:db8:1::/64: exempt, charged to [], no fields
    limiter_clients.limits.ini:4 {"exempt":true,"limit":null,"interval":null}
2001::/16: 2 of 3, charged to [api], "api";q=3;w=60 "api";r=2;t=20
    as others
monitoring: exempt, charged to [], no fields
    limiter_clients.limits.ini:4 {"exempt":true,"limit":null,"interval":null}
4711: 9 of 10, charged to [api], "api";q=10;w=60 "api";r=9;t=6
    limiter_clients.clients.ini:2 {"exempt":false,"limit":10,"interval":null}
4712: 0 of 1, charged to [api], "api";q=1;w=10 "api";r=0;t=10
    limiter_clients.clients.ini:3 {"exempt":false,"limit":1,"interval":10}
anna b: exempt, charged to [], no fields
    limiter_clients.clients.ini:5 {"exempt":true,"limit":null,"interval":null}
# of an exempt client nothing is charged, whatever it calls
[5,0,false,false,true]

Warning: TokenBucket::block(): The client is exempt from the limit api (token_bucket.limits), so it was not blocked in %s on line %d
blocked: exempt, charged to [], no fields
{"accepted":true,"limit":3,"remaining_tokens":3,"retry_after":0,"reset_after":0,"wait":0,"degraded":false,"would_deny":false,"exempt":true}
# sets: each limit for itself
one exempt: 1 of 2, charged to [burst], "burst";q=2;w=10 "burst";r=1;t=10
all exempt: exempt, charged to [], no fields
the other denies: 0 of 2, charged to [], "burst";q=2;w=10 "burst";r=0;t=10 10
burst
[true,true,false]
first: 2 of 3, charged to [api], "api";q=3;w=60 "api";r=2;t=20
first: 1 of 3, charged to [api], "api";q=3;w=60 "api";r=1;t=20
first: 0 of 3, charged to [api], "api";q=3;w=60 "api";r=0;t=20
first: exempt, charged to [], no fields
compound: 1 of 2, charged to [burst], "burst";q=2;w=10 "burst";r=1;t=10
# how many at once
10.9.9.9: 2 held, 0 counted
192.0.2.1: 1 held, 1 counted