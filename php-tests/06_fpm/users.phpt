--TEST--
php-fpm: pools and the CLI of one user share their buckets, those of another user have their own
--EXTENSIONS--
pcntl
posix
--SKIPIF--
<?php
if (posix_geteuid() !== 0) {
    die('skip only root can start pools of two users');
}
?>
--FILE--
<?php
require __DIR__ . '/fpm.inc';

$fpm = new Fpm([
    'shop' => ['user' => 'www-data', 'pm.max_children' => '1'],
    'blog' => ['user' => 'www-data', 'pm.max_children' => '1'],
    'alien' => ['user' => 'nobody', 'pm.max_children' => '1'],
]);
$fpm->script('bucket.php', file_get_contents(__DIR__ . '/bucket.inc'));

function take(string $who, int $tries): void
{
    global $fpm;
    $get = ['id' => 'users', 'capacity' => 5, 'tries' => $tries];
    $answer = str_starts_with($who, 'CLI of ')
        ? json_decode($fpm->cli(substr($who, 7), 'bucket.php', $get), true)
        : $fpm->request($who, 'bucket.php', $get)->json();
    echo "$who: taken $answer[taken], left $answer[left]\n";
}

take('shop', 2);
take('blog', 1);
take('CLI of www-data', 1);
take('alien', 2);
take('CLI of nobody', 1);
take('shop', 9);
take('alien', 9);

foreach (['www-data', 'nobody'] as $user) {
    $folder = "$fpm->tables/token_bucket-" . posix_getpwnam($user)['uid'];
    foreach ([$folder, "$folder/default.v13"] as $path) {
        printf("%s %o\n", posix_getpwuid(fileowner($path))['name'], fileperms($path) & 0777);
    }
}
?>
--EXPECT--
shop: taken 2, left 3
blog: taken 1, left 2
CLI of www-data: taken 1, left 1
alien: taken 2, left 3
CLI of nobody: taken 1, left 2
shop: taken 1, left 0
alien: taken 2, left 0
www-data 700
www-data 600
nobody 700
nobody 600
