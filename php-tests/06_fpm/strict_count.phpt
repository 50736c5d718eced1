--TEST--
php-fpm: four workers at once admit exactly what the limit allows
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/fpm.inc';

$fpm = new Fpm(['www' => []]);
$fpm->script('bucket.php', file_get_contents(__DIR__ . '/bucket.inc'));
// A worker waits at the gate with its first request, so that all of them set off together.
$fpm->script('gated.php', <<<'CODE'
    <?php
    touch(__DIR__ . '/scratch/' . getmypid());
    flock(fopen(__DIR__ . '/gate', 'r'), LOCK_SH);
    require __DIR__ . '/bucket.php';
    CODE);
$fpm->script('gate', '');
$gate = fopen("$fpm->folder/gate", 'r');
flock($gate, LOCK_EX);

$send = fn () => $fpm->send('www', 'gated.php', ['id' => 'strict', 'capacity' => 20, 'tries' => 1]);
$requests = [];
for ($i = 0; $i < 100; $i++) {
    $requests[] = $send();
}
$fpm->wait_until(fn () => count(glob("$fpm->scratch/*")) === 4, 'four workers at the gate');
flock($gate, LOCK_UN);
for ($i = 0; $i < 100; $i++) {
    $requests[] = $send();
}

$answers = array_map(fn ($request) => FastCgi::receive($request)->json(), $requests);
echo 'answered: ', count($answers), "\n";
echo 'accepted: ', array_sum(array_column($answers, 'taken')), "\n";
echo 'by workers: ', count(array_unique(array_column($answers, 'pid'))), "\n";
?>
--EXPECT--
answered: 200
accepted: 20
by workers: 4
