--TEST--
TestClock: needs token_bucket.test_clock=1
--FILE--
<?php
require __DIR__ . '/../utils.inc';
use TokenBucket\TestClock;

thrown(fn () => TestClock::freeze(1), fn () => TestClock::advance(1), fn () => TestClock::resume());
?>
--EXPECT--
TokenBucket\ConfigurationException: TokenBucket\TestClock needs token_bucket.test_clock=1 in php.ini, or by php -d; never set it in production
TokenBucket\ConfigurationException: TokenBucket\TestClock needs token_bucket.test_clock=1 in php.ini, or by php -d; never set it in production
TokenBucket\ConfigurationException: TokenBucket\TestClock needs token_bucket.test_clock=1 in php.ini, or by php -d; never set it in production
