<?php
/* A page that blocks a client which goes beyond its limit, for as many seconds as the test says. */
$client = TokenBucket\client_network(TokenBucket\client_address($_SERVER, ['127.0.0.1']));
$limit = TokenBucket\limiter('search', $client);
// A block alone denies a call of cost 0.
if ($limit->peek(0)->wouldDeny()) {
    $limit->consume();
    http_response_code(429);
} elseif (isset($_GET['block']) && !$limit->consume()) {
    $limit->block((float) $_GET['block']);
    http_response_code(429);
}
