--TEST--
Documents: the test with PHPUnit in docs/testing.md passes as it is started there, and fails without the test clock
--EXTENSIONS--
ctype
dom
mbstring
tokenizer
xml
xmlwriter
--SKIPIF--
<?php is_file('/usr/bin/phpunit') || exit('skip PHPUnit is not installed as Debian does'); ?>
--FILE--
<?php
require dirname(__DIR__) . '/base.inc';

$page = file_get_contents(dirname(__DIR__, 2) . '/docs/testing.md');
preg_match('/^```php\n(.*extends TestCase.*?)^```/ms', $page, $test) || give_up('docs/testing.md has no test');
preg_match('~^    php (.*) vendor/bin/phpunit tests$~m', $page, $command) || give_up('docs/testing.md does not start it');
$folder = sys_get_temp_dir() . '/token_bucket-phpunit.' . bin2hex(random_bytes(6));
mkdir($folder);
register_shutdown_function(fn () => remove($folder));
file_put_contents("$folder/SearchLimitTest.php", "<?php\n$test[1]");

foreach ([$command[1], ''] as $options) {
    exec(escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . " $options /usr/bin/phpunit --no-configuration --do-not-cache-result "
        . escapeshellarg($folder) . ' 2>&1', $output, $status);
    preg_match('/^(OK .*|TokenBucket.*Exception: .*)$/m', implode("\n", $output), $told);
    echo "exit $status: ", $told[1] ?? implode("\n", $output), "\n";
    $output = [];
}
?>
--EXPECTF--
exit 0: OK (1 test, 3 assertions)
exit 2: TokenBucket\ConfigurationException: %s
