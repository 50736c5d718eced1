--TEST--
Exceptions: parents and marker; file, line and trace of every kind
--INI--
token_bucket.shm_path=/nonexistent
zend.exception_ignore_args=0
--FILE--
<?php
use TokenBucket\ConfigurationException;
use TokenBucket\StorageException;

foreach ([StorageException::class, ConfigurationException::class] as $class) {
    echo $class, ': ', implode(', ', class_parents($class)), "\n";
    $e = new $class('message', 5, new Exception('before'));
    var_dump($e instanceof TokenBucket\TokenBucketException, $e instanceof Throwable, $e->getMessage(), $e->getCode(), $e->getLine());
}
var_dump((new ReflectionClass(TokenBucket\TokenBucketException::class))->isInterface());

// An application's own.
class Limited extends StorageException
{
    public function __construct(public readonly float $retry_after)
    {
        parent::__construct("Come back in $retry_after seconds");
    }
}
class Marked extends DomainException implements TokenBucket\TokenBucketException {}
foreach ([new Limited(1.5), new Marked('marked')] as $mine) {
    try {
        throw $mine;
    } catch (TokenBucket\TokenBucketException $e) {
        echo get_class($e), ': ', $e->getMessage(), ' ', $e === $mine ? 'same' : 'other', "\n";
    }
}

class Login extends TokenBucket
{
    public function consume(int $token_count = 1): bool
    {
        return parent::consume($token_count); // the line of the exception
    }
}
function attempt(TokenBucket $bucket, int $cost = 1): mixed
{
    return $bucket->consume($cost);
}
foreach ([
    fn () => attempt(new Login(null, 'x', 1, 1)),
    fn () => attempt(new Login('array:', 'x', 1, 1), -1),
    fn () => attempt(new Login('array:', 'x')),
    fn () => (new TokenBucket('array:', 'x'))->consume([]),
] as $call) {
    try {
        $call();
    } catch (Throwable $e) {
        echo get_class($e), ' ', basename($e->getFile()), ':', $e->getLine(), ' ', $e instanceof TokenBucket\TokenBucketException ? 'ours' : "PHP's", "\n";
        foreach ($e->getTrace() as $frame) {
            echo '    ', $frame['class'] ?? '', $frame['type'] ?? '', $frame['function'], ':', $frame['line'] ?? '-', "\n";
        }
    }
}
// Uncaught, it ends the script like any other.
(function () {
    new TokenBucket('nowhere:', 'x');
})();
?>
--EXPECTF--
TokenBucket\StorageException: RuntimeException, Exception
bool(true)
bool(true)
string(7) "message"
int(5)
int(7)
TokenBucket\ConfigurationException: InvalidArgumentException, LogicException, Exception
bool(true)
bool(true)
string(7) "message"
int(5)
int(7)
bool(true)
Limited: Come back in 1.5 seconds same
Marked: marked same
TokenBucket\StorageException throwable.php:33 ours
    TokenBucket->consume:33
    Login->consume:38
    attempt:41
    {closure%S}:47
ValueError throwable.php:33 PHP's
    TokenBucket->consume:33
    Login->consume:38
    attempt:42
    {closure%S}:47
LogicException throwable.php:33 PHP's
    TokenBucket->consume:33
    Login->consume:38
    attempt:43
    {closure%S}:47
TypeError throwable.php:44 PHP's
    TokenBucket->consume:44
    {closure%S}:47

Fatal error: Uncaught TokenBucket\ConfigurationException: Unknown scheme "nowhere:" in the storage DSN, known are shm:, %s in %s/throwable.php:57
Stack trace:
#0 %s/throwable.php(57): TokenBucket->__construct(Object(SensitiveParameterValue), 'x')
#1 %s/throwable.php(58): {closure%S}()
#2 {main}
  thrown in %s/throwable.php on line 57
