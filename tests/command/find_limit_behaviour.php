<?php
declare(strict_types=1);

/* Clients are taken for what they are, as far as the log shows; where it does not, the sureness is low. */

require __DIR__ . '/harness.inc';

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0';
mt_srand(16);
$lines = '';
/** @param iterable<int|float> $seconds since the start of the log */
$client = static function (string $address, iterable $seconds, string ...$agents) use (&$lines): void {
    foreach ($seconds as $number => $second) {
        $lines .= combined($address, TIME + $second, 'GET /', $agents[$number % count($agents)]);
    }
};
/** @return list<int> some pages in each of three evenings */
$evenings = static function (int $pages): array {
    $seconds = [];
    foreach ([19, 43, 67] as $hour) {
        for ($page = 0; $page < $pages; $page++) {
            $seconds[] = $hour * 3600 + mt_rand(0, 7000);
        }
    }
    sort($seconds);
    return $seconds;
};
$around_the_clock = static fn (int $gap, int $jitter): array => array_map(static fn (int $n): int => $n * $gap + mt_rand(0, $jitter), range(0, intdiv(3 * 86_400, $gap)));

$client('192.0.2.1', $evenings(30), FIREFOX);
$client('192.0.2.3', $evenings(60), FIREFOX, 'Mozilla/5.0 (iPhone)', 'Mozilla/5.0 (Android)', 'Mozilla/5.0 (Windows NT 10.0)');
$client('192.0.2.4', range(7000, 7200, 5), FIREFOX);
$client('192.0.2.5', $around_the_clock(600, 10), 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)');
$client('192.0.2.6', $evenings(10), 'curl/7.88.1');
$client('192.0.2.7', $around_the_clock(300, 5), FIREFOX);
$client('192.0.2.8', $around_the_clock(300, 5), '-');
$client('192.0.2.9', array_map(static fn (int $n): int => $n + mt_rand(0, 1), range(0, 2400)), FIREFOX);
$client('192.0.2.10', $evenings(20), '-');
$client('192.0.2.11', $evenings(30), 'Mozilla/5.0 (Linux; Android 9; CUBOT X19) AppleWebKit/537.36');
$client('192.0.2.12', $around_the_clock(300, 5), FIREFOX, 'Mozilla/5.0 (A)', 'Mozilla/5.0 (B)', 'Mozilla/5.0 (C)', 'Mozilla/5.0 (D)', 'Mozilla/5.0 (E)');

$found = find_limit(write_file('access.log', $lines), '--rates', '1/s,10/h,1/h,1/d', '--client', 'word 1');
$clients = array_column($found['first_clients'], null, 'client');
$expected = [
    // address => group, name, sureness, a reason
    '192.0.2.1' => ['people', 'likely a person', 'medium', 'pauses of up to'],
    '192.0.2.3' => ['people', 'several people', 'medium', '4 user agents'],
    '192.0.2.4' => ['one-off burst', 'one-off burst', 'medium', 'all 41 requests within 3 min of a log of 3 days'],
    '192.0.2.5' => ['machine', 'crawler', 'high', 'its user agent says so'],
    '192.0.2.6' => ['machine', 'script', 'medium', 'its user agent is a program'],
    '192.0.2.7' => ['machine', 'likely a machine', 'medium', 'active around the clock'],
    '192.0.2.8' => ['machine', 'likely a machine', 'high', 'sends no user agent'],
    '192.0.2.9' => ['people', 'unclear', 'low', '60 a minute for 40 min'],
    '192.0.2.10' => ['people', 'unclear', 'low', 'sends no user agent'],
    '192.0.2.11' => ['people', 'likely a person', 'medium', 'uneven'],
    '192.0.2.12' => ['machine', 'likely a machine', 'medium', 'steady, one each 5 min'],
];
foreach ($expected as $address => [$group, $name, $sureness, $reason]) {
    $seen = $clients[$address] ?? null;
    check("$address is $name, sureness $sureness", $seen !== null && [$seen['group'], $seen['looks_like'], $seen['sureness']] === [$group, $name, $sureness]
        && str_contains(implode(', ', $seen['reasons']), $reason), $seen);
}
check('the groups are counted', $found['clients_by_behaviour'] === ['people' => 5, 'machine' => 5, 'one-off burst' => 1], $found['clients_by_behaviour']);

$lines = '';
$client('192.0.2.2', [5, 9, 40], FIREFOX);
$seen = find_limit(write_file('short.log', $lines))['first_clients'][0];
check('of few requests nothing is sure', [$seen['looks_like'], $seen['sureness'], $seen['reasons']] === ['likely a person', 'low', ['few requests']], $seen);
