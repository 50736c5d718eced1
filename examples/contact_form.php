<?php
/*
 * A contact form that each address (in IPv6: each /64) may send five times a minute, counted from the first.
 *
 * Serve it with php-fpm, or: php -S 127.0.0.1:8080 examples/contact_form.php
 * Behind a proxy, tell client_address() which one.
 */
declare(strict_types=1);

$message = '';
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
    $network = TokenBucket\client_network(TokenBucket\client_address($_SERVER));
    $decision = (new TokenBucket\FixedWindow(null, "contact:$network", 5, 60))->attempt();

    if (!$decision->isAccepted()) {
        $seconds = $decision->getRetryAfterSeconds();
        http_response_code(429);
        header("Retry-After: $seconds");
        $message = "That was much to read. Please write again in $seconds s.";
    } else {
        // An application sends the message here.
        $message = 'Thank you. You may send ' . $decision->getRemainingTokens() . ' more within a minute.';
    }
}
?>
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Write to us</title>
<h1>Write to us</h1>
<p><?= htmlspecialchars($message) ?></p>
<form method="post">
  <label>Message <textarea name="message" required></textarea></label>
  <button>Send</button>
</form>
</html>
