<?php
declare(strict_types=1);

/* The log of one day shows which clients are machines. */

require __DIR__ . '/harness.inc';

const PEOPLE = 1000;
const MOST_OF_A_PERSON = 14;
const REQUESTS_OF_A_SCRAPER = 7000;

mt_srand(26);
$log = fopen("$folder/access.log", 'w');
$client = static function (string $address, array $seconds, string ...$agents) use ($log): void {
    foreach ($seconds as $number => $second) {
        fwrite($log, combined($address, TIME + $second, 'POST /login', $agents[$number % count($agents)]));
    }
};
$by_day = static fn (): int => mt_rand(7 * 3600, 22 * 3600);
for ($person = 0; $person < PEOPLE; $person++) {
    $count = $person === 0 ? MOST_OF_A_PERSON : mt_rand(1, MOST_OF_A_PERSON - 1);
    $client(sprintf('10.1.%d.%d', intdiv($person, 250), $person % 250), array_map($by_day, range(1, $count)), 'Mozilla/5.0 (X11; Linux x86_64)');
}
$manners = [
    'steadily' => static fn (int $number): int => 12 * $number,
    'at random' => static fn (): int => mt_rand(0, 86_399),
    'in working hours' => static fn (): int => mt_rand(8 * 3600, 18 * 3600),
    'in six sessions' => static fn (int $number): int => (3 * ($number % 6) + 2) * 3600 + mt_rand(0, 2400),
];
foreach (array_values($manners) as $manner => $second) {
    for ($scraper = 0; $scraper < 10; $scraper++) {
        $client('203.0.113.' . (10 * $manner + $scraper), array_map($second, range(1, REQUESTS_OF_A_SCRAPER)), "Mozilla/5.0 (Pretender $scraper)");
    }
}

$arguments = ['access.log', '--match', 'POST /login', '--rates', '1/h', '--deny-share', '0'];
$found = find_limit(...$arguments);
check('the scrapers are machines, however they spread their requests', $found['clients_by_behaviour'] === ['people' => PEOPLE, 'machine' => 40, 'one-off burst' => 0], $found['clients_by_behaviour']);
$reasons = implode(', ', $found['first_clients'][array_key_last($found['first_clients'])]['reasons']);
check('their number of requests is a reason', str_contains($reasons, 'nearly all others have 15 requests at most'), $reasons);
check('the suggestion is what the busiest person needs', $found['strictest_for_people']['capacity'] <= MOST_OF_A_PERSON, $found['strictest_for_people']);
$text = command(['find-limit', ...$arguments])['out'];
preg_match('~^    limit = (\d+)~m', $text, $section);
check('the first section of the report is that of people', (int) $section[1] === $found['strictest_for_people']['capacity'], $text);

// Many people behind one address have many user agents.
$client('198.51.100.1', array_map($by_day, range(1, 400)), ...array_map(static fn (int $number): string => "Mozilla/5.0 (of person $number)", range(1, 30)));
$found = find_limit(...$arguments);
check('a network of many people is none', $found['clients_by_behaviour'] === ['people' => PEOPLE + 1, 'machine' => 40, 'one-off burst' => 0], $found['clients_by_behaviour']);
