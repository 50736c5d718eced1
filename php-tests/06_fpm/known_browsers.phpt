--TEST--
php-fpm: the login of examples/known_browsers limits an attack on one user from many addresses, or from the user's own, and never locks out a browser that is known to be the user's
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/fpm.inc';

$fpm = new Fpm(['www' => [
    'env[LOGIN_KEY]' => 'a-key-for-a-test',
    'php_admin_value[token_bucket.test_clock]' => '1',
    'php_admin_value[token_bucket.shm_size]' => '64K',
    'php_admin_value[auto_prepend_file]' => 'freeze.php',
    'php_admin_value[include_path]' => '.',
]]);
$fpm->script('freeze.php', '<?php TokenBucket\TestClock::freeze((float) $_SERVER["TIME"]); ini_set("error_log", "' . $fpm->scratch . '/denied");');
foreach (['accounts', 'login'] as $name) {
    $fpm->script("$name.php", file_get_contents(dirname(__DIR__, 2) . "/examples/known_browsers/$name.php"));
}

function answer(string $address, string $user, string $password, float $time, string $cookie = '', array $headers = []): Answer
{
    global $fpm;
    return $fpm->request('www', 'login.php', [], http_build_query(['user' => $user, 'password' => $password]), $headers + [
        'HTTP_HOST' => 'registry.example',
        'REQUEST_METHOD' => 'POST',
        'CONTENT_TYPE' => 'application/x-www-form-urlencoded',
        'REMOTE_ADDR' => $address,
        'HTTP_COOKIE' => $cookie,
        'HTTP_X_FORWARDED_FOR' => '203.0.113.' . random_int(1, 254), // of a client's making
        'TIME' => (string) $time,
    ]);
}

function status(mixed ...$of): int
{
    return answer(...$of)->status;
}

/** @param iterable<int> $statuses */
function counted(string $what, iterable $statuses): void
{
    echo $what, ': ', json_encode(array_count_values([...$statuses])), "\n";
}

// Joe has logged in once: his browser is known from then on.
preg_match('/^(known_browser_[^;]+)/', answer('192.0.2.1', 'joe', 'secret', 1000)->headers['set-cookie'], $cookie);
$cookie = urldecode($cookie[1]);
[$name, $value] = explode('=', $cookie);

// Whatever the digits behind the time: with "e" in them it must not be read as an exponent.
$signed = fn (string $token, string $hash): string => "$name=$token." . hash_hmac('sha256', json_encode(['browser', $token, 'joe', $hash]), 'a-key-for-a-test');
$token = time() + 365 * 86400 . '-0e9a0e9a0e9a0e9a';
$hash = '$2y$04$yn0s5JabOxVUF17KE.EzEe4CY.j.GinC90LNl.DjnnCk.wlTzHHJm';
$cookies = [$cookie, $signed($token, $hash)];

// Forty addresses with five guesses each.
counted('many addresses', (function () {
    foreach (range(1, 40) as $i) {
        foreach (range(1, 5) as $guess) {
            yield status("198.51.100.$i", 'joe', "guess$guess", 1000);
        }
    }
})());
echo 'joe, with his browsers: ', implode(', ', array_map(fn (string $cookie): int => status('192.0.2.2', 'joe', 'secret', 1001, $cookie), $cookies)), "\n";
echo 'with another: ', status('192.0.2.3', 'joe', 'secret', 1001), "\n";
echo 'a while later: ', status('192.0.2.3', 'joe', 'secret', 1050), "\n";
// The attacker is in the user's own network, which is denied.
counted('the own network', array_map(fn (int $i) => status('192.0.2.4', "user$i", 'guess', 1100), range(1, 40)));
echo 'joe there, with a known browser: ', status('192.0.2.4', 'joe', 'secret', 1100, $cookie), ', with another: ', status('192.0.2.4', 'joe', 'secret', 1100), "\n";
$time = 5000;
foreach (['stolen' => ['joe', $cookie], 'of another user' => ['ann', 'known_browser_' . substr(hash('sha256', 'ann'), 0, 16) . "=$value"], 'made up' => ['joe', "$name=9999999999-" . str_repeat('0', 16) . '.' . str_repeat('0', 64)],
    'prolonged' => ['joe', "$name=9" . substr($value, 1)], 'odd' => ['joe', "$name=."], 'cut' => ['joe', strtok($cookie, '.')], 'too old' => ['joe', $signed(time() - 1 . '-0e9a0e9a0e9a0e9a', $hash)], 'of an earlier password' => ['joe', $signed($token, 'x')]] as $what => [$user, $token]) {
    counted("a cookie $what", (function () use ($user, $token, $what, $time) {
        foreach (range(1, 120) as $i) {
            yield status('2001:db8:' . dechex(crc32($what) & 0xffff) . ':' . dechex($i) . '::1', $user, 'guess', $time, $token);
        }
    })());
    $time += 5000;
}

