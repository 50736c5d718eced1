<?php
declare(strict_types=1);

/* For flush-speed.sh: the times of 1,500 accepted calls. */

(new TokenBucket\MysqlStorage(getenv('DSN')))->prepare();
$bucket = new TokenBucket(getenv('DSN'), 'flush:' . getmypid(), 1_000_000, 1_000);
$bucket->consume();
$times = [];
for ($i = 0; $i < 1_500; $i++) {
    $begin = hrtime(true);
    $bucket->consume() || exit("denied\n");
    $times[] = hrtime(true) - $begin;
}
sort($times);
printf("half within %.0f µs, 99 %% within %.0f µs\n", $times[750] / 1e3, $times[1_485] / 1e3);
