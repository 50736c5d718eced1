<?php
/*
 * Runs a real php-fpm pool on every store at once, under attack, for MINUTES, while servers are stopped and killed,
 * workers are killed and the pool is reloaded. Ends with a table, and a pass or the list of faults.
 */
require dirname(__DIR__, 2) . '/php-tests/06_fpm/fpm.inc';
require dirname(__DIR__, 2) . '/php-tests/servers.inc';
foreach (['stores', 'bound', 'bucket_bound', 'window_bound', 'journal', 'client', 'faults', 'findings', 'machine', 'memory', 'warnings', 'table'] as $part) {
    require __DIR__ . "/$part.php";
}

const WORKERS = 8;
/** The first HOT_CLIENTS attackers want the same bucket of a hot store at the same time. */
const HOT_CLIENTS = 4;
const CLIENTS = ['attacker', 'attacker', 'attacker', 'attacker', 'attacker', 'attacker', 'attacker', 'attacker', 'attacker', 'attacker', 'flood', 'flood', 'blocker', 'honest', 'honest', 'honest', 'honest', 'guest', 'guest', 'guest', 'guest', 'control', 'control'];
/** How an attacker calls, as page.php knows it; the first ALONE ways take from one bucket. */
const WAYS = [[], ['refund'], ['settle'], ['leave'], ['with'], ['with', 'refund'], ['first'], ['first', 'settle']];
const ALONE = 4;
/**
 * The number of buckets that attackers fight for on each store, and of sliding windows, and their limit: a window allows
 * CAPACITY in any CAPACITY / RATE seconds.
 */
const BUCKETS = 3;
const CAPACITY = 8;
const RATE = 5;
/** The same for the stores with leases, how many tokens a host takes ahead there, and the time for which attackers fight for one of the buckets, ns. */
const LEASED_CAPACITY = 50;
const LEASED_RATE = 10;
const LEASE = 12;
const LEASED_FOR = 2_000_000_000;
/** How many guests may hold a permit of a store at once. */
const PERMITS = 2;
/** The number of a cluster's breakers, which share its slots. */
const CLUSTER_BREAKERS = 32;
const TIMEOUT_MS = 200;
const CONNECT_TIMEOUT_MS = 200;
/** Nanoseconds within which a server is used again after its return: it is probed about once a second. */
const BACK_WITHIN = 2_000_000_000;
/** Milliseconds between two stalls of the server that has some. */
const STALLS_EVERY_MS = 2_000;
/** The time after which a cluster takes a silent node for lost. */
const NODE_TIMEOUT_MS = 1_000;

/** Nanoseconds that a call may work on after its time-out. */
const OWN_WORK = 1_000_000;
/** Nanoseconds by which waits that end late may prolong a call: their delay does not count as the server's silence. */
const LATE_WAITS = 50_000_000;
/** Nanoseconds before and after a stray in which a warning may give its reason. */
const WARNED_BEFORE = 3_000_000_000;

/** Nanoseconds since 1970. */
function wall(): int
{
    return (int) (microtime(true) * 1e6) * 1000;
}

// exit() runs the shutdown functions, which end and remove what was started.
pcntl_async_signals(true);
pcntl_signal(SIGTERM, fn () => exit(143));
pcntl_signal(SIGINT, fn () => exit(130));

$seconds = (int) round(60 * (float) (getenv('MINUTES') ?: 10));
$seconds >= 20 || give_up('Soak failed: MINUTES must be at least 0.34');
$seed = (int) (getenv('SEED') ?: random_int(1, 999_999));
mt_srand($seed);
echo "Soak: ", $seconds, " s, ", WORKERS, " workers, ", count(CLIENTS), " clients, SEED=$seed\n";

// So that other work of this machine does not look like an outage; only root may raise the priority.
@proc_nice(-10);
$stores = stores();
$nodes = [];
foreach ($stores as $store) {
    foreach ($store->nodes as $node) {
        $nodes[$node->name] = $node;
    }
}
$fpm = new Fpm(['www' => [
    'pm.max_children' => (string) WORKERS,
    'php_admin_flag[display_errors]' => 'off',
    'php_admin_value[token_bucket.shm_path]' => ini_get('token_bucket.shm_path'),
    'php_admin_value[token_bucket.timeout_ms]' => (string) TIMEOUT_MS,
    'php_admin_value[token_bucket.connect_timeout_ms]' => (string) CONNECT_TIMEOUT_MS,
]]);
$fpm->script('page.php', file_get_contents(__DIR__ . '/page.php'));

$control = new Server('redis');
$journal = new Journal("$fpm->folder/journal");
$offset = wall() - hrtime(true);
$from = time() + 1;
$until = $from + $seconds;
foreach (CLIENTS as $number => $kind) {
    if (pcntl_fork() === 0) {
        pcntl_signal(SIGTERM, SIG_DFL);
        pcntl_signal(SIGINT, SIG_DFL);
        mt_srand($seed * 100 + $number);
        try {
            (new Client($fpm, $stores, $journal, $number, $kind, $offset, $control->port))->run($from, $until);
        } catch (Throwable $e) {
            fwrite(STDERR, "A client failed: $e\n");
        }
        posix_kill(posix_getpid(), SIGKILL); // does not run the parent's shutdown functions
    }
}

