--TEST--
Documents: the numbers in the picture of a login are those of its two limits
--INI--
token_bucket.test_clock=1
--FILE--
<?php
use TokenBucket\{Compound, TestClock};

foreach (['light', 'dark'] as $theme) {
    $svg = file_get_contents(dirname(__DIR__, 2) . "/docs/images/login-limits-$theme.svg");
    TestClock::freeze(1_000_000);
    $network = TokenBucket::per('array:', "login:$theme", 30, 300);
    $pair = TokenBucket::per('array:', "login:$theme anna", 5, 300);
    $rows = [];
    $note = function () use (&$rows, $network, $pair): void {
        $rows[] = [$network->peek()->getRemainingTokens(), $pair->peek()->getRemainingTokens()];
    };
    $attempt = fn (): TokenBucket\Decision => (new Compound($network, $pair))->attempt();

    $note();
    $attempt();
    $note();
    $note(); // a wrong password changes nothing
    array_map($attempt, range(1, 4));
    $note();
    echo $attempt()->isAccepted() ? 'accepted' : 'denied', "\n";
    $note();
    TestClock::advance(60);
    $note();
    $decision = $attempt();
    $note();
    $decision->refund();
    $pair->reset();
    $note();

    preg_match_all('~<text x="234" y="\d+">(\d+)</text>~', $svg, $numbers);
    preg_match_all('~<use href="#f" x="\d+" y="(\d+)"/>~', $svg, $full);
    preg_match_all('~<use href="#[fe]" x="\d+" y="(\d+)"/>~', $svg, $circles);
    $shown = array_map(fn (string $y): int => count(array_keys($full[1], $y)), array_values(array_unique($circles[1])));
    echo json_encode($rows), $rows == array_map(null, array_map(intval(...), $numbers[1]), $shown) ? ' is shown' : ' is not ' . json_encode([$numbers[1], $shown]), "\n";
}
?>
--EXPECT--
denied
[[30,5],[29,4],[29,4],[25,0],[25,0],[30,1],[29,0],[30,5]] is shown
denied
[[30,5],[29,4],[29,4],[25,0],[25,0],[30,1],[29,0],[30,5]] is shown
