--TEST--
Compound: two limiters on one bucket are refused, also if the worker has dropped its stores meanwhile, or one DSN has a password
--FILE--
<?php
require dirname(__DIR__) . '/utils.inc';
use TokenBucket\{Compound, FixedWindow};

// Nothing is opened.
function fill(): void
{
    for ($i = 0; $i < 260; $i++) {
        new TokenBucket("shm:filled-$i", 'x', 1, 1);
    }
}
foreach (['memcached://127.0.0.1:1', 'mysql://me:secret@127.0.0.1:1/db', 'shm:', 'array:'] as $dsn) {
    $window = fn (string $id = 'x') => new FixedWindow($dsn, $id, 7, 70);
    $one = $window();
    fill();
    thrown(
        fn () => new Compound($one, $window()),
        fn () => (new Compound($one, $window('y')))::class,
    );
}
$one = new FixedWindow('redis://:first@127.0.0.1:1', 'x', 7, 70);
thrown(
    fn () => new Compound($one, new FixedWindow('redis://:second@127.0.0.1:1', 'x', 7, 70)),
    fn () => (new Compound($one, new FixedWindow('redis://:first@127.0.0.1:1/1', 'x', 7, 70)))::class,
);
?>
--EXPECT--
ValueError: TokenBucket\Compound::__construct(): Argument #2 must not use the same bucket as another limiter of the Compound
string(20) "TokenBucket\Compound"
ValueError: TokenBucket\Compound::__construct(): Argument #2 must not use the same bucket as another limiter of the Compound
string(20) "TokenBucket\Compound"
ValueError: TokenBucket\Compound::__construct(): Argument #2 must not use the same bucket as another limiter of the Compound
string(20) "TokenBucket\Compound"
ValueError: TokenBucket\Compound::__construct(): Argument #2 must not use the same bucket as another limiter of the Compound
string(20) "TokenBucket\Compound"
ValueError: TokenBucket\Compound::__construct(): Argument #2 must not use the same bucket as another limiter of the Compound
string(20) "TokenBucket\Compound"
