<?php
/* An administrator's login that blocks a network for longer each time: every tenth failure within a day blocks it, for
 * 5 minutes, then for 10, 20 and so on up to 11 hours, and so does every failure from the 80th on. The user is "joe", the password "secret".
 *
 *     php -d extension=token_bucket -S 127.0.0.1:8080 examples/escalating_block.php
 */
declare(strict_types=1);

const USERS = ['joe' => '$2y$04$yn0s5JabOxVUF17KE.EzEe4CY.j.GinC90LNl.DjnnCk.wlTzHHJm'];
/** The hash of a random password: checking it makes an unknown user take as long as a known one. */
const NO_USER = '$2y$04$WxggDh.MlOZbtRUkc9HuIeiqgtYu4MVW4.4mPvGUpN744Dzu8Dpre';

$message = '';
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
    $user = substr(strtolower(trim((string) filter_input(INPUT_POST, 'user'))), 0, 65);
    $network = TokenBucket\client_network(TokenBucket\client_address($_SERVER));
    $tries = TokenBucket::per(null, "login:$network", 20, 300);
    $account = TokenBucket::per(null, "account:$user", 100, 3600);
    $decision = (new TokenBucket\Compound($tries, $account))->attempt();

    if (!$decision->isAccepted()) {
        http_response_code(429);
        header("Retry-After: {$decision->getRetryAfterSeconds()}");
        $message = 'Too many attempts.';
    } elseif (password_verify((string) filter_input(INPUT_POST, 'password'), USERS[$user] ?? NO_USER) && isset(USERS[$user])) {
        $decision->refund();
        $message = 'Welcome.';
    } else {
        http_response_code(403);
        $message = 'There is no such user, or that is not the password.';

        // Denied calls do not get here, so attempts during a block neither count nor lengthen it.
        $failures = (new TokenBucket\FixedWindow(null, "failures:$network", 80, TokenBucket::DAY))->attempt();
        $nth = $failures->getUsedTokens();
        if ($nth % 10 === 0) {
            $tries->block(300 * 2 ** ($nth / 10 - 1));
        }
    }
}
?>
<!doctype html>
<html lang="en">
<title>Administration</title>
<p><?= $message ?></p>
<form method="post"><input name="user" required> <input type="password" name="password" required> <button>Log in</button></form>
</html>
