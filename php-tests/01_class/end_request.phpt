--TEST--
end_request() gives back the request's permits wherever they are kept, and leaves limits, settings and a frozen clock as they are
--INI--
token_bucket.test_clock=1
--FILE--
<?php
use TokenBucket\{ConcurrencyLimit, Permit, TestClock};
use function TokenBucket\end_request;

final class Kept
{
    public static ?Permit $static = null;
    public ?Permit $own = null;
    public ?Kept $self = null;
}

foreach (['shm:end_request', new TokenBucket\ArrayStorage] as $storage) {
    $limit = new ConcurrencyLimit($storage, 'request', 4);
    for ($request = 1; $request <= 3; $request++) {
        Kept::$static = $limit->acquire();
        $global = $limit->acquire();
        $cycle = new Kept;
        [$cycle->own, $cycle->self] = [$limit->acquire(), $cycle];
        unset($cycle);
        $released = $limit->acquire();
        $released->release();
        echo "request $request: ", $limit->getActive();
        var_dump(end_request());
        // A permit of a request that has ended is no permit of the next one.
        $next = $limit->acquire();
        $global->release();
        Kept::$static = null;
        echo '  next: ', $limit->getActive(), ' ', json_encode($global->renew()), "\n";
        end_request();
        end_request();
        echo '  nothing left: ', $limit->getActive(), "\n";
    }
}

TestClock::freeze(1000);
$bucket = new TokenBucket('array:', 'frozen', 1, 1);
var_dump($bucket->consume());
end_request();
var_dump($bucket->consume());
TestClock::advance(1);
var_dump($bucket->consume());

try {
    end_request(1);
} catch (ArgumentCountError $error) {
    echo $error->getMessage(), "\n";
}
?>
--EXPECT--
request 1: 3NULL
  next: 1 false
  nothing left: 0
request 2: 3NULL
  next: 1 false
  nothing left: 0
request 3: 3NULL
  next: 1 false
  nothing left: 0
request 1: 3NULL
  next: 1 false
  nothing left: 0
request 2: 3NULL
  next: 1 false
  nothing left: 0
request 3: 3NULL
  next: 1 false
  nothing left: 0
bool(true)
bool(false)
bool(true)
TokenBucket\end_request() expects exactly 0 arguments, 1 given
