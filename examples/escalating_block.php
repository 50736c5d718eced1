<?php
/* The login of docs/login.md that blocks for longer each time: every 5th failure of a day blocks the user at the network, every
 * 30th the network, for 5 minutes, then for 10, 20 and so on. From the eighth block of a day on every failure
 * blocks for 10 hours and 40 minutes. The user is "joe", the password "secret".
 *
 *     php -S 127.0.0.1:8080 examples/escalating_block.php
 */
declare(strict_types=1);

const USERS = ['joe' => '$2y$04$yn0s5JabOxVUF17KE.EzEe4CY.j.GinC90LNl.DjnnCk.wlTzHHJm'];
/** The hash of a random password: checking it makes an unknown user take as long as a known one. */
const NO_USER = '$2y$04$WxggDh.MlOZbtRUkc9HuIeiqgtYu4MVW4.4mPvGUpN744Dzu8Dpre';

/** Counts a failure of a day, and blocks at every $each-th. Calls during a block are no failures: they neither count nor lengthen it. */
function count_failure(TokenBucket $limit, string $client, int $each): void
{
    $failures = new TokenBucket\FixedWindow(null, "failures:$client", 8 * $each, TokenBucket::DAY);
    $nth = $failures->attempt()->getUsedTokens();      // failures at the same time get different numbers, up to 8 * $each
    if ($nth % $each === 0) {
        $limit->block(300 * 2 ** (intdiv($nth, $each) - 1));
    }
}

$message = '';
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
    $user = substr(strtolower(trim((string) filter_input(INPUT_POST, 'user'))), 0, 65);
    $password = (string) filter_input(INPUT_POST, 'password');
    $network = TokenBucket\client_network(TokenBucket\client_address($_SERVER));
    $pair = TokenBucket::per(null, "login:$network $user", 5, 300, 'login_pair');
    $tries = TokenBucket::per(null, "login:$network", 30, 300, 'login_network');
    $decision = (new TokenBucket\Compound($pair, $tries))->attempt();

    if (!$decision->isAccepted()) {
        http_response_code(429);
        header('Retry-After: 300');        // the shortest block, for both limits: what is left would tell which denied
        $message = 'Too many attempts. Please wait a moment.';
    } elseif (password_verify($password, USERS[$user] ?? NO_USER) && isset(USERS[$user])) {
        $decision->refund();
        $pair->reset();
        (new TokenBucket\FixedWindow(null, "failures:$network $user", 40, TokenBucket::DAY))->reset();
        $message = 'Welcome.';
    } else {
        http_response_code(403);
        $message = 'There is no such user, or that is not the password.';
        count_failure($pair, "$network $user", 5);
        count_failure($tries, $network, 30);
    }
}
?>
<!doctype html>
<html lang="en">
<title>Administration</title>
<p><?= $message ?></p>
<form method="post"><input name="user" required> <input type="password" name="password" required> <button>Log in</button></form>
</html>
