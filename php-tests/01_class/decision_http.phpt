--TEST--
Decision: getHeaders(), getProblem() and getRetryAfterSeconds(): what an HTTP response says
--INI--
token_bucket.test_clock=1
--FILE--
<?php
require __DIR__ . '/structured_fields.inc';
use TokenBucket\{Compound, Decision, FixedWindow, LeakyBucket, TestClock};

function show(Decision $decision): void
{
    foreach ($decision->getHeaders() as $field => $value) {
        echo "$field: $value\n";
    }
    echo json_encode([$decision->getRetryAfterSeconds(), $decision->getDeniedBy()]), "\n";
    if (!$decision->isAccepted()) {
        echo json_encode($decision->getProblem(), JSON_UNESCAPED_SLASHES), "\n";
    }
}
TestClock::freeze(1_000_000);
echo "A bucket\n";
$bucket = TokenBucket::per('array:', 'login:192.0.2.1', 5, 300);
show($bucket->peek());
show($bucket->attempt());
show($bucket->attempt(4));
show($bucket->attempt());
TestClock::advance(59.5);
show($bucket->attempt());
TestClock::advance(0.499999999);
show($bucket->attempt());
TestClock::advance(0.000000001);
show($bucket->attempt());
show($bucket->attempt(6));

echo "A window, a leaky bucket, a quick limit, names that are given\n";
$window = new FixedWindow('array:', 'mail:x', 2, 60);
show($window->attempt());
show($window->attempt(2));
show((new LeakyBucket('array:', 'leaky', 3, 0.25, name: 'drip'))->attempt());
show((new TokenBucket('array:', '192.0.2.1', 1_000, 1e9))->attempt(1_000));
show((new FixedWindow('array:', 'client', 16_777_214, 126_230_400))->attempt());
show((new TokenBucket('array:', '2001:db8::1', 1, 1))->attempt(2));
show((new TokenBucket('array:', 'login:x', 1, 1, name: ''))->attempt(2));

echo "A block\n";
$window->block(899.2);
show($window->attempt());

echo "A compound\n";
$day = TokenBucket::per('array:', 'day:x', 100, 86_400);
$compound = new Compound($window, $day, $bucket);
show($compound->attempt());
$window->reset();
$bucket->reset();
show($compound->attempt());
show($compound->attempt([1, 99, 5]));
show($compound->attempt([3, 1, 1]));

echo "A dry run, an outage\n";
$dry = new FixedWindow('array:?enforce=0', 'dry:x', 1, 60);
$dry->consume();
show($dry->attempt());
foreach (['open', 'closed', 'fallback'] as $policy) {
    show(@(new FixedWindow("redis://127.0.0.1:1?on_error=$policy", "$policy:x", 5, 60))->attempt());
}

// Any name is a String of RFC 9651, and two names are two Strings.
$names = ['login', '', ' ', '"', '\\', '\\"', '\\\\', 'a"b\\c', "\0", "a\0b", "\n", "\r\nSet-Cookie: a=b", "\t", "\x7f", "\x1f", '~', 'für', '登录', "\xff\xfe", '%', '%22', ';q=9', '", "b";q=1', str_repeat('"', 300), str_repeat("\0", 300)];
mt_srand(11);
for ($i = 0; $i < 300; $i++) {
    $names[] = implode(array_map(fn () => chr(mt_rand(0, 255)), range(0, mt_rand(0, 20))));
}
$wrong = 0;
foreach ($names as $name) {
    $bucket = TokenBucket::per('array:', "x" . bin2hex($name), 7, 70, name: $name);
    $decision = (new Compound($bucket, $day))->peek(8);
    [$policy, $limit] = array_map(parse_field(...), array_slice(array_values($decision->getHeaders()), 0, 2));
    $printable = preg_replace_callback('/[^ -~]/', fn ($byte) => sprintf('%%%02X', ord($byte[0])), $name);
    $is_right = $policy === [[$printable, ['q' => 7, 'w' => 70]], ['day', ['q' => 100, 'w' => 86_400]]]
        && [$limit[0][0], $limit[0][1], $limit[1][0]] === [$printable, ['r' => 7], 'day']
        && $decision->getDeniedBy() === [$name] && $decision->getProblem()['violated-policies'] === [$printable]
        && json_encode($decision->getProblem()) !== false;
    if (!$is_right) {
        $wrong++;
        echo json_encode([bin2hex(substr($name, 0, 40)), $decision->getHeaders(), $policy, $limit], JSON_INVALID_UTF8_SUBSTITUTE), "\n";
    }
}
echo count($names), ' names, ', $wrong, " wrong\n";
// An identifier's part before the colon, which may hold anything, too.
var_dump(TokenBucket::per('array:', "a\"\\\0ü:x", 7, 70)->attempt()->getHeaders()['RateLimit-Policy']);

