<?php

/*
 * A file of 50,000 clients. The first process reads it; those after it have a copy, which needs a part of the memory, until the file changes.
 * Usage: clients.php FOLDER VERSION [copy], with token_bucket.limits=FOLDER/limits.ini
 */

declare(strict_types=1);

[, $folder, $version, $copy] = [...$argv, ''];
is_dir($folder) || mkdir($folder);
if (!file_exists("$folder/$version")) {
    touch("$folder/$version");
    $lines = ["10.0.0.0/8 = 7 / 30\n", "10.0.0.7 = 3$version\n", "\"a b\" = 5 ; a comment\n", "2001:db8::/32 = none\n", "b = 4$version\n"];
    for ($i = 0; $i < 50_000; $i++) {
        $lines[] = long2ip(0x0b000000 + ($i << 8)) . '/24 = ' . (($i % 1_000) + 1) . "\n";
    }
    file_put_contents("$folder/clients.ini", implode('', $lines));
    file_put_contents("$folder/limits.ini", "[api]\nlimit = 2\ninterval = 60\nclients = clients.ini\n");
    touch("$folder/clients.ini", time() - 60);
    touch("$folder/limits.ini", time() - 60);
    // What is written now is read once more, for PHP tells whole seconds.
    while (microtime(true) < filectime("$folder/clients.ini") + 1.6) {
        usleep(100_000);
    }
}
foreach (['10.0.0.7', '10.9.9.9', 'a b', 'a', 'b', '2001:db8::1', '11.0.7.9', '11.195.79.1', '11.195.80.1', '12.0.0.1', '10.0.0.7:80'] as $client) {
    $decision = TokenBucket\limiter('api', $client)->peek();
    echo $client, ': ', $decision->getLimit(), ' ', json_encode([$decision->isExempt(), TokenBucket\client_terms('api', $client)]), "\n";
}
if ($copy !== '' && memory_get_peak_usage() > 8 << 20) {
    echo 'read again: ', memory_get_peak_usage(), "\n";
}
