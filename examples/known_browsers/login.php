<?php
/* A login with the three limits of docs/login.md. A browser that its user has logged in with, or has opened a link of unlock.php in, has
 * a limit of its own instead, which no other browser can use up.
 *
 * Serve it with php-fpm (env[LOGIN_KEY] = ... in the pool, the same on all hosts), or:
 *
 *     LOGIN_KEY=$(openssl rand -hex 32) php -S 127.0.0.1:8080 -t examples/known_browsers
 *     http://127.0.0.1:8080/login.php
 */
declare(strict_types=1);

require __DIR__ . '/accounts.php';

$message = '';
if ($_SERVER['REQUEST_METHOD'] === 'POST' && is_cross_site()) {
    http_response_code(403);
    $message = 'Please log in on this page.';
} elseif ($_SERVER['REQUEST_METHOD'] === 'POST') {
    [$user, $network] = [posted_user(), network()];
    $browser = known_browser($user);                                        // by a signed cookie, or null
    if ($browser !== null) {
        $own = TokenBucket::per(browsers_storage(), "login-browser:$browser", 5, 300, 'login_browser');
        $limits = [$own];
    } else {
        $own = TokenBucket::per(null, "login:$network $user", 5, 300, 'login_pair');
        $account = TokenBucket::per(null, "login-account:$user", 100, 3600, 'login_account');
        $tries = TokenBucket::per(null, "login:$network", 30, 300, 'login_network');
        $limits = [$own, $account, $tries];
    }
    $decision = (new TokenBucket\Compound(...$limits))->attempt();
    $password = (string) filter_input(INPUT_POST, 'password');

    if (!$decision->isAccepted()) {
        // An unknown name may be a password in the wrong field: it is not logged.
        error_log('login denied by ' . implode(', ', $decision->getDeniedBy()) . ": $network " . (isset(ACCOUNTS[$user]) ? $user : '-'));
        http_response_code(429);
        header('Retry-After: 60');    // the same for all limits, or it would tell which one it was
        $message = 'Too many attempts. Please wait a moment.';
    } elseif (password_verify($password, ACCOUNTS[$user]['hash'] ?? NO_USER) && isset(ACCOUNTS[$user])) {
        $decision->refund();          // only failures count
        $own->reset();                // the right password forgives those before it
        remember_browser($user);
        $message = 'Welcome.';
    } else {
        http_response_code(403);
        $message = 'There is no such user, or that is not the password.';
    }
}
?>
<!doctype html>
<html lang="en">
<title>Log in</title>
<p><?= $message ?></p>
<form method="post"><input name="user" required> <input type="password" name="password" required> <button>Log in</button></form>
<p><a href="unlock.php">Denied?</a></p>
</html>
