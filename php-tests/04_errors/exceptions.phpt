--TEST--
Exceptions: have their class, file, line and trace; can be extended
--FILE--
<?php
class Own extends TokenBucket\StorageException {}

function fail(): TokenBucket
{
    return new TokenBucket('nowhere:', 'secret'); // line 6
}
try {
    fail();
} catch (TokenBucket\TokenBucketException $e) {
    echo get_class($e), ' ', basename($e->getFile()), ':', $e->getLine(), ' ', $e->getCode(), "\n";
    echo count($e->getTrace()), ' ', $e->getTrace()[0]['function'], ' ', $e->getTrace()[1]['function'], "\n";
    var_dump($e instanceof InvalidArgumentException, $e->getPrevious());
}
try {
    throw new Own('mine', 7, new Exception('before'));
} catch (TokenBucket\TokenBucketException $e) {
    echo get_class($e), ' ', $e->getMessage(), ' ', $e->getCode(), ' ', $e->getPrevious()->getMessage(), "\n";
    var_dump($e instanceof RuntimeException);
}
try {
    throw new TokenBucket\ConfigurationException('x');
} catch (InvalidArgumentException $e) {
    echo $e->getMessage(), "\n";
}
?>
--EXPECT--
TokenBucket\ConfigurationException exceptions.php:6 0
2 __construct fail
bool(true)
NULL
Own mine 7 before
bool(true)
x
