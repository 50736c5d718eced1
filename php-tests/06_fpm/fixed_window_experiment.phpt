--TEST--
php-fpm: ten clients of two addresses get 5 hits in each of ten windows of 2 seconds
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/fpm.inc';
require dirname(__DIR__) . '/processes.inc';
require dirname(__DIR__) . '/servers.inc';

const ADDRESSES = ['192.0.2.1', '2001:db8::1'];
const LIMIT = 5;
const INTERVAL = 2e9;
const DURATION = 20e9;

// The article's experiment, on its own database, in a third of its time.
$store = with(server_dsn('TB_MARIADB'), 'timeout_ms=10000&connect_timeout_ms=10000&on_error=throw&prefix=' . bin2hex(random_bytes(4)) . ':');
$fpm = new Fpm(['www' => ['pm.max_children' => '6']]);
$fpm->script('page.php', '<?php $store = ' . var_export($store, true) . ";\n" . <<<'CODE'
    $before = hrtime(true);
    $accepted = (new TokenBucket\FixedWindow($store, $_SERVER['REMOTE_ADDR'], 5, 2))->consume();
    $after = hrtime(true);
    $line = json_encode([$_SERVER['REMOTE_ADDR'], $accepted, $before, $after]);
    file_put_contents(__DIR__ . '/scratch/hits', "$line\n", FILE_APPEND);
    echo json_encode($accepted);
    CODE);

$answers = in_processes(10, function (int $client) use ($fpm) {
    mt_srand($client);
    $answers = ['true' => 0, 'false' => 0];
    for ($end = hrtime(true) + DURATION; hrtime(true) < $end; usleep(mt_rand(100_000, 200_000))) {
        $answer = $fpm->request('www', 'page.php', params: ['REMOTE_ADDR' => ADDRESSES[$client % 2]]);
        $answers[$answer->body]++;
    }
    return json_encode($answers);
});

/**
 * Counts the accepted hits of an address by window. A window opens at the first hit and lasts for the interval, its
 * end included. A hit was decided between its `before` and its `after`: it counts for a window if both allow it.
 *
 * @return list<int> the hits of each window
 */
function windows(array $hits): array
{
    usort($hits, fn (array $a, array $b) => $a[2] <=> $b[2]);
    $opened = -INF;
    $counts = [];
    foreach ($hits as [, , $before, $after]) {
        if ($after > $opened + INTERVAL) {
            $opened = $before;
            $counts[] = 0;
        }
        $counts[array_key_last($counts)]++;
    }
    return $counts;
}

$log = array_map(json_decode(...), file("$fpm->scratch/hits"));
$told = array_map(json_decode(...), $answers);
$accepted = array_sum(array_column($told, 'true'));
$denied = array_sum(array_column($told, 'false'));
$logged = array_sum(array_column($log, 1));
echo 'not in the log: ', $accepted - $logged, ' accepted, ', $denied - (count($log) - $logged), " denied\n";
echo 'many were denied: ';
var_dump($denied > 300);
foreach (ADDRESSES as $address) {
    $counts = windows(array_filter($log, fn (array $hit) => $hit[0] === $address && $hit[1]));
    $about = DURATION / INTERVAL * LIMIT;
    $as_expected = abs(array_sum($counts) - $about) <= LIMIT && max($counts) <= LIMIT;
    echo "$address: ", $as_expected ? "about $about, no more than " . LIMIT . ' in a window' : json_encode($counts), "\n";
}
?>
--EXPECT--
not in the log: 0 accepted, 0 denied
many were denied: bool(true)
192.0.2.1: about 50, no more than 5 in a window
2001:db8::1: about 50, no more than 5 in a window
