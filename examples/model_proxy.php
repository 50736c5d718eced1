<?php
/*
 * An API in front of a language model: 60 requests and 20,000 tokens a minute, and a budget of tokens a month, for each API
 * key. What a call costs is known only when the model has answered: it takes an estimate, and settles.
 *
 *     PHP_CLI_SERVER_WORKERS=8 BUDGET=100000 php -S 127.0.0.1:8080 examples/model_proxy.php
 *     curl -i -H 'X-API-Key: alpha-key' -d 'Why is the sky blue?' http://127.0.0.1:8080/
 */
declare(strict_types=1);
use TokenBucket\{CalendarWindow, Compound, FixedWindow};

/** The customer of each API key. An application keeps hashes of the keys. */
const CUSTOMERS = ['alpha-key' => 'alpha', 'beta-key' => 'beta'];
/** The most tokens of an answer, which the model is told. */
const LONGEST_ANSWER = 500;

/** A stub of the model: an application calls its own here, with LONGEST_ANSWER as max_tokens. */
function ask_model(string $prompt): array
{
    usleep(random_int(1_000, 20_000));
    $tokens = intdiv(strlen($prompt), 2) + random_int(1, LONGEST_ANSWER);
    return ['answer' => 'It depends.', 'tokens' => $tokens];
}

function send_answer(int $status, array $body, array $headers, string $type = 'application/json'): never
{
    http_response_code($status);
    foreach ($headers as $name => $value) {
        header("$name: $value");
    }
    header("Content-Type: $type");
    exit(json_encode($body, JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR));
}

function refuse(TokenBucket\Decision $decision): never
{
    $problem = $decision->getProblem();
    send_answer($problem['status'], $problem, $decision->getHeaders(), 'application/problem+json');
}

// Before the key is looked at, or guesses would be free. A right key gets its token back. Behind a proxy, tell client_address() which one.
$network = TokenBucket\client_network(TokenBucket\client_address($_SERVER));
$guess = TokenBucket::per(null, "model-guesses:$network", 30, 300, 'wrong-keys')->attempt();
if (!$guess->isAccepted()) {
    refuse($guess);
}
$customer = CUSTOMERS[$_SERVER['HTTP_X_API_KEY'] ?? ''] ?? send_answer(401, ['error' => 'unknown API key'], []);
$guess->refund();
$prompt = (string) file_get_contents('php://input');
// On a Redis Cluster "{model:...}" puts all three into one slot: one round trip to take, and one to settle.
$limits = new Compound(
    TokenBucket::per(null, "{model:$customer}:requests", 60, 60, 'requests'),
    new FixedWindow(null, "{model:$customer}:tokens", 20_000, 60, 'tokens'),
    new CalendarWindow(null, "{model:$customer}:budget", (int) (getenv('BUDGET') ?: 100_000), 'month', 'Europe/Berlin', 'budget'),
);
// A token has about four letters; the answer is half as long as it may be.
$estimate = min(intdiv(strlen($prompt), 4) + intdiv(LONGEST_ANSWER, 2), 20_000);
$decision = $limits->attempt([1, $estimate, $estimate]);
if (!$decision->isAccepted()) {
    refuse($decision);
}
try {
    $reply = ask_model($prompt);
} catch (Throwable $e) {
    $decision->refund();
    throw $e;
}
$decision->settle([1, $reply['tokens'], $reply['tokens']]);
error_log("model: $customer spent $reply[tokens]");
send_answer(200, $reply, $decision->getHeaders());
