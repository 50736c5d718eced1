<?php

/* Plays the vectors of other limiters' suites on the stand-in's storages. */

declare(strict_types=1);

require __DIR__ . '/../../../php-tests/02_storages/vectors.inc';

foreach (['shm:vectors', 'array:'] as $dsn) {
    $result = play_vectors($dsn);
    echo implode("\n", $result), " on $dsn\n";
    count($result) === 1 || exit(1);
}
