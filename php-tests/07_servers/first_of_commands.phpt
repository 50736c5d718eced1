--TEST--
FirstOf: one command for each limit up to the one that accepts, none for a denial that is remembered or from a lease; each limit's own policy answers if its server fails
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=10000
token_bucket.connect_timeout_ms=10000
token_bucket.deny_cache=0
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';
use TokenBucket\{FirstOf, FixedWindow, Limiter, SlidingWindow};

function left(array $limits): string
{
    return implode('+', array_map(fn (Limiter $limit): int => $limit->peek(0)->getRemainingTokens(), $limits));
}
$single = new Server('redis');
$cluster = new Server('redis', ['--cluster-enabled', 'yes', '--cluster-port', free_port()]);
$cluster->ask('CLUSTER ADDSLOTSRANGE 0 16383');
wait_until(fn () => str_contains($cluster->ask('CLUSTER INFO'), 'cluster_state:ok'));
$memcached = new Server('memcached');

$redis = fn (Server $server): callable => fn (): int => $server->commands()['evalsha'] ?? 0;
$dsns = [
    'single' => [$single->dsn(), 'x', $redis($single)],
    'cluster' => ["redis+cluster://127.0.0.1:$cluster->port", 'x', $redis($cluster)],
    // A state that was just written is not read again: the number of commands says little.
    'memcached' => [$memcached->dsn(), 'x', fn (): int => 0],
];
foreach ($dsns as $name => [$dsn, $client, $commands]) {
    $limits = [new FixedWindow($dsn, "quota:$client", 2, 3600), TokenBucket::per($dsn, "pool:$client", 3, 345600), new SlidingWindow($dsn, "credits:$client", 2, 7200)];
    $first = new FirstOf(...$limits);
    $first->peek();
    $asked = function (callable $call) use ($commands): string {
        $before = $commands();
        $answer = $call();
        return ($answer ? $answer . ' by ' : 'denied by ') . $commands() - $before;
    };
    $charged = fn (int $cost = 1, int $leave = 0): callable => fn (): string => implode($first->attempt($cost, $leave)->getChargedTo());
    echo "$name: ", implode(', ', array_map($asked, [$charged(), $charged(2), $charged(), $charged(1, 1), $charged(1), $charged(1), $charged(3)])), ', ', left($limits), ', ';
    $decision = $first->attempt();
    echo implode($decision->getDeniedBy()), ' ', round($decision->getRetryAfter(), -2), ', ';
    echo $asked(fn (): string => $first->peek(0)->isAccepted() ? 'peek' : ''), ', ', $asked(fn (): string => $first->consume() ? 'true' : ''), "\n";
    // Settled and given back where it was charged.
    $first->reset();
    [$one, $two] = [$first->attempt(1), $first->attempt(2)];
    echo '  ', left($limits), ' ', json_encode([$one->refund(), $two->settle(3)]), ' ', left($limits), "\n";
}

// All denials are known: no server is asked. One that is not known is.
ini_set('token_bucket.deny_cache', '1');
$buckets = fn (Server $server): array => array_map(fn (int $i): TokenBucket => TokenBucket::per($server->dsn(), "known$i:x", 1, 3600), [1, 2]);
foreach ([[$single, $redis($single)], [$memcached, fn (): int => memcached_commands($memcached->port)['cmd_get']]] as [$server, $commands]) {
    $limits = $buckets($server);
    $first = new FirstOf(...$limits);
    echo json_encode([$first->consume(), $first->consume(), $first->consume()]);
    $before = $commands();
    echo ' ', json_encode([$first->attempt()->getDeniedBy(), $first->consume(), $first->attempt()->isAccepted()]), ' ', $commands() - $before;
    $limits[1]->refund();
    $before = $commands();
    echo ' ', json_encode($first->attempt()->getChargedTo()), ' ', $commands() - $before, "\n";
}

// A limit with a lease is charged to it: one trip brings the tokens of many calls. Refunds go back into it.
$leased = new TokenBucket($single->dsn('lease=64'), 'leased:x', 10_000, 0.001, 'leased');
$spare = new TokenBucket($single->dsn(), 'spare:x', 100, 0.001, 'spare');
$first = new FirstOf($leased, $spare);
$before = $redis($single)();
$decisions = array_map(fn () => $first->attempt(), range(1, 767));
echo json_encode(array_count_values(array_merge(...array_map(fn ($it): array => $it->getChargedTo(), $decisions)))), ' by ', $redis($single)() - $before, ', ';
$before = $redis($single)();
echo json_encode([$decisions[766]->refund(), $first->refund()]), ' by ', $redis($single)() - $before, ', ';
// All that the first has, and no more, then the next.
$first = new FirstOf(new TokenBucket($single->dsn('lease=10'), 'used up:x', 100, 0.001, 'used up'), $spare);
echo json_encode(array_count_values(array_map(fn (): string => implode($first->attempt()->getChargedTo()), range(1, 120)))), "\n";

// The server fails: each limit's own policy answers.
ini_set('token_bucket.timeout_ms', '300');
foreach ([['fallback', 'fallback'], ['closed', 'open'], ['open', 'closed'], ['closed', 'throw'], ['throw', 'open']] as [$one, $two]) {
    $id = "$one-$two";
    $server = new Server('redis');
    $first = new FirstOf(TokenBucket::per($server->dsn("on_error=$one"), "one:$id", 1, 3600), TokenBucket::per($server->dsn("on_error=$two"), "two:$id", 1, 3600));
    $server->kill();
    echo $id;
    for ($i = 0; $i < 3; $i++) {
        try {
            $decision = @$first->attempt();
            echo ' ', json_encode([$decision->isAccepted(), $decision->isDegraded(), $decision->getChargedTo()]);
        } catch (TokenBucket\StorageException) {
            echo ' thrown';
        }
    }
    echo "\n";
}
?>
--EXPECT--
single: quota by 1, pool by 2, quota by 1, credits by 3, pool by 2, credits by 3, denied by 3, 0+0+0, quotapoolcredits 3600, peek by 1, denied by 3
  1+1+2 [true,true] 2+0+2
cluster: quota by 1, pool by 2, quota by 1, credits by 3, pool by 2, credits by 3, denied by 3, 0+0+0, quotapoolcredits 3600, peek by 1, denied by 3
  1+1+2 [true,true] 2+0+2
memcached: quota by 0, pool by 0, quota by 0, credits by 0, pool by 0, credits by 0, denied by 0, 0+0+0, quotapoolcredits 3600, peek by 0, denied by 0
  1+1+2 [true,true] 2+0+2
[true,true,false] [["known1","known2"],false,false] 0 ["known2"] 1
[true,true,false] [["known1","known2"],false,false] 0 ["known2"] 1
{"leased":767} by 17, [true,true] by 0, {"used up":100,"spare":20}
fallback-fallback [true,true,["one"]] [true,true,["two"]] [false,true,[]]
closed-open [true,true,[]] [true,true,[]] [true,true,[]]
open-closed [true,true,[]] [true,true,[]] [true,true,[]]
closed-throw thrown thrown thrown
throw-open thrown thrown thrown