// One who has an account does not get tries for others by logging in now and then.
counted('an account of his own', (function () {
    foreach (range(1, 60) as $i) {
        yield $i % 5 ? status('192.0.2.66', "user$i", 'guess', 100_000) : status('192.0.2.66', 'joe', 'secret', 100_000);
    }
})());
// Nor by more addresses of one network, or by writing the name in other ways.
counted('one /64', array_map(fn (int $i) => status("2001:db8:1:2::$i", "user$i", 'guess', 100_000), range(1, 40)));
counted('other ways to write it', array_map(fn (string $name) => status('192.0.2.67', $name, 'guess', 100_000), ['joe', 'JOE', ' joe', "joe\t", 'Joe', 'jOe', 'joE ']));
// Who mistyped, and then did not.
counted('mistyped', array_map(fn (string $password) => status('192.0.2.68', 'joe', $password, 100_000), ['x', 'x', 'x', 'x', 'secret', 'x', 'x', 'x', 'x', 'secret']));

// A page of another site posts in its visitors' browsers; the registry's own page posts, too.
$origin = fn (string $origin, string $site): array => ['HTTP_ORIGIN' => $origin, 'HTTP_SEC_FETCH_SITE' => $site];
counted('another site', array_map(fn (int $i) => status('192.0.2.69', 'joe', 'secret', 100_000, '', $origin($i % 2 ? 'https://evil.example' : 'null', 'cross-site')), range(1, 40)));
$own = [$origin('https://registry.example', ''), $origin('null', 'same-origin'), []];
counted('the own page', array_map(fn (array $headers) => status('192.0.2.69', 'joe', 'secret', 100_000, '', $headers), $own));

// An unknown user is answered as a known one is, also when he is denied.
$known = array_map(fn () => answer('192.0.2.70', 'joe', 'guess', 200_000), range(1, 6));
$unknown = array_map(fn () => answer('192.0.2.71', 'nobody', 'guess', 200_000), range(1, 6));
echo $known == $unknown ? 'the same' : 'not the same', "\n";
// Whatever is written into the fields.
counted('odd', array_map(fn (string $name) => status('192.0.2.72', $name, $name, 200_000), ['', "\0", str_repeat('x', 10_000), "a\r\nb", '192.0.2.1 joe', "\xff", '{joe}', "a\x1b[31m"]));

// A flood of other keys fills the table of all limits but known browsers.
$fpm->script('flood.php', '<?php for ($i = 0; $i < 20000; $i++) { TokenBucket::per(null, "flood:$i", 1, 3600)->consume(); } echo array_sum(array_column(TokenBucket\status()["tables"], "denied_newcomers")) > 0 ? "full" : "not full";');
echo 'the table is ', $fpm->request('www', 'flood.php', [], '', ['TIME' => '300000'])->body, "\n";
$statuses = json_encode(array_count_values(array_map(fn (int $i) => status('192.0.2.80', 'joe', 'secret', 300_000, $cookie), range(1, 20))));
echo "joe, with a known browser: $statuses\n";

$log = file_get_contents("$fpm->scratch/denied");
echo preg_match('/guess|secret|\x1b|user1/', $log) ? "the log tells too much\n" : '', implode("\n", array_slice(array_unique(preg_replace('/^\[.*?\] /m', '', explode("\n", trim($log)))), 0, 2)), "\n";
?>
--EXPECT--
many addresses: {"403":100,"429":100}
joe, with his browsers: 200, 200
with another: 429
a while later: 200
the own network: {"403":30,"429":10}
joe there, with a known browser: 200, with another: 429
a cookie stolen: {"403":5,"429":115}
a cookie of another user: {"403":100,"429":20}
a cookie made up: {"403":100,"429":20}
a cookie prolonged: {"403":100,"429":20}
a cookie odd: {"403":100,"429":20}
a cookie cut: {"403":100,"429":20}
a cookie too old: {"403":100,"429":20}
a cookie of an earlier password: {"403":100,"429":20}
an account of his own: {"403":30,"200":7,"429":23}
one /64: {"403":30,"429":10}
other ways to write it: {"403":5,"429":2}
mistyped: {"403":8,"200":2}
another site: {"403":40}
the own page: {"200":3}
the same
odd: {"403":8}
the table is full
joe, with a known browser: {"200":20}
login denied by login_account: 198.51.100.21 joe
login denied by login_account: 198.51.100.22 joe
