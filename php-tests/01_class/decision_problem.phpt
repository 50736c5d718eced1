--TEST--
Decision: getProblem() tells a limit that is used up from a block, from tokens that are kept for others and from a store that is down
--FILE--
<?php
use TokenBucket\{Compound, Decision, FirstOf, FixedWindow, SlidingWindow};

function show(string $what, Decision $decision): void
{
    ['type' => $type, 'title' => $title, 'status' => $status, 'violated-policies' => $names] = $decision->getProblem();
    echo "$what: ", strstr($type, '#'), " $status $title, ", implode(' ', $names), "\n";
}

$limits = [
    'bucket' => TokenBucket::per('array:', 'bucket:x', 5, 300),
    'fixed' => new FixedWindow('array:', 'fixed:x', 5, 300),
    'sliding' => new SlidingWindow('array:', 'sliding:x', 5, 300),
];
foreach ($limits as $limit) {
    $_ = $limit->attempt(2);
    show('more than is left', $limit->attempt(4));
    show('what is kept for others', $limit->attempt(3, leave: 1));
    show('more than is left, and some is kept', $limit->attempt(4, leave: 1));
    show('nothing but what is kept', $limit->takeUpTo(3, leave: 3));
    $limit->block(60);
    show('blocked', $limit->attempt());
    $limit->reset();
    show('never', $limit->attempt(6));
}
$closed = new FixedWindow('redis://127.0.0.1:1?on_error=closed', 'closed:x', 5, 60);
show('store down', @$closed->attempt());
show('store down on a fallback that is used up', (function (): Decision {
    $fallback = new FixedWindow('redis://127.0.0.1:1?on_error=fallback', 'fallback:' . bin2hex(random_bytes(4)), 1, 60, 'fallback');
    @$fallback->attempt();
    return @$fallback->attempt();
})());

// Of several limits the one that says most decides.
['bucket' => $bucket, 'fixed' => $fixed, 'sliding' => $sliding] = $limits;
show('used up and down', (new Compound($bucket, $closed))->attempt([6, 1]));
show('down', (new Compound($bucket, $closed))->attempt());
$sliding->block(60);
show('blocked and used up', (new Compound($bucket, $sliding))->attempt([6, 1]));
show('any of them', (new FirstOf($sliding, $fixed))->attempt(6));
?>
--EXPECT--
more than is left: #quota-exceeded 429 Too many requests, bucket
what is kept for others: #temporary-reduced-capacity 503 The service has less capacity for a while, bucket
more than is left, and some is kept: #quota-exceeded 429 Too many requests, bucket
nothing but what is kept: #temporary-reduced-capacity 503 The service has less capacity for a while, bucket
blocked: #abnormal-usage-detected 429 Blocked after unusual use, bucket
never: #quota-exceeded 429 Too many requests, bucket
more than is left: #quota-exceeded 429 Too many requests, fixed
what is kept for others: #temporary-reduced-capacity 503 The service has less capacity for a while, fixed
more than is left, and some is kept: #quota-exceeded 429 Too many requests, fixed
nothing but what is kept: #temporary-reduced-capacity 503 The service has less capacity for a while, fixed
blocked: #abnormal-usage-detected 429 Blocked after unusual use, fixed
never: #quota-exceeded 429 Too many requests, fixed
more than is left: #quota-exceeded 429 Too many requests, sliding
what is kept for others: #temporary-reduced-capacity 503 The service has less capacity for a while, sliding
more than is left, and some is kept: #quota-exceeded 429 Too many requests, sliding
nothing but what is kept: #temporary-reduced-capacity 503 The service has less capacity for a while, sliding
blocked: #abnormal-usage-detected 429 Blocked after unusual use, sliding
never: #quota-exceeded 429 Too many requests, sliding
store down: #temporary-reduced-capacity 503 The service has less capacity for a while, closed
store down on a fallback that is used up: #quota-exceeded 429 Too many requests, fallback
used up and down: #quota-exceeded 429 Too many requests, bucket closed
down: #temporary-reduced-capacity 503 The service has less capacity for a while, closed
blocked and used up: #abnormal-usage-detected 429 Blocked after unusual use, bucket sliding
any of them: #abnormal-usage-detected 429 Blocked after unusual use, sliding fixed
