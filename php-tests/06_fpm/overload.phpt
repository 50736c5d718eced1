--TEST--
php-fpm: examples/overload.php lets members in while visitors ask for five times as much as the workers can do
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/fpm.inc';
require dirname(__DIR__) . '/processes.inc';

$fpm = new Fpm(['www' => [
    'env[MEMBER_KEY]' => 'secret',
    'pm.max_children' => '8',
    'php_admin_value[auto_prepend_file]' => 'overload.php',
    'php_admin_value[include_path]' => '.',
]]);
$fpm->script('overload.php', file_get_contents(dirname(__DIR__, 2) . '/examples/overload.php'));
$fpm->script('page.php', '<?php usleep(20_000); echo "page";');
$member = ['HTTP_COOKIE' => 'member=anna.' . hash_hmac('sha256', 'anna', 'secret')];
$get = fn (array $params): Answer => $fpm->request('www', 'page.php', [], '', $params + ['SCRIPT_NAME' => '/page.php']);

$show = fn (Answer $answer): string => "$answer->status " . ($answer->headers['retry-after'] ?? '-') . ' ' . ($answer->headers['content-type'] ?? '') . " $answer->body";
echo 'a visitor: ', $show($get([])), "\n";
echo 'a member: ', $show($get($member)), "\n";
echo 'a request that has waited too long: ', $show($get(['REQUEST_START' => (string) (microtime(true) - 6)] + $member)), "\n";
echo 'one that has not: ', $get(['REQUEST_START' => (string) (microtime(true) - 1)])->status, "\n";

// Visitors get four of the seven places. Forty of them ask again as soon as they are answered; two members ask now and then.
$statuses = at_once(42, fn (int $i): callable => function (int $begin) use ($i, $get, $member): array {
    for ($statuses = []; hrtime(true) < $begin + 2e9;) {
        $statuses[] = $get($i < 2 ? $member : ['HTTP_COOKIE' => "member=anna.$i"])->status;
        $i < 2 && usleep(10_000);
    }
    return array_count_values($statuses);
});
$of = fn (array $clients, int $status): int => array_sum(array_column($clients, $status));
[$members, $visitors] = [array_slice($statuses, 0, 2), array_slice($statuses, 2)];
echo 'members: ', $of($members, 200) > 20 ? 'served' : json_encode($members), ', ', $of($members, 503), " turned away\n";
echo 'visitors: ', $of($visitors, 200) > 20 ? 'some served' : json_encode($visitors), ', ', $of($visitors, 503) > $of($visitors, 200) ? 'most turned away' : json_encode($visitors), "\n";
?>
--EXPECT--
a visitor: 200 - text/html; charset=UTF-8 page
a member: 200 - text/html; charset=UTF-8 page
a request that has waited too long: 503 10 application/problem+json {"type":"https:\/\/iana.org\/assignments\/http-problem-types#temporary-reduced-capacity","title":"Busy","status":503}
one that has not: 200
members: served, 0 turned away
visitors: some served, most turned away
