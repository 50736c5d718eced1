--TEST--
refund(): is true if the tokens were put back, false where none can be
--FILE--
<?php
use TokenBucket\{Compound, FixedWindow, LeakyBucket, SlidingWindow};
require __DIR__ . '/../utils.inc';

foreach ([TokenBucket::per(...), fn (...$of) => new LeakyBucket(...$of), fn (...$of) => new FixedWindow(...$of), fn (...$of) => new SlidingWindow(...$of)] as $make) {
    $limit = $make('array:', 'x', 5, 60);
    $limit->consume(2);
    $answers = [$limit->refund(), $limit->refund(0)];
    $all = new Compound($limit, $make('array:', 'y', 5, 60));
    $answers[] = $all->refund();
    $limit->block(10);
    array_push($answers, $limit->refund(), $all->refund());
    (new Compound($limit, $make('array:', 'y', 5, 60)))->block(10);
    $answers[] = $all->refund();
    foreach (['open', 'closed', 'fallback'] as $policy) {
        $answers[$policy] = @$make("redis://127.0.0.1:1?on_error=$policy", 'x', 5, 60)->refund();
    }
    $answers['dry run'] = $make('array:?enforce=0', 'z', 5, 60)->refund();
    echo get_class($limit), ': ', json_encode($answers), "\n";
    $all->reset();
}
?>
--EXPECT--
TokenBucket: {"0":true,"1":true,"2":true,"3":false,"4":true,"5":false,"open":false,"closed":false,"fallback":true,"dry run":true}
TokenBucket\LeakyBucket: {"0":true,"1":true,"2":true,"3":false,"4":true,"5":false,"open":false,"closed":false,"fallback":true,"dry run":true}
TokenBucket\FixedWindow: {"0":true,"1":true,"2":true,"3":false,"4":true,"5":false,"open":false,"closed":false,"fallback":true,"dry run":true}
TokenBucket\SlidingWindow: {"0":true,"1":true,"2":true,"3":false,"4":true,"5":false,"open":false,"closed":false,"fallback":true,"dry run":true}
