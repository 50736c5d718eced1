--TEST--
lease: windows give out each hit once on every store on servers; what a call did not need goes back to its own window, or nowhere
--EXTENSIONS--
pcntl
posix
--INI--
token_bucket.deny_cache=0
token_bucket.on_error=throw
token_bucket.timeout_ms=10000
token_bucket.connect_timeout_ms=10000
--FILE--
<?php
require dirname(__DIR__, 2) . '/servers.inc';
require dirname(__DIR__, 2) . '/utils.inc';
use TokenBucket\{CalendarWindow, FixedWindow, Limiter};

/** Both windows on a store. */
$windows = fn (string $dsn, string $id, int $limit): array => [new FixedWindow($dsn, $id, $limit, 3_600), new CalendarWindow($dsn, $id, $limit, 'year', 'UTC')];
foreach (server_dsns() as $name => $dsn) {
    $id = 'lease-windows:' . bin2hex(random_bytes(8));
    foreach ($windows($dsn, $id, 500) as $i => $plain) {
        $leased = $windows(with($dsn, 'lease=32'), $id, 500)[$i];
        $first = $leased->attempt();
        $accepted = 1 + substr_count(times(300, $leased->consume(...)), '1');
        // Settled by the decision: of one that a lease has made, too. Four of five go back, then one of five; ten are charged in place of five.
        $settled = array_map(fn (int $cost): ?bool => $leased->attempt(5)->settle($cost), [1, 4, 10]);
        $accepted += 15 + substr_count(times(300, $leased->consume(...)), '1');
        $left = $plain->peek()->getRemainingTokens();
        $is_right = [$accepted, $left, $settled] === [500, 0, [true, true, true]];
        $is_right || print("$name, " . $plain::class . ": $accepted accepted, $left left, " . json_encode($settled) . "\n");
        $first->refund() && $plain->peek()->getRemainingTokens() === 1 || print("$name: the first hit does not go back\n");
    }
}
echo count(server_dsns()) > 8 ? 'all stores' : 'few stores', "\n";

$redis = new Server('redis');
/** How many commands the server gets for $call, and what it returns. */
$trips = function (callable $call) use ($redis): string {
    $asked = fn (): int => $redis->commands()['evalsha'] ?? 0;
    $before = $asked();
    $answer = json_encode($call());
    return "$answer by " . $asked() - $before . ' trips';
};
(new FixedWindow($redis->dsn(), 'script', 1, 1))->peek();
$left = fn (Limiter $limiter): int => $limiter->peek(0)->getRemainingTokens();

foreach ($windows($redis->dsn('lease=64'), 'busy', 4_000) as $window) {
    echo $window::class, ': ', $trips(fn () => substr_count(times(127, $window->consume(...)), '1')), ', ', $trips(fn () => substr_count(times(640, $window->consume(...)), '1'));
    times(10, $window->consume(...));
    $decision = $window->attempt(5);
    echo ', a refund ', $trips($decision->refund(...)), ', ', json_encode([$decision->getTokens(), $decision->isDegraded(), $left($window)]), "\n";
}

// A window of a second that has ended: what was charged to it changes nothing in the next one.
$leased = new FixedWindow($redis->dsn('lease=64'), 'short', 400, 1);
$plain = new FixedWindow($redis->dsn(), 'short', 400, 1);
$window = function () use ($leased, $redis): array {
    // Begins with a window of its own, in which all of this has time.
    do {
        usleep((int) ($leased->peek(0)->getResetAfter() * 1e6) + 1_000);
        times(100, $leased->consume(...));
        $decisions = array_map(fn () => $leased->attempt(2), range(1, 4));
    } while ($decisions[3]->getResetAfter() < 0.5);
    return $decisions;
};
[$in_time, $more, $late, $late_more] = $window();
echo 'in time: ', $trips(fn () => $in_time->refund()), ', ', $trips(fn () => $more->settle(5)), ', left ', $left($leased), "\n";
$window();
$before = [$left($plain), $left($leased)];
echo 'too late: ', $trips(fn () => $late->refund()), ', ', $trips(fn () => $late_more->settle(5)), ', ', json_encode($before === [$left($plain), $left($leased)]), "\n";

// The server and a lease say the same end of the window.
$of_server = $plain->peek(0)->getResetAfter();
$of_lease = $leased->attempt()->getResetAfter();
echo $of_lease <= $of_server && $of_lease > $of_server - 0.4 ? 'one end' : "$of_lease, $of_server", "\n";

// reset() and block() end the lease; another limit on the identifier has one of its own.
$leased = $windows($redis->dsn('lease=64'), 'ended', 1_000);
foreach ($windows($redis->dsn(), 'ended', 1_000) as $i => $plain) {
    times(140, $leased[$i]->consume(...));
    $leased[$i]->reset();
    echo json_encode([$left($plain), $left($leased[$i])]);
    times(140, $leased[$i]->consume(...));
    $other = $windows($redis->dsn('lease=64'), 'ended', 2_000)[$i];
    echo ' ', $trips($other->consume(...));
    // Once lower numbers are in force alone, what was taken ahead is handed out no more. A decision by the old ones is settled.
    times(140, $leased[$i]->consume(...));
    $decision = $leased[$i]->attempt(5);
    $lower = $windows($redis->dsn('lease=64'), 'ended', 100)[$i];
    echo ' ', times(3, $lower->consume(...));
    $before = $left($plain);
    echo json_encode($decision->refund()), ' ', $left($plain) - $before;
    times(140, $leased[$i]->consume(...));
    $leased[$i]->block(900);
    echo ' ', json_encode($leased[$i]->consume()), "\n";
}
?>
--EXPECT--
all stores
TokenBucket\FixedWindow: 127 by 7 trips, 640 by 10 trips, a refund true by 0 trips, [5,false,3223]
TokenBucket\CalendarWindow: 127 by 7 trips, 640 by 10 trips, a refund true by 0 trips, [5,false,3223]
in time: true by 0 trips, true by 1 trips, left 291
too late: false by 1 trips, false by 1 trips, true
one end
[1000,1000] true by 1 trips 000true 5 false
[1000,1000] true by 1 trips 000true 5 false
