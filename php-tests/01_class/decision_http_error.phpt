--TEST--
Decision: getHeaders(), getProblem(), getDeniedBy(), getTokens(): Parameters are correctly validated
--FILE--
<?php
require __DIR__ . '/../utils.inc';
require dirname(__DIR__) . '/02_storages/php_storage.inc';

$bucket = TokenBucket::per('array:', 'login:x', 5, 60);
$accepted = $bucket->attempt();
$denied = $bucket->attempt(6);
$dry = TokenBucket::per('array:?enforce=0', 'dry:x', 5, 60)->attempt(6);
thrown(
    fn () => $accepted->getProblem(),
    fn () => $bucket->peek()->getProblem(),
    fn () => $dry->getProblem(),
    fn () => (new TokenBucket\Compound($bucket))->peek()->getProblem(),
    fn () => $denied->getProblem()['status'],
    fn () => $denied->getProblem(1),
    fn () => $denied->getHeaders(1),
    fn () => $denied->getDeniedBy(1),
    fn () => $denied->getRetryAfterSeconds(1),
    fn () => $denied->getTokens(1),
    // A storage written in PHP does not tell how many tokens are left.
    fn () => (new TokenBucket(new MemoryStorage, 'php:x', 5, 1))->attempt()->getHeaders()['RateLimit-Policy'],
    fn () => (new TokenBucket(new MemoryStorage, 'php:x', 5, 1))->attempt(6)->getProblem()['violated-policies'][0],
);
?>
--EXPECT--
LogicException: getProblem() describes a denied call; this one was accepted
LogicException: getProblem() describes a denied call; this one was accepted
LogicException: getProblem() describes a denied call; this one was accepted
LogicException: getProblem() describes a denied call; this one was accepted
int(429)
ArgumentCountError: TokenBucket\Decision::getProblem() expects exactly 0 arguments, 1 given
ArgumentCountError: TokenBucket\Decision::getHeaders() expects exactly 0 arguments, 1 given
ArgumentCountError: TokenBucket\Decision::getDeniedBy() expects exactly 0 arguments, 1 given
ArgumentCountError: TokenBucket\Decision::getRetryAfterSeconds() expects exactly 0 arguments, 1 given
ArgumentCountError: TokenBucket\Decision::getTokens() expects exactly 0 arguments, 1 given
string(13) ""php";q=5;w=5"
string(3) "php"
