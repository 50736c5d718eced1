--TEST--
statistics(): calls of exempt clients are counted apart, also in sets
--INI--
token_bucket.limits={PWD}/exempt.limits.ini
token_bucket.prefix="exempt:"
--FILE--
<?php
use function TokenBucket\{concurrency_limit, limiter, statistics};

file_put_contents(__DIR__ . '/exempt.limits.ini', <<<'INI'
    [api]
    limit = 3
    interval = 60
    except = 10.0.0.0/8

    [burst]
    algorithm = sliding_window
    limit = 2
    interval = 10

    [work]
    algorithm = concurrency
    limit = 1
    except = 10.0.0.0/8

    [both]
    all = api burst

    [either]
    first = api burst
    INI);

for ($i = 0; $i < 5; $i++) {
    $_ = limiter('api', '10.9.9.9')->attempt();
    $_ = limiter('api', '192.0.2.1')->attempt();
}
$_ = limiter('both', ['10.9.9.9', 'a'])->attempt();
$_ = limiter('either', ['10.9.9.9', 'a'])->attempt();
$_ = limiter('api', '10.9.9.9')->reserve(100);
limiter('api', '10.9.9.9')->peek();
$held = array_map(fn (string $client) => concurrency_limit('work', $client)->acquire(), ['10.9.9.9', '10.9.9.9', '192.0.2.1', '192.0.2.1']);
foreach (array_diff_key(statistics(), ['*' => 0]) as $name => $counts) {
    echo "$name: {$counts['checked']} checked, {$counts['denied']} denied, {$counts['exempt']} exempt\n";
}
?>
--CLEAN--
<?php
unlink(__DIR__ . '/exempt.limits.ini');
?>
--EXPECT--
api: 5 checked, 2 denied, 8 exempt
burst: 1 checked, 0 denied, 0 exempt
work: 2 checked, 1 denied, 2 exempt
