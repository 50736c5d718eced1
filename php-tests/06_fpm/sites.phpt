--TEST--
php-fpm: a worker that serves several sites uses each site's own shm_path
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/fpm.inc';

$fpm = new Fpm(['www' => ['pm.max_children' => '1']]);
$fpm->script('take.php', '<?php
    $taken = [new TokenBucket(null, "default", 1, 0.001), new TokenBucket("shm:", "named", 1, 0.001)];
    echo json_encode([array_map(fn ($bucket) => $bucket->consume(), $taken), TokenBucket\statistics()["default"]["checked"]]);');

foreach (['first', 'second', 'first'] as $site) {
    $path = "$fpm->scratch/$site";
    is_dir($path) || mkdir($path);
    chmod($path, 01777);
    $answer = $fpm->request('www', 'take.php', params: ['PHP_ADMIN_VALUE' => "token_bucket.shm_path = $path"]);
    echo "$site: $answer->body\n";
}
?>
--EXPECT--
first: [[true,true],1]
second: [[true,true],1]
first: [[false,false],2]
