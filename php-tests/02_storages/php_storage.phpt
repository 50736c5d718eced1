--TEST--
Storages written in PHP: get times in seconds and a closure that makes the record
--FILE--
<?php
require __DIR__ . '/php_storage.inc';

/** The classic bucket, as PHP code has it. */
class PhpBucket
{
    public function __construct(private $storage, private $identifier, private $capacity, private $rate)
    {
    }

    public function consume($tokens = 1)
    {
        if ($tokens > $this->capacity) {
            return false;
        }
        return $this->storage->consume($this->identifier, $tokens / $this->rate, $this->capacity / $this->rate, function () use ($tokens) {
            $this->storage->bootstrap($this->identifier, microtime(true) - ($this->capacity - $tokens) / $this->rate);
            return true;
        });
    }
}

$storage = new MemoryStorage;
$bucket = new TokenBucket($storage, 'x', 10, 0.5);
var_dump($bucket->consume(3));
[[$identifier, $microtime, $full, $closure]] = $storage->calls;
var_dump($identifier, $microtime, $full, $closure instanceof Closure);
$left = microtime(true) - $storage->records['x'];
var_dump($left > 13.9 && $left < 14.9);
var_dump($bucket->consume(7), $bucket->consume(1), (new TokenBucket($storage, 'y', 1, 1))->consume());

// Not asked: nothing, and more than there can be.
$storage->calls = [];
var_dump($bucket->consume(0), $bucket->consume(11), count($storage->calls));

// Yes and no is all that is known: what else a decision tells is the most it can be.
echo json_encode([$bucket->attempt(), (new TokenBucket($storage, 'z', 10, 0.5))->attempt(4), $bucket->attempt(11)]), "\n";

// A thousand calls, in the classic class and in ours.
mt_srand(5);
$same = $denied = 0;
[$theirs, $ours] = [new MemoryStorage, new MemoryStorage];
for ($i = 0; $i < 1_000; $i++) {
    $client = mt_rand(1, 60);
    $arguments = ["client $client", $client % 40 + 1, [0.001, 1 / 3_000, 0.0007][$client % 3]];
    $tokens = mt_rand(0, 4);
    $expected = (new PhpBucket($theirs, ...$arguments))->consume($tokens);
    $found = (new TokenBucket($ours, ...$arguments))->consume($tokens);
    $same += (int) ($found === $expected || $tokens === 0);
    $denied += (int) !$found;
}
var_dump($same, $denied > 200);

// A native storage, asked by a class that passes it on.
class Counted extends MemoryStorage
{
    public function __construct(private TokenBucketStorage $inner)
    {
    }

    public function consume($identifier, $microtime, $full_microtime, $bootstrap_closure)
    {
        $this->calls[] = $identifier;
        return $this->inner->consume($identifier, $microtime, $full_microtime, null);
    }
}
$counted = new Counted(new TokenBucket\ArrayStorage);
$bucket = new TokenBucket($counted, 'x', 2, 0.001);
var_dump($bucket->consume(), $bucket->consume(), $bucket->consume(), count($counted->calls));

// Circles of references are found.
$storage = new MemoryStorage;
$storage->records['bucket'] = $bucket = new TokenBucket($storage, 'x', 1, 1);
$bucket->consume(); // its closure is kept in calls
$storage->records['more'] = $more = new class($storage, 'x', 1, 1) extends TokenBucket { public $own; };
$more->own = $storage;
$gone = WeakReference::create($storage);
unset($storage, $bucket, $more);
gc_collect_cycles();
var_dump($gone->get());
?>
--EXPECT--
bool(true)
string(1) "x"
float(6)
float(20)
bool(true)
bool(true)
bool(true)
bool(false)
bool(true)
bool(true)
bool(false)
int(0)
[{"accepted":false,"limit":10,"remaining_tokens":0,"retry_after":2,"reset_after":20,"wait":0,"degraded":false,"would_deny":true,"exempt":false},{"accepted":true,"limit":10,"remaining_tokens":0,"retry_after":0,"reset_after":20,"wait":0,"degraded":false,"would_deny":false,"exempt":false},{"accepted":false,"limit":10,"remaining_tokens":0,"retry_after":null,"reset_after":20,"wait":0,"degraded":false,"would_deny":true,"exempt":false}]
int(1000)
bool(true)
bool(true)
bool(true)
bool(false)
int(3)
NULL
