--TEST--
php-fpm: examples/api.php charges three limits at once, every answer has the rate-limit fields, and 30 of 300 guessed keys of a network are looked at
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/fpm.inc';

// The page as it is; the time of each request is what the test says.
$fpm = new Fpm(['www' => [
    'php_admin_value[token_bucket.test_clock]' => '1',
    'php_admin_value[auto_prepend_file]' => 'freeze.php',
    'php_admin_value[include_path]' => '.',
]]);
$fpm->script('freeze.php', '<?php TokenBucket\TestClock::freeze((float) $_SERVER["TIME"]);');
$fpm->script('api.php', file_get_contents(dirname(__DIR__, 2) . '/examples/api.php'));

function call(string $key, float $time, string $address = '192.0.2.1'): Answer
{
    global $fpm;
    return $fpm->request('www', 'api.php', params: ['HTTP_X_API_KEY' => $key, 'TIME' => (string) $time, 'REMOTE_ADDR' => $address]);
}

/** @return list<int> the statuses of the same call, many times */
function statuses(int $count, string $key, float $time): array
{
    return array_map(fn () => call($key, $time)->status, range(1, $count));
}

function show(string $what, Answer $answer): void
{
    echo "$what: $answer->status\n";
    foreach (['content-type', 'ratelimit-policy', 'ratelimit', 'retry-after'] as $field) {
        echo "  $field: ", $answer->headers[$field] ?? '-', "\n";
    }
    echo "  $answer->body\n";
}

show('the first', call('alpha-key', 1000));
echo json_encode(array_count_values(statuses(9, 'alpha-key', 1000))), "\n";
show('the eleventh in a second', call('alpha-key', 1000));
echo 'another customer: ', json_encode(array_count_values(statuses(5, 'beta-key', 1000))), "\n";
show('the sixteenth of all', call('beta-key', 1000));
show('without a key', call('guess', 1000));

// Denied calls were charged to no limit: 10 of the day are gone, and 190 are left.
$accepted = 0;
for ($second = 1001; $second <= 1030; $second++) {
    $accepted += array_count_values(statuses(10, 'alpha-key', $second))[200] ?? 0;
}
echo "for the rest of the day: $accepted\n";
show('then', call('alpha-key', 1031));
show('a second before midnight', call('alpha-key', 86399));
show('at midnight', call('alpha-key', 86400));

// Guesses at a key: a network has 30 wrong ones, then its right ones are denied, too: an answer must not show that a guess was right.
$guesses = array_map(fn (int $i): int => call("guess$i", 200_000, '192.0.2.2')->status, range(1, 300));
echo '300 guesses of one network: ', json_encode(array_count_values($guesses)), ', the right key there: ', call('alpha-key', 200_000, '192.0.2.2')->status,
    ', elsewhere: ', call('alpha-key', 200_000)->status, "\n";
show('the next guess', call('guess', 200_000, '192.0.2.2'));
$right = array_map(fn (int $second): int => call('alpha-key', $second, '192.0.2.3')->status, range(200_001, 200_100));
echo 'right keys are no guesses: ', json_encode(array_count_values($right)), "\n";
?>
--EXPECT--
the first: 200
  content-type: application/json
  ratelimit-policy: "per-second";q=10;w=1, "per-day";q=200;w=86400, "all-customers";q=15;w=1
  ratelimit: "per-second";r=9;t=1, "per-day";r=199;t=85400, "all-customers";r=14;t=1
  retry-after: -
  {"customer":"alpha"}
{"200":9}
the eleventh in a second: 429
  content-type: application/problem+json
  ratelimit-policy: "per-second";q=10;w=1, "per-day";q=200;w=86400, "all-customers";q=15;w=1
  ratelimit: "per-second";r=0;t=1, "per-day";r=190;t=85400, "all-customers";r=5;t=1
  retry-after: 1
  {"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Too many requests","status":429,"detail":"Try again in 1 second.","violated-policies":["per-second"]}
another customer: {"200":5}
the sixteenth of all: 429
  content-type: application/problem+json
  ratelimit-policy: "per-second";q=10;w=1, "per-day";q=200;w=86400, "all-customers";q=15;w=1
  ratelimit: "per-second";r=5;t=1, "per-day";r=195;t=85400, "all-customers";r=0;t=1
  retry-after: 1
  {"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Too many requests","status":429,"detail":"Try again in 1 second.","violated-policies":["all-customers"]}
without a key: 401
  content-type: application/json
  ratelimit-policy: -
  ratelimit: -
  retry-after: -
  {"error":"unknown API key"}
for the rest of the day: 190
then: 429
  content-type: application/problem+json
  ratelimit-policy: "per-second";q=10;w=1, "per-day";q=200;w=86400, "all-customers";q=15;w=1
  ratelimit: "per-second";r=10;t=1, "per-day";r=0;t=85369, "all-customers";r=15;t=1
  retry-after: 85369
  {"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Too many requests","status":429,"detail":"Try again in 23 hours 43 minutes.","violated-policies":["per-day"]}
a second before midnight: 429
  content-type: application/problem+json
  ratelimit-policy: "per-second";q=10;w=1, "per-day";q=200;w=86400, "all-customers";q=15;w=1
  ratelimit: "per-second";r=10;t=1, "per-day";r=0;t=1, "all-customers";r=15;t=1
  retry-after: 1
  {"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Too many requests","status":429,"detail":"Try again in 1 second.","violated-policies":["per-day"]}
at midnight: 200
  content-type: application/json
  ratelimit-policy: "per-second";q=10;w=1, "per-day";q=200;w=86400, "all-customers";q=15;w=1
  ratelimit: "per-second";r=9;t=1, "per-day";r=199;t=86400, "all-customers";r=14;t=1
  retry-after: -
  {"customer":"alpha"}
300 guesses of one network: {"401":30,"429":270}, the right key there: 429, elsewhere: 200
the next guess: 429
  content-type: application/problem+json
  ratelimit-policy: "wrong-keys";q=30;w=300
  ratelimit: "wrong-keys";r=0;t=10
  retry-after: 10
  {"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Too many requests","status":429,"detail":"Try again in 10 seconds.","violated-policies":["wrong-keys"]}
right keys are no guesses: {"200":100}
