<?php
/*
 * The login page of a registry's console: an address may try thirty times in five minutes, and one
 * user five times from each address. Who keeps trying stays out; who is silent for five minutes
 * starts afresh.
 *
 * Serve it with php-fpm, or: php -d extension=token_bucket -S 127.0.0.1:8080 examples/registry_login.php
 * The password is "secret". Behind a proxy, take the address that the proxy vouches for.
 */
declare(strict_types=1);

const PASSWORD_HASH = '$2y$04$yn0s5JabOxVUF17KE.EzEe4CY.j.GinC90LNl.DjnnCk.wlTzHHJm';
const WINDOW = 300;

$message = '';
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
    $ip = $_SERVER['REMOTE_ADDR'];
    $user = strtolower(is_string($_POST['user'] ?? null) ? $_POST['user'] : '');
    $password = is_string($_POST['password'] ?? null) ? $_POST['password'] : '';

    // Both, so that both are charged. A user alone is not limited: others could lock him out.
    $login = new TokenBucket(null, 'login');
    $limited = [$login->check($ip, 30, WINDOW), $login->check("$ip " . substr($user, 0, 64), 5, WINDOW)];

    if (in_array(true, $limited, true)) {
        http_response_code(429);
        header('Retry-After: ' . WINDOW);
        $message = 'Too many attempts. Please leave it for five minutes.';
    } elseif ($user === 'joe' && password_verify($password, PASSWORD_HASH)) {
        $message = 'Welcome.';
    } else {
        http_response_code(403);
        $message = 'There is no such user, or that is not the password.';
    }
}
?>
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Console</title>
<h1>Console</h1>
<p><?= htmlspecialchars($message) ?></p>
<form method="post">
  <label>User <input name="user" required></label>
  <label>Password <input type="password" name="password" required></label>
  <button>Log in</button>
</form>
</html>
