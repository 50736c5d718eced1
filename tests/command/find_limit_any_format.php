<?php
declare(strict_types=1);

/* Formats of random words in random order: two clients are found, or the log is refused, or a question asked. No log is misread without a word. */

require __DIR__ . '/harness.inc';

const FORMATS = 60;

mt_srand(46);
$any = static fn (array $choices): mixed => $choices[mt_rand(0, count($choices) - 1)];
$times = [
    static fn (int $time): string => gmdate('[d/M/Y:H:i:s +0000]', $time),
    static fn (int $time): string => gmdate('"d/M/Y:H:i:s +0000"', $time),
    static fn (int $time): string => gmdate('[Y-m-d\TH:i:s.123\Z]', $time),
    static fn (int $time): string => gmdate('Y-m-d H:i:s', $time),
    static fn (int $time): string => "$time.123",
];
$requests = ['"POST /login HTTP/1.1"', '"POST https://shop.example/login HTTP/2.0"', 'POST /login', 'POST https://shop.example/login', '"POST" "/login"', "POST\t/login"];
$addresses = [
    static fn (string $ip): string => $ip,
    static fn (string $ip): string => "$ip:4711",
    static fn (string $ip): string => "\"$ip\"",
    static fn (string $ip): string => "[$ip]",
    static fn (string $ip): string => "$ip, 10.0.0.9",
    static fn (string $ip): string => "\"198.51.100.66, $ip, 10.0.0.9\"",
];
$others = [
    static fn (int $number): string => "0.01$number",
    static fn (int $number): string => "id=$number",
    static fn (int $number): string => gmdate('M d H:i:s', TIME + $number) . ' web1 nginx[12]:',
    static fn (int $number): string => '10.42.0.' . ($number % 3) . ':8080',
    static fn (): string => '10.0.0.80:8080',
    static fn (): string => '"10.0.0.80:8080"',
    static fn (): string => '198.51.100.80',
    static fn (): string => 'shop.example',
    static fn (): string => 'anna',
    static fn (): string => '302',
    static fn (): string => '-',
    static fn (): string => '"-"',
    static fn (): string => '{a|b}',
    static fn (): string => '"Mozilla/5.0 (X11; Linux x86_64)"',
    static fn (): string => '"https://shop.example/x?a=b c"',
];
$read = 0;
for ($format = 0; $format < FORMATS; $format++) {
    // Clients of the Internet, or of an intranet, where a list would have proxies only.
    $is_public = mt_rand(0, 3) > 0;
    $clients = $is_public ? ['192.0.2.7', '203.0.113.8'] : ['10.1.0.7', '10.1.0.8'];
    $time = $any($times);
    $request = $any($requests);
    $address = $any(array_slice($addresses, 0, $is_public ? 6 : 4));
    $words = [
        static fn (int $second, string $client): string => $time(TIME + $second),
        static fn (): string => $request,
        static fn (int $second, string $client): string => $address($client),
    ];
    for ($count = mt_rand(0, 4); $count > 0; $count--) {
        $words[] = $any($others);
    }
    shuffle($words);
    $line = static fn (int $second, string $client): string => implode(' ', array_map(static fn (callable $word): string => $word($second, $client), $words)) . "\n";
    // One client logs in six times in a minute, the other one once.
    $log = implode('', array_map(static fn (int $second): string => $line($second, $clients[0]), range(0, 50, 10))) . $line(55, $clients[1]);
    $result = command(['find-limit', '--json', write_file('access.log', $log), '--match', 'POST /login', '--rates', '1/min', '--deny-share', '0']);
    $found = json_decode($result['out'], true);
    $is_right = $found !== null && [$found['requests'], $found['clients'], $found['suggestions'][0]['capacity']] === [7, 2, 6];
    $is_refused = $result['out'] === '' && ($result['code'] === 1 ? str_contains($result['err'], 'A line:') : $result['code'] === 2 && str_contains($result['err'], "--client '"));
    check("format $format is read right, refused or asked about", $is_right || $is_refused, [$log, $found['read_as'] ?? $result]);
    $read += $is_right ? 1 : 0;
}
check('most formats are read', $read > FORMATS / 2, $read);
