<?php
// A hundred calls of every kind, as an application makes them in many requests.
require __DIR__ . '/dsn.inc';
for ($i = 0; $i < 20; $i++) {
    $bucket = new TokenBucket($_GET['store'] === 'shm' ? null : dsn($_GET['store']), 'work:' . random_int(1, 1000), 10, 1);
    $bucket->consume();
    $decision = $bucket->attempt();
    $bucket->check('client', 10, 300);
    $bucket->peek();
    (new TokenBucket\FixedWindow('shm:', "work:$i", 5, 60))->consume();
}
echo "done\n";
