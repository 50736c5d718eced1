<?php
/*
 * An API with three limits at once: 10 requests a second and 200 a day for each API key, 15 a second for all keys
 * together. A request is charged to all three, or to none. Every answer tells the client where it stands, in the fields of
 * draft-ietf-httpapi-ratelimit-headers; a denied one is a problem of RFC 9457. Before that, a network that guesses keys has 30
 * wrong ones in five minutes. Behind a proxy, tell client_address() which one.
 *
 *     php -S 127.0.0.1:8080 examples/api.php
 *     curl -i -H 'X-API-Key: alpha-key' http://127.0.0.1:8080/
 */
declare(strict_types=1);

/** The customer of each API key. An application keeps hashes of the keys. */
const CUSTOMERS = ['alpha-key' => 'alpha', 'beta-key' => 'beta'];

function answer(int $status, array $body, string $type = 'application/json'): never
{
    http_response_code($status);
    header("Content-Type: $type");
    exit(json_encode($body, JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR));
}

function send_headers(TokenBucket\Decision $decision): void
{
    foreach ($decision->getHeaders() as $name => $value) {
        header("$name: $value");
    }
}

function deny(TokenBucket\Decision $decision): never
{
    send_headers($decision);
    $problem = $decision->getProblem();
    answer($problem['status'], $problem, 'application/problem+json');
}

// Before the key is looked at, or guesses would be free. A right key gets its token back.
$network = TokenBucket\client_network(TokenBucket\client_address($_SERVER));
$guess = TokenBucket::per(null, "{api}:guesses:$network", 30, 300, 'wrong-keys')->attempt();
if (!$guess->isAccepted()) {
    deny($guess);
}
$customer = CUSTOMERS[$_SERVER['HTTP_X_API_KEY'] ?? ''] ?? answer(401, ['error' => 'unknown API key']);
$guess->refund();

// On a Redis Cluster "{api}" puts all three into one slot: one round trip, one atomic step.
$decision = (new TokenBucket\Compound(
    TokenBucket::per(null, "{api}:second:$customer", 10, 1, 'per-second'),
    new TokenBucket\CalendarWindow(null, "{api}:day:$customer", 200, 'day', 'UTC', 'per-day'),
    TokenBucket::per(null, '{api}:all', 15, 1, 'all-customers'),
))->attempt();
if (!$decision->isAccepted()) {
    deny($decision);
}
send_headers($decision);
answer(200, ['customer' => $customer]);