// The parser is strict.
$refused = 0;
foreach (['"a', 'a', '"a";', '"a";q', '"a";q=', '"a";q="1"', '"a";q=1.5', '"a";q=+1', '"a";Q=1', '"a" ;q=1', '"a";q =1', '"a",', '"a" "b"', ',', "\"\n\"", '"ü"', '"\\a"', '"a";q=1234567890123456'] as $text) {
    try {
        parse_field($text);
        echo "$text is no List of Strings\n";
    } catch (UnexpectedValueException) {
        $refused++;
    }
}
echo $refused, " refused\n";
?>
--EXPECT--
A bucket
RateLimit-Policy: "login";q=5;w=300
RateLimit: "login";r=5;t=60
[0,[]]
RateLimit-Policy: "login";q=5;w=300
RateLimit: "login";r=4;t=60
[0,[]]
RateLimit-Policy: "login";q=5;w=300
RateLimit: "login";r=0;t=60
[0,[]]
RateLimit-Policy: "login";q=5;w=300
RateLimit: "login";r=0;t=60
Retry-After: 60
[60,["login"]]
{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Too many requests","status":429,"detail":"Try again in 60 seconds.","violated-policies":["login"]}
RateLimit-Policy: "login";q=5;w=300
RateLimit: "login";r=0;t=1
Retry-After: 1
[1,["login"]]
{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Too many requests","status":429,"detail":"Try again in 1 second.","violated-policies":["login"]}
RateLimit-Policy: "login";q=5;w=300
RateLimit: "login";r=0;t=1
Retry-After: 1
[1,["login"]]
{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Too many requests","status":429,"detail":"Try again in 1 second.","violated-policies":["login"]}
RateLimit-Policy: "login";q=5;w=300
RateLimit: "login";r=0;t=60
[0,[]]
RateLimit-Policy: "login";q=5;w=300
RateLimit: "login";r=0
[null,["login"]]
{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Too many requests","status":429,"detail":"The request is larger than the limit allows at any time.","violated-policies":["login"]}
A window, a leaky bucket, a quick limit, names that are given
RateLimit-Policy: "mail";q=2;w=60
RateLimit: "mail";r=1;t=60
[0,[]]
RateLimit-Policy: "mail";q=2;w=60
RateLimit: "mail";r=1;t=60
Retry-After: 60
[60,["mail"]]
{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Too many requests","status":429,"detail":"Try again in 60 seconds.","violated-policies":["mail"]}
RateLimit-Policy: "drip";q=3;w=1
RateLimit: "drip";r=2;t=1
[0,[]]
RateLimit-Policy: "default";q=1000;w=1
RateLimit: "default";r=0;t=1
[0,[]]
RateLimit-Policy: "default";q=16777214;w=126230400
RateLimit: "default";r=16777213;t=126230400
[0,[]]
RateLimit-Policy: "default";q=1;w=1
RateLimit: "default";r=1
[null,["default"]]
{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Too many requests","status":429,"detail":"The request is larger than the limit allows at any time.","violated-policies":["default"]}
RateLimit-Policy: "";q=1;w=1
RateLimit: "";r=1
[null,[""]]
{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Too many requests","status":429,"detail":"The request is larger than the limit allows at any time.","violated-policies":[""]}
A block
RateLimit-Policy: "mail";q=2;w=60
RateLimit: "mail";r=0;t=900
Retry-After: 900
[900,["mail"]]
{"type":"https://iana.org/assignments/http-problem-types#abnormal-usage-detected","title":"Blocked after unusual use","status":429,"detail":"Try again in 15 minutes.","violated-policies":["mail"]}
A compound
RateLimit-Policy: "mail";q=2;w=60, "day";q=100;w=86400, "login";q=5;w=300
RateLimit: "mail";r=0;t=900, "day";r=100;t=864, "login";r=0;t=60
Retry-After: 900
[900,["mail","login"]]
{"type":"https://iana.org/assignments/http-problem-types#abnormal-usage-detected","title":"Blocked after unusual use","status":429,"detail":"Try again in 15 minutes.","violated-policies":["mail","login"]}
RateLimit-Policy: "mail";q=2;w=60, "day";q=100;w=86400, "login";q=5;w=300
RateLimit: "mail";r=1;t=60, "day";r=99;t=864, "login";r=4;t=60
[0,[]]
RateLimit-Policy: "mail";q=2;w=60, "day";q=100;w=86400, "login";q=5;w=300
RateLimit: "mail";r=1;t=60, "day";r=99;t=864, "login";r=4;t=60
Retry-After: 60
[60,["login"]]
{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Too many requests","status":429,"detail":"Try again in 60 seconds.","violated-policies":["login"]}
RateLimit-Policy: "mail";q=2;w=60, "day";q=100;w=86400, "login";q=5;w=300
RateLimit: "mail";r=1, "day";r=99;t=864, "login";r=4;t=60
[null,["mail"]]
{"type":"https://iana.org/assignments/http-problem-types#quota-exceeded","title":"Too many requests","status":429,"detail":"The request is larger than the limit allows at any time.","violated-policies":["mail"]}
A dry run, an outage
RateLimit-Policy: "dry";q=1;w=60
RateLimit: "dry";r=0;t=60
[0,[]]
RateLimit-Policy: "open";q=5;w=60
RateLimit: "open";r=5;t=60
[0,[]]
RateLimit-Policy: "closed";q=5;w=60
RateLimit: "closed";r=0;t=1
Retry-After: 1
[1,["closed"]]
{"type":"https://iana.org/assignments/http-problem-types#temporary-reduced-capacity","title":"The service has less capacity for a while","status":503,"detail":"Try again in 1 second.","violated-policies":["closed"]}
RateLimit-Policy: "fallback";q=5;w=60
RateLimit: "fallback";r=4;t=60
[0,[]]
325 names, 0 wrong
string(25) ""a\"\\%00%C3%BC";q=7;w=70"
18 refused
