--TEST--
php-fpm: workers killed under load block no client and admit none too many
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
/*
 * Each request takes tokens from one bucket until it is empty, and leaves a byte in a file for each.
 * A token may be taken and its byte not yet be written when the kill comes, never the other way
 * round: a kill can lose one token, and nothing may give one away.
 */
require __DIR__ . '/fpm.inc';

const CAPACITY = 1_000_000;
const RATE = 0.01; // the slowest that so large a bucket may have, nearly: nothing comes back in time
const REQUESTS = 60;
const KILLS = 40;

$fpm = new Fpm(['www' => []]);
$fpm->script('bucket.php', file_get_contents(__DIR__ . '/bucket.inc'));
$fpm->script('drain.php', <<<'CODE'
    <?php
    $file = fopen(__DIR__ . '/scratch/taken', 'ab');
    $bucket = new TokenBucket(null, 'killed', $_GET['capacity'], $_GET['rate']);
    while ($bucket->consume()) {
        fwrite($file, '.');
    }
    CODE);
function taken(): int
{
    global $fpm;
    clearstatcache();
    return (int) @filesize("$fpm->scratch/taken");
}

$requests = [];
for ($i = 0; $i < REQUESTS; $i++) {
    $requests[] = $fpm->send('www', 'drain.php', ['capacity' => CAPACITY, 'rate' => RATE]);
}
$fpm->wait_until(fn () => taken() > 0, 'the load');
seed_chance();
for ($i = 0; $i < KILLS; $i++) {
    $workers = $fpm->workers();
    $victim = $workers[array_rand($workers)];
    posix_kill($victim, SIGKILL);
    $fpm->wait_until(
        fn () => !in_array($victim, $fpm->workers()) && count($fpm->workers()) === 4,
        'a worker in the place of the one killed',
    );
    usleep(mt_rand(0, 5_000)); // the next dies at any instruction
}
$at_the_last_kill = taken();

$answers = array_filter(array_map(FastCgi::receive(...), $requests));
$lost = REQUESTS - count($answers);
$taken = taken();
$later = $fpm->request('www', 'drain.php', ['capacity' => CAPACITY, 'rate' => RATE]);
$fresh = $fpm->request('www', 'bucket.php', ['id' => 'later', 'capacity' => 3, 'tries' => 5])->json();

foreach ([
    'the load outlasted the kills' => $at_the_last_kill < CAPACITY,
    'requests died with their workers' => $lost > 0 && $lost <= KILLS,
    'no token was given twice' => $taken <= CAPACITY,
    'none was lost but by those killed' => $taken >= CAPACITY - KILLS,
    'the bucket is empty for those who come later' => $later->status === 200 && taken() === $taken,
    'other buckets serve on' => $fresh['taken'] === 3,
] as $claim => $holds) {
    echo $claim, ': ', $holds ? 'yes' : "no, $lost requests lost, $at_the_last_kill then $taken taken", "\n";
}
?>
--EXPECT--
the load outlasted the kills: yes
requests died with their workers: yes
no token was given twice: yes
none was lost but by those killed: yes
the bucket is empty for those who come later: yes
other buckets serve on: yes
