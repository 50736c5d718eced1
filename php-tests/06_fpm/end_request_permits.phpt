--TEST--
php-fpm: end_request() gives back permits before the request ends, and the end of the request gives back those taken since
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/fpm.inc';

$fpm = new Fpm(['www' => ['pm.max_children' => '1', 'php_admin_value[token_bucket.test_clock]' => '1']]);
$fpm->script('request.php', <<<'CODE'
    <?php
    final class Kept
    {
        public static $permits = [];
    }
    $limit = new TokenBucket\ConcurrencyLimit(null, 'request', 3);
    Kept::$permits[] = $limit->acquire();
    $active[] = $limit->getActive();
    TokenBucket\end_request();
    $active[] = $limit->getActive();
    Kept::$permits[] = $limit->acquire();
    Kept::$permits[] = $limit->acquire();
    $active[] = $limit->getActive();
    // The clock of a request before this one would be here.
    $bucket = new TokenBucket(null, $_GET['client'], 1, 1e-6);
    $taken = $bucket->consume();
    TokenBucket\TestClock::freeze(1e9);
    echo getmypid(), ' ', json_encode([$active, $taken]);
    CODE);
foreach (['a', 'b', 'c'] as $client) {
    [$pid, $answer] = explode(' ', $fpm->request('www', 'request.php', ['client' => $client])->body);
    $pids[$pid] = true;
    echo $answer, "\n";
}
echo count($pids), " worker\n";
?>
--EXPECT--
[[1,0,2],true]
[[1,0,2],true]
[[1,0,2],true]
1 worker
