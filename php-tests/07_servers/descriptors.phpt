--TEST--
Servers: a connection whose descriptor is closed, or stands for another socket, is replaced, and nothing is written to that socket; nothing that is printed goes to a server
--EXTENSIONS--
ffi
pcntl
posix
--INI--
token_bucket.on_error=throw
token_bucket.timeout_ms=5000
token_bucket.connect_timeout_ms=5000
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';
require dirname(__DIR__) . '/descriptors.inc';

foreach (server_dsns() as $name => $dsn) {
    $bucket = new TokenBucket($dsn, 'descriptors ' . getmypid(), 10, 0.001);
    $before = descriptors();
    $bucket->consume();
    $steps = [];
    foreach (['closed', 'another socket'] as $what) {
        $own = array_diff(descriptors(), $before);
        [$other, $far_end] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
        [$number] = array_values(array_diff(descriptors(), $before, $own));
        foreach ($own as $kept) {
            $what === 'closed' ? libc()->close($kept) : libc()->dup2($number, $kept);
        }
        $steps[] = $own !== [] && $bucket->consume();
        stream_set_blocking($far_end, false);
        $steps[] = fread($far_end, 4096);
        // What stands there now is not ours to close.
        $steps[] = $what === 'closed' || array_diff($own, descriptors()) === [];
        $before = array_diff(descriptors(), $own);
        foreach ($what === 'closed' ? [] : $own as $kept) {
            libc()->close($kept);
        }
    }
    echo substr($name, 3), ': ', json_encode([...$steps, $bucket->peek()->getRemainingTokens()]), "\n";
}

// A standard stream that the program has closed: the next descriptor would get its number.
$redis = new Server('redis');
$code = 'fclose(STDOUT);
    $bucket = new TokenBucket($argv[1], "x", 10, 0.001);
    $bucket->consume();
    echo "SET printed 1\r\n";
    $bucket->consume();
    fwrite(STDERR, "left " . $bucket->peek()->getRemainingTokens() . "\n");';
$php = escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . ' -d ignore_user_abort=1';
echo shell_exec("$php -r " . escapeshellarg($code) . ' -- ' . escapeshellarg($redis->dsn()) . ' 2>&1');
echo 'printed into the connection: ', trim($redis->ask('EXISTS printed'), "+OK:\r\n"), "\n";
?>
--EXPECT--
REDIS: [true,"",true,true,"",true,7]
REDIS_UNIX: [true,"",true,true,"",true,7]
REDIS_TLS: [true,"",true,true,"",true,7]
REDIS_CLUSTER: [true,"",true,true,"",true,7]
REDIS_SENTINEL: [true,"",true,true,"",true,7]
MEMCACHED: [true,"",true,true,"",true,7]
MEMCACHED_UNIX: [true,"",true,true,"",true,7]
MEMCACHED_TWO: [true,"",true,true,"",true,7]
MARIADB: [true,"",true,true,"",true,7]
MARIADB_UNIX: [true,"",true,true,"",true,7]
MARIADB_TLS: [true,"",true,true,"",true,7]
MYSQL: [true,"",true,true,"",true,7]
MYSQL_UNIX: [true,"",true,true,"",true,7]
MYSQL_TLS: [true,"",true,true,"",true,7]
left 8
printed into the connection: 0
