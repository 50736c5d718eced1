<?php
/* A login page that allows each network ten attempts, and one more each second. The password is "secret".
 * For accounts of higher value start from registry_login.php. Behind a proxy, tell client_address() which one. */
declare(strict_types=1);

const PASSWORD_HASH = '$2y$04$yn0s5JabOxVUF17KE.EzEe4CY.j.GinC90LNl.DjnnCk.wlTzHHJm';

$message = '';
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
    $network = TokenBucket\client_network(TokenBucket\client_address($_SERVER));
    $decision = TokenBucket::per(null, "login:$network", 10, 10)->attempt();
    // Or never more than ten in any five minutes: (new TokenBucket\SlidingWindow(null, "login:$network", 10, 300))->attempt()
    if (!$decision->isAccepted()) {
        http_response_code(429);
        header("Retry-After: {$decision->getRetryAfterSeconds()}");
        $message = "Too many attempts. Please try again in {$decision->getRetryAfterSeconds()} s.";
    } elseif (password_verify((string) filter_input(INPUT_POST, 'password'), PASSWORD_HASH)) {
        $message = 'Welcome.';
    } else {
        http_response_code(403);
        $message = 'That is not the password.';
    }
}
?>
<!doctype html>
<html lang="en">
<title>Log in</title>
<p><?= $message ?></p>
<form method="post"><label>Password <input type="password" name="password" required></label> <button>Log in</button></form>
</html>
