<?php
/*
 * One call a line of its input, answered by one line, or as many calls as a race has. As code of both versions can write it.
 * Usage: worker.php DSN LIMITER IDENTIFIER
 */
[, $dsn, $kind, $identifier] = $argv;
$limiter = match ($kind) {
    'TokenBucket' => new TokenBucket($dsn, $identifier, 300, 1e-5),
    'LeakyBucket' => new TokenBucket\LeakyBucket($dsn, $identifier, 300, 1e6),
    'FixedWindow' => new TokenBucket\FixedWindow($dsn, $identifier, 300, 3600),
    'SlidingWindow' => new TokenBucket\SlidingWindow($dsn, $identifier, 300, 3600),
    'Compound' => new TokenBucket\Compound(
        new TokenBucket($dsn, "$identifier{1}", 300, 1e-5),
        new TokenBucket\FixedWindow($dsn, "$identifier{2}", 300, 3600),
    ),
    'ConcurrencyLimit' => new TokenBucket\ConcurrencyLimit($dsn, $identifier, 3, 60),
};
$permits = [];
echo "ready\n";
while (($line = fgets(STDIN)) !== false) {
    [$what, $count] = explode(' ', trim($line)) + ['', 0];
    $answer = 0;
    switch ($what) {
        case 'take':
            for ($i = 0; $i < $count; $i++) {
                $answer += (int) $limiter->consume();
            }
            break;
        case 'remaining':
            $answer = $limiter->peek()->getRemainingTokens();
            break;
        case 'block':
            $answer = (int) $limiter->block((float) $count);
            break;
        case 'reset':
            $answer = (int) $limiter->reset();
            break;
        case 'refund':
            $decision = $limiter->attempt((int) $count);
            $answer = (int) $decision->refund();
            break;
        case 'acquire':
            for ($i = 0; $i < $count; $i++) {
                $permits[] = $limiter->acquire();
            }
            $permits = array_filter($permits);
            $answer = count($permits);
            break;
        case 'release':
            $permits = [];
            break;
        case 'active':
            $answer = $limiter->getActive();
            break;
    }
    echo $answer, "\n";
}
