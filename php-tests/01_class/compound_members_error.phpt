--TEST--
Compound: a limiter that is passed by name is not dropped, and two limits of one key are refused whatever the prefix
--FILE--
<?php
require __DIR__ . '/../utils.inc';
use TokenBucket\{Compound, FixedWindow};

$bucket = fn (string $id, string $dsn = 'array:') => TokenBucket::per($dsn, $id, 1, 60);
thrown(
    fn () => new Compound(ip: $bucket('a')),
    fn () => new Compound($bucket('a'), all: $bucket('b')),
    fn () => new Compound(...[$bucket('a'), 'all' => $bucket('b')]),
    fn () => new Compound($bucket('a:x', 'array:?prefix=tb:'), $bucket('x', 'array:?prefix=tb:a:')),
    fn () => (new Compound($bucket('a:x', 'array:?prefix=tb:'), new FixedWindow('array:?prefix=tb:a:', 'x', 3, 60)))->peek()->getRemainingTokens(),
);
?>
--EXPECTF--
ArgumentCountError: %STokenBucket\Compound::__construct() does not accept %s
ArgumentCountError: %STokenBucket\Compound::__construct() does not accept %s
ArgumentCountError: %STokenBucket\Compound::__construct() does not accept %s
ValueError: TokenBucket\Compound::__construct(): Argument #2 must not use the same bucket as another limiter of the Compound
int(1)
