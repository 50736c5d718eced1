--TEST--
Documents: the test with PHPUnit in docs/testing.md passes as it is started there, again and again, on the extension and on the stand-in, and fails without the test clock
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
$folder = temporary_folder();
chdir($folder); // where PHPUnit keeps its results
file_put_contents("$folder/SearchLimitTest.php", "<?php\n$test[1]");

// Without storage=array: the table of this folder would outlive a run.
$extension = getenv('TEST_PHP_EXTRA_ARGS') . " -d token_bucket.shm_path=$folder";
$stand_in = preg_replace('~ -d \S*extension=\S*token_bucket\S*~', '', " $extension") . ' -d auto_prepend_file=' . escapeshellarg(dirname(__DIR__, 2) . '/integrations/stand-in/stand-in.php');
foreach (['the extension' => $extension, 'the stand-in' => $stand_in] as $which => $arguments) {
    foreach ([$command[1], $command[1], '-d token_bucket.storage=array:'] as $options) {
        exec(escapeshellarg(PHP_BINARY) . " -n $arguments $options /usr/bin/phpunit --no-configuration "
            . escapeshellarg("$folder/SearchLimitTest.php") . ' 2>&1', $output, $status);
        preg_match('/^(OK .*|TokenBucket.*Exception: .*)$/m', implode("\n", $output), $told);
        echo "$which: exit $status: ", $told[1] ?? implode("\n", $output), "\n";
        $output = [];
    }
}
?>
--EXPECTF--
the extension: exit 0: OK (1 test, 3 assertions)
the extension: exit 0: OK (1 test, 3 assertions)
the extension: exit 2: TokenBucket\ConfigurationException: %s
the stand-in: exit 0: OK (1 test, 3 assertions)
the stand-in: exit 0: OK (1 test, 3 assertions)
the stand-in: exit 2: TokenBucket\ConfigurationException: %s
