<?php
/* The login of docs/login.md: 5 failures in five minutes for a user at a network, 30 for a network. The user is "joe", the
 * password "secret". Behind a proxy, tell client_address() which one.
 *
 *     php -S 127.0.0.1:8080 examples/login.php
 */
declare(strict_types=1);

const USERS = ['joe' => '$2y$04$yn0s5JabOxVUF17KE.EzEe4CY.j.GinC90LNl.DjnnCk.wlTzHHJm'];
/** The hash of a random password: checking it makes an unknown user take as long as a known one. */
const NO_USER = '$2y$04$WxggDh.MlOZbtRUkc9HuIeiqgtYu4MVW4.4mPvGUpN744Dzu8Dpre';

$message = '';
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
    $user = substr(strtolower(trim((string) filter_input(INPUT_POST, 'user'))), 0, 65);      // as the account is looked up
    $password = (string) filter_input(INPUT_POST, 'password');
    $hash = USERS[$user] ?? NO_USER;
    $network = TokenBucket\client_network(TokenBucket\client_address($_SERVER));             // an IPv4 address, or an IPv6 /64

    $pair = TokenBucket::per(null, "login:$network $user", 5, 300, 'login_pair');      // one network, one user
    $tries = TokenBucket::per(null, "login:$network", 30, 300, 'login_network');       // one network, any user
    $decision = (new TokenBucket\Compound($pair, $tries))->attempt();      // takes a token from both, or from neither
    if (!$decision->isAccepted()) {
        http_response_code(429);
        header('Retry-After: 60');                                         // the same for both: nobody learns which it was
        $message = 'Too many attempts. Please wait a moment.';
    } elseif (password_verify($password, $hash) && isset(USERS[$user])) {
        $decision->refund();                                               // only failures count
        $pair->reset();                                                    // the right password forgives those before it
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
</html>