$findings = [];
foreach ($stores as $store) {
    $findings[$store->name] = new Findings($store);
}
$faults = new Faults(array_values($nodes), $fpm);
$memory = new Memory();
$machine = new Machine();
$lost = $errors = $noted = $looked = 0;
$first_errors = [];
for ($second = $from; $second < $until; usleep(5_000)) {
    $now = time();
    $now < $until + 60 || give_up('Soak failed: a client does not end');
    $faults->tick($now >= $from + 5 && $now < $until - 6);
    for (; $noted < count($faults->outages); $noted++) {
        array_map(fn (Findings $found) => $found->lost($faults->outages[$noted]), $findings);
    }
    if ($now >= $looked + 2 && $now >= $from + 3 && $now < $until) {
        $memory->look($fpm);
        $looked = $now;
    }
    while ($second < $until && $seen_by_all = $journal->read($second, count(CLIENTS))) {
        $recent = array_values(array_filter($faults->outages, fn (Outage $outage): bool => $outage->to > ($second - 20) * 1_000_000_000));
        foreach ($seen_by_all as $seen) {
            $lost += $seen['lost'];
            $errors += count($seen['errors']);
            $first_errors = array_slice([...$first_errors, ...$seen['errors']], 0, 5);
            $machine->add($second, $seen);
            foreach ($seen['stores'] as $name => $of_store) {
                $findings[$name]->add($second, $of_store, $recent);
            }
        }
        $second++;
        // Every call that began before is in the journal by now.
        array_map(fn (Findings $found) => $found->advance(($second - 2) * 1_000_000_000), $findings);
    }
}
array_map(fn (Findings $found) => $found->advance(PHP_INT_MAX), $findings);

$connections = array_map(fn (Node $node): int => $node->connections(), $nodes);
[$warnings, $of_calls, $recoveries, $others] = count_warnings("$fpm->scratch/warnings.log", $stores);
$fpm->stop();
// A server notices the end of a connection a little later.
$left = fn (): int => array_sum(array_map(fn (Node $node): int => $node->connections(), $nodes));
for ($end = time() + 5; $left() > 0 && time() < $end; usleep(50_000));
$left = $left();

$report = new Report($findings, $faults->outages, $warnings, $connections, $machine, $from * 1_000_000_000, $until * 1_000_000_000);
$report->print();
$may_be_lost = $faults->killed + WORKERS * $faults->reloads;
$outages_by = fn (string $kind): int => count(array_filter($faults->outages, fn (Outage $outage): bool => $outage->kind === $kind));
printf(
    "%d outages of servers (%d killed, %d stopped, %d moved), %d workers killed, %d reloads; %d requests died with their workers (%d allowed), %d other errors.\n",
    count($faults->outages), $outages_by('kill'), $outages_by('stop'), $outages_by('move'), $faults->killed, $faults->reloads, $lost, $may_be_lost, $errors,
);
printf(
    "Attackers allowed: for each of %d buckets, %d calls and %d more a second; for each of %1\$d sliding windows, %2\$d calls in any %4\$.1f s; a bucket or window that a killed server lost starts full again; while a server is down this host's own allows as much. Above bound: calls over that bound in any stretch of time. A refunded call does not count, a call on two of them counts for each that it is charged to.\n",
    BUCKETS, CAPACITY, RATE, CAPACITY / RATE,
);
printf("With leases of %d tokens: %d calls and %d more a second in all, and a lease more in any stretch of time.\n", LEASE, LEASED_CAPACITY, LEASED_RATE);
printf(
    "Late: longer than %d ms, plus %d ms if the call connected or asked other servers for its server, plus what the controls overslept within five seconds of it, plus %.1f ms for its own work and waits that end late. Time without a processor does not count.\n",
    TIMEOUT_MS, 1.25 * CONNECT_TIMEOUT_MS, (OWN_WORK + LATE_WAITS) / 1e6,
);
echo $machine->summary(), "\n";
echo $memory->summary(), "\n";

$report->blame($lost > $may_be_lost, "$lost requests died with their workers, $may_be_lost allowed");
$report->blame($errors > 0, "$errors errors: " . implode('; ', $first_errors));
// A worker warns of single calls once a minute: in an outage, and after a worker died before its call was reported.
$alone = array_sum(array_map(fn (Findings $found): int => $found->store->fail_alone === null ? 0 : $found->degraded, $findings));
$may_fail = $lost + WORKERS * count($faults->outages) + $alone + array_sum(array_map(fn (Findings $found): int => count($found->strays), $findings));
$report->blame($of_calls > $may_fail, "$of_calls warnings of single calls, $may_fail allowed");
// One for each outage; that of a worker which died before it could warn has an end all the same.
$may_end = array_sum($warnings) + $may_be_lost;
$report->blame($recoveries > $may_end, "$recoveries ends of outages in the log, $may_end allowed");
// One of the last second, and one that a killed worker was to write, may be missing.
$report->blame($recoveries < intdiv(count($faults->outages), 2), "$recoveries ends of outages in the log");
$report->blame($others !== [], count($others) . ' other warnings: ' . implode('; ', array_slice($others, 0, 5)));
$report->blame($memory->grown() > 512, 'a worker has grown');
$report->blame($memory->master_grown() > 256, 'the master has grown');
$report->blame($left > 0, $left . ' connections are left after the pool has ended');
$report->blame($machine->controls === 0, 'the controls measured nothing');
if (!$report->faults) {
    echo "Soak passed\n";
    exit(0);
}
echo 'Soak failed: ', implode("\n    ", $report->faults), "\n";
exit(1);
