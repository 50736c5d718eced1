<?php
/*
 * Opens a limiter, and measures it each time that its standard input says so. Argument: the limiter's name.
 */
require dirname(__DIR__) . '/lib/bench.php';
require __DIR__ . '/measure.php';

if (ini_get('opcache.jit') === 'tracing' && !opcache_get_status()['jit']['on']) {
    throw new RuntimeException('PHP runs without its JIT');
}
$tries = (limiters()[$argv[1]]->open)('latency', CAPACITY, RATE);
$calls = calls_for($tries, 20);
echo "ready\n";
while (fgets(STDIN) !== false) {
    echo json_encode(measured($tries, $calls), JSON_THROW_ON_ERROR), "\n";
}
