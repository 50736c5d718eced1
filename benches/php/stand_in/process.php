<?php
/*
 * A limiter in plain PHP, or the extension, in a process of its own: measures a call each time that its standard input names a number of
 * clients. Arguments: the limiter, and a folder for its files.
 */
require dirname(__DIR__) . '/lib/statistics.php';

use Symfony\Component\Cache\Adapter\FilesystemAdapter;
use Symfony\Component\Lock\Store\FlockStore;

[, $limiter, $folder] = $argv;
if ($limiter === 'symfony') {
    require dirname(__DIR__) . '/limiters/symfony.php';
    $factory = symfony_factory(new FilesystemAdapter('bench', 0, $folder), new FlockStore($folder), 1_000_000_000, 1e6);
    $decide = fn (string $client): bool => $factory->create($client)->consume()->isAccepted();
} else {
    require_once dirname(__DIR__, 3) . '/integrations/stand-in/stand-in.php';
    $decide = fn (string $client): bool => (new TokenBucket(null, $client, 1_000_000_000, 1e6))->consume();
}
extension_loaded('token_bucket') === ($limiter === 'extension') || throw new RuntimeException("$limiter is not what would be measured");

$calls = $limiter === 'extension' ? 100_000 : 1_000;
while (($line = fgets(STDIN)) !== false) {
    $clients = (int) $line;
    if (!isset($known[$clients])) {
        // All of them have their files before the first measurement.
        for ($i = 0; $i < $clients; $i++) {
            $decide("c$i");
        }
        $known[$clients] = true;
    }
    $accepted = 0;
    $start = hrtime(true);
    for ($i = 0; $i < $calls; $i++) {
        $accepted += (int) $decide('c' . (($i * 7) % $clients));
    }
    $took = hrtime(true) - $start;
    $accepted === $calls || throw new RuntimeException("only $accepted of $calls calls were let in");
    echo $took / $calls, "\n";
}
