--TEST--
Compound: one command to Redis for any number of limits, also in a cluster if they share a tag
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
use TokenBucket\{Compound, FixedWindow, LeakyBucket, Limiter};

/** The limits of a test: buckets and windows of an identifier each. */
function limits(string $dsn, int $count, callable $identifier): array
{
    return array_map(fn (int $i) => $i % 2 ? TokenBucket::per($dsn, $identifier($i), 50 + $i, 3600) : new FixedWindow($dsn, $identifier($i), 50 + $i, 3600), range(0, $count - 1));
}
function left(array $limits): string
{
    return implode(' ', array_map(fn (Limiter $limit): int => $limit->peek(0)->getRemainingTokens(), $limits));
}

$single = new Server('redis');
// One node has all slots: it still refuses a script on keys of two slots.
$cluster = new Server('redis', ['--cluster-enabled', 'yes', '--cluster-port', free_port()]);
$cluster->ask('CLUSTER ADDSLOTSRANGE 0 16383');
wait_until(fn () => str_contains($cluster->ask('CLUSTER INFO'), 'cluster_state:ok'));

foreach (['single' => [$single, $single->dsn()], 'cluster' => [$cluster, "redis+cluster://127.0.0.1:$cluster->port"]] as $name => [$server, $dsn]) {
    $asked = function (callable $work) use ($server): int {
        $before = $server->commands()['evalsha'] ?? 0;
        $work();
        return ($server->commands()['evalsha'] ?? 0) - $before;
    };
    foreach ([1, 2, 3, 16] as $count) {
        $limits = limits($dsn, $count, fn (int $i): string => "limit$i:{client$count}");
        $compound = new Compound(...$limits);
        $compound->peek();
        echo "$name, $count: ", implode(' ', array_map($asked, [
            'consume' => fn () => $compound->consume(),
            'attempt' => fn () => $compound->attempt(range(1, $count)),
            'denied' => fn () => $compound->attempt(60)->isAccepted() && give_up('not denied'),
            'peek' => fn () => $compound->peek(2),
            'free' => fn () => $compound->consume(0),
        ])), ' ', left($limits), "\n";
    }
    // A prefix with a tag does as well, and DSNs that differ in their time-outs only are one server.
    $limits = limits(with($dsn, 'prefix={tag}:'), 5, fn (int $i): string => "limit$i:x");
    $limits[] = new LeakyBucket(with($dsn, 'prefix={tag}:'), 'leaky:x', 9, 60);
    $compound = new Compound(...$limits);
    $compound->peek();
    echo "$name, tag in the prefix: ", $asked(fn () => $compound->consume()), ' ', left($limits), "\n";
    // A dry run and other time-outs are asked in the same step.
    $limits = [TokenBucket::per($dsn, 'enforced:{d}', 5, 3600), TokenBucket::per(with($dsn, 'enforce=0'), 'dry:{d}', 1, 3600), TokenBucket::per(with($dsn, 'timeout_ms=9000'), 'patient:{d}', 9, 3600)];
    $compound = new Compound(...$limits);
    $compound->peek();
    $answers = '';
    $times = $asked(function () use ($compound, &$answers): void {
        for ($i = 0; $i < 6; $i++) {
            $answers .= (int) $compound->consume();
        }
    });
    echo "$name, with a dry run: $answers $times ", left($limits), "\n";
}

// Identifiers of two slots: in order, and still all or nothing.
$dsn = "redis+cluster://127.0.0.1:$cluster->port";
$slot = fn (string $key): int => (int) trim(explode("\r\n", $cluster->ask("CLUSTER KEYSLOT $key"))[0], ':');
echo $slot('tb:one:x') === $slot('tb:two:x') ? "one slot\n" : "two slots\n";
$limits = [TokenBucket::per($dsn, 'one:x', 5, 3600), new FixedWindow($dsn, 'two:x', 3, 3600), TokenBucket::per($dsn, 'three:x', 9, 3600)];
$compound = new Compound(...$limits);
for ($i = 0; $i < 5; $i++) {
    echo json_encode($compound->consume()), ' ', left($limits), ', ';
}
$decision = $compound->attempt();
echo implode($decision->getDeniedBy()), ' ', json_encode($decision->refund()), ' ', left($limits), "\n";
$compound->reset();
$decision = $compound->attempt([1, 2, 3]);
echo left($limits), ' ', json_encode($decision->refund()), ' ', left($limits), "\n";

// A denial that the deny cache knows costs no command; only the limits that are known to deny are in the fields.
ini_set('token_bucket.deny_cache', '1');
foreach (['single' => [$single, $single->dsn()], 'cluster' => [$cluster, "redis+cluster://127.0.0.1:$cluster->port"]] as $name => [$server, $dsn]) {
    $limits = [TokenBucket::per($dsn, 'roomy:{k}', 50, 3600), TokenBucket::per($dsn, 'small:{k}', 2, 3600), new FixedWindow($dsn, 'window:{k}', 50, 3600)];
    $compound = new Compound(...$limits);
    $compound->consume(2);
    $first = $compound->attempt();
    $before = $server->commands()['evalsha'];
    $denied = 0;
    for ($i = 0; $i < 1_000; $i++) {
        $denied += (int) !$compound->consume();
    }
    $known = $compound->attempt();
    echo "$name: $denied denied, ", $server->commands()['evalsha'] - $before, ' asked, ', implode(' ', $known->getDeniedBy()), ', ';
    echo substr_count($first->getHeaders()['RateLimit'], 'r='), ' then ', substr_count($known->getHeaders()['RateLimit'], 'r='), ' in the fields, ', left($limits), "\n";
    // What gives back ends it.
    $limits[1]->refund(1);
    var_dump($compound->consume(), $compound->consume());
}
?>
--EXPECT--
single, 1: 1 1 1 1 1 48
single, 2: 1 1 1 1 1 48 48
single, 3: 1 1 1 1 1 48 48 48
single, 16: 1 1 1 1 1 48 48 48 48 48 48 48 48 48 48 48 48 48 48 48 48
single, tag in the prefix: 1 49 50 51 52 53 8
single, with a dry run: 111110 6 0 0 4
cluster, 1: 1 1 1 1 1 48
cluster, 2: 1 1 1 1 1 48 48
cluster, 3: 1 1 1 1 1 48 48 48
cluster, 16: 1 1 1 1 1 48 48 48 48 48 48 48 48 48 48 48 48 48 48 48 48
cluster, tag in the prefix: 1 49 50 51 52 53 8
cluster, with a dry run: 111110 6 0 0 4
two slots
true 4 2 8, true 3 1 7, true 2 0 6, false 2 0 6, false 2 0 6, two false 2 0 6
4 1 6 true 5 3 9
single: 1000 denied, 0 asked, small, 3 then 1 in the fields, 48 0 48
bool(true)
bool(false)
cluster: 1000 denied, 0 asked, small, 3 then 1 in the fields, 48 0 48
bool(true)
bool(false)
