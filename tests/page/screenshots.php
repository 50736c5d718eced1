<?php
/**
 * Takes screenshots of the status page after calls of made-up clients.
 * Usage: php screenshots.php FOLDER
 */

declare(strict_types=1);

require __DIR__ . '/support.php';
require __DIR__ . '/WebDriver.php';

/** Calls as on a working day: most clients stay below the limits, some do not. */
function make_calls(): void
{
    for ($client = 1; $client <= 40; $client++) {
        call_limit('login_network', "203.0.113.$client", 2);
        call_limit('search', "203.0.113.$client", 12);
    }
    foreach (['198.51.100.7' => 160, '198.51.100.23' => 44, '2001:db8:5:1::/64' => 27] as $network => $calls) {
        call_limit('login_network', $network, $calls);
    }
    foreach (['alice@example.org' => 14, '<script>alert(1)</script>' => 9, "user\u{202E}gnp.exe" => 7] as $user => $calls) {
        call_limit('login_user', $user, $calls);
    }
    call_limit('search', '192.0.2.44', 420);
    call_limit('export', '203.0.113.9', 6);
    call_limit('login_network', '203.0.113.200', 0, 86_400);
}

$folder = $argv[1];
$browser = new WebDriver(getenv('CHROMIUM_DRIVER'), getenv('PAGE_FOLDER') . '/profile');
$url = page_url('change.php?refresh=10');
$shots = [
    'status-light' => ['light', 1100, 1500, $url],
    'status-dark' => ['dark', 1100, 1060, $url],
    'status-narrow' => ['dark', 390, 1060, $url],
    'status-change' => ['light', 700, 740, page_url('change.php?change=1')],
];
make_calls();
$browser->open($url);
// Rates are those of the last full minute.
sleep(60);
foreach ($shots as $name => [$scheme, $width, $height, $page]) {
    $browser->prefer($scheme);
    $browser->resize($width, $height);
    $browser->open($page);
    check("$name.png is written", file_put_contents("$folder/$name.png", $browser->screenshot()) > 0);
}
