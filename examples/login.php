<?php
/*
 * A login page that allows each address (in IPv6: each /64) ten attempts, and one more each second. For accounts of
 * higher value, start from registry_login.php.
 *
 * Serve it with php-fpm, or: php -d extension=token_bucket -S 127.0.0.1:8080 examples/login.php
 * The password is "secret". Behind a proxy, see client_address().
 */
declare(strict_types=1);

require __DIR__ . '/client_network.php';

const PASSWORD_HASH = '$2y$04$yn0s5JabOxVUF17KE.EzEe4CY.j.GinC90LNl.DjnnCk.wlTzHHJm';

$message = '';
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
    $client = client_network($_SERVER['REMOTE_ADDR']);
    $decision = (new TokenBucket(null, "login:$client", 10, 1))->attempt();

    if (!$decision->isAccepted()) {
        $seconds = max(1, (int) ceil($decision->getRetryAfter()));
        http_response_code(429);
        header("Retry-After: $seconds");
        $message = "Too many attempts. Please try again in $seconds s.";
    } elseif (is_string($_POST['password'] ?? null) && password_verify($_POST['password'], PASSWORD_HASH)) {
        $message = 'Welcome.';
    } else {
        http_response_code(403);
        $message = 'That is not the password.';
    }
}
?>
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Log in</title>
<h1>Log in</h1>
<p><?= htmlspecialchars($message) ?></p>
<form method="post">
  <label>Password <input type="password" name="password" required></label>
  <button>Log in</button>
</form>
</html>
