--TEST--
Objects of native classes: none is made without its constructor where the class is final, (array) has what var_dump() shows, a cycle's destructors find a permit held, and null for a number or a text is deprecated
--FILE--
<?php
use TokenBucket\{Bootstrap, CalendarWindow, Compound, ConcurrencyLimit, Decision, FirstOf, Permit, SlidingWindow};
require dirname(__DIR__) . '/utils.inc';

foreach ([Bootstrap::class, CalendarWindow::class, Compound::class, ConcurrencyLimit::class, Decision::class, FirstOf::class, Permit::class, SlidingWindow::class] as $class) {
    try {
        (new ReflectionClass($class))->newInstanceWithoutConstructor();
        echo "$class can be made\n";
    } catch (ReflectionException $e) {
        echo $class, ' ', str_contains($e->getMessage(), 'cannot be instantiated without') ? 'cannot' : $e->getMessage(), "\n";
    }
}

// PHPUnit compares what (array) has.
$limit = new ConcurrencyLimit('array:', 'permit', 2, 10);
echo json_encode([(array) new TokenBucket('array:', 'kept', 2, 0.001), (array) $limit->acquire(), (array) new CalendarWindow('array:', 'a', 1, 'day', 'europe/berlin')]), "\n";

class Kept
{
    public ?Permit $own = null;
    public ?self $self = null;

    public function __destruct()
    {
        echo 'held: ', json_encode($this->own->renew()), "\n";
    }
}
$cycle = new Kept;
[$cycle->own, $cycle->self] = [$limit->acquire(), $cycle];
unset($cycle);
gc_collect_cycles();

$bucket = new TokenBucket('array:', 'null', 10, 0.001);
thrown(
    fn () => new TokenBucket\ArrayStorage(null),
    fn () => $bucket->consume(null),
);
?>
--EXPECTF--
TokenBucket\Bootstrap cannot
TokenBucket\CalendarWindow cannot
TokenBucket\Compound cannot
TokenBucket\ConcurrencyLimit cannot
TokenBucket\Decision cannot
TokenBucket\FirstOf cannot
TokenBucket\Permit cannot
TokenBucket\SlidingWindow cannot
[{"identifier":"kept","bucket_capacity":2,"tokens_per_second":0.001},{"identifier":"permit","lifetime":10},{"identifier":"a","limit":1,"unit":"day","timezone":"%cu%s"}]
held: true

Deprecated: TokenBucket\ArrayStorage::__construct(): Passing null to parameter #1 ($dsn) of type string is deprecated in %s on line %d
TokenBucket\ConfigurationException: The storage DSN must begin with a scheme, known are shm:, %s

Deprecated: TokenBucket::consume(): Passing null to parameter #1 ($token_count) of type int is deprecated in %s on line %d
bool(true)
