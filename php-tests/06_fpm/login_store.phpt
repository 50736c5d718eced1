--TEST--
php-fpm: if another user has taken the tables' folder, the examples that keep clients out do nothing for anybody: no password is looked at
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/fpm.inc';

$fpm = new Fpm(['www' => ['php_admin_value[display_errors]' => '0']]);
// As one that another user has made: the extension refuses a folder that others may write to.
$user = posix_geteuid() === 0 ? posix_getpwnam('www-data')['uid'] : posix_geteuid();
array_map('unlink', glob("$fpm->tables/token_bucket-$user/*") ?: []);
array_map('rmdir', glob("$fpm->tables/token_bucket-$user") ?: []);
mkdir("$fpm->tables/token_bucket-$user");
chmod("$fpm->tables/token_bucket-$user", 0777);

$pages = ['login' => 'user=joe&password=secret', 'contact_form' => 'message=x'];
foreach ($pages as $name => $form) {
    $fpm->script("$name.php", file_get_contents(dirname(__DIR__, 2) . "/examples/$name.php"));
    $answer = $fpm->request('www', "$name.php", [], $form, [
        'REQUEST_METHOD' => 'POST', 'CONTENT_TYPE' => 'application/x-www-form-urlencoded', 'REMOTE_ADDR' => '192.0.2.1',
    ]);
    echo $name, ': ', $answer->status, ' ', preg_match('/Welcome|Thank you/', $answer->body), "\n";
}
?>
--EXPECT--
login: 500 0
contact_form: 500 0
