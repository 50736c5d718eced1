--TEST--
A storage whose class is disabled is refused
--SKIPIF--
<?php
if (PHP_VERSION_ID >= 80500) {
    die('skip there is no disable_classes any more');
}
?>
--INI--
disable_classes=TokenBucket\ArrayStorage
--FILE--
<?php
require dirname(__DIR__) . '/utils.inc';

thrown(fn () => new TokenBucket(@new TokenBucket\ArrayStorage, 'x', 1, 1));
?>
--EXPECT--
Error: The storage's class is disabled
