--TEST--
Compound: 8 processes over two overlapping Compounds in shared memory charge exactly what is admitted, in each of 60 rounds
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require dirname(__DIR__) . '/processes.inc';
require __DIR__ . '/compound_race.inc';

foreach (['shm:compound-race' => 60] as $dsn => $rounds) {
    [$admitted, $wrong] = race($dsn, $rounds, 500);
    echo $admitted > 20 * $rounds ? 'many' : $admitted, ' admitted, ', count($wrong), " wrong\n", implode("\n", array_slice($wrong, 0, 9));
}
?>
--EXPECT--
many admitted, 0 wrong
