<?php
/* The login page of a registry's console, with the three limits of docs/login.md. Only failures count.
 *
 * Serve it with php-fpm (env[LOGIN_KEY] = ... in the pool), or:
 * LOGIN_KEY=$(openssl rand -hex 32) php -d extension=token_bucket -S 127.0.0.1:8080 examples/registry_login.php
 * The user is "joe", the password "secret". */
declare(strict_types=1);

const TRUSTED_PROXIES = [];      // such as "10.0.0.0/8"
const STORE = 'shm:logins';      // a table that no flood on another limit reaches; several hosts need a server's DSN
const USERS = ['joe' => '$2y$04$yn0s5JabOxVUF17KE.EzEe4CY.j.GinC90LNl.DjnnCk.wlTzHHJm'];
/** The hash of a random password: checking it makes an unknown user take as long as a known one. */
const NO_USER = '$2y$04$WxggDh.MlOZbtRUkc9HuIeiqgtYu4MVW4.4mPvGUpN744Dzu8Dpre';

/** The cookie of a browser that the user has logged in with. It is valid for this user and password only. */
function browser_token(string $user, int $until): string
{
    return "$until." . hash_hmac('sha256', "$until $user " . (USERS[$user] ?? ''), (string) getenv('LOGIN_KEY'));
}

/** Whether a browser posts the form for a page of another site, which could use up the tries of its visitors' networks. */
function is_cross_site(): bool
{
    $host = $_SERVER['HTTP_HOST'] ?? '';
    $is_own = in_array($_SERVER['HTTP_ORIGIN'] ?? '', ['', "https://$host", "http://$host"], true);    // programs send none
    return !$is_own && ($_SERVER['HTTP_SEC_FETCH_SITE'] ?? '') !== 'same-origin';
}

$message = '';
if ($_SERVER['REQUEST_METHOD'] === 'POST' && is_cross_site()) {
    http_response_code(403);
    $message = 'Please log in on this page.';
} elseif ($_SERVER['REQUEST_METHOD'] === 'POST') {
    // The name as it is looked up, so that all its spellings share a bucket.
    $user = substr(strtolower(trim((string) filter_input(INPUT_POST, 'user'))), 0, 65);
    $token = (string) filter_input(INPUT_COOKIE, 'known_browser');
    $until = (int) strtok($token, '.');    // "1826821435.0e9a" is a number with an exponent: the time is cut off first
    $is_known = $until > time() && getenv('LOGIN_KEY') && hash_equals(browser_token($user, $until), $token);
    $network = TokenBucket\client_network(TokenBucket\client_address($_SERVER, TRUSTED_PROXIES));
    $address = TokenBucket::per(STORE, "login:$network", 30, 300, 'address');
    $pair = TokenBucket::per(STORE, "login:$network $user", 5, 300, 'pair');
    // A known browser has a bucket of its own, so that guesses from many addresses do not lock the user out.
    $account = TokenBucket::per(STORE, $is_known ? "login-browser:$token" : "login-user:$user", 100, 3600, 'user');
    $decision = (new TokenBucket\Compound($address, $pair, $account))->attempt();

    if (!$decision->isAccepted()) {
        // A client that keeps trying stays limited: each attempt starts its five minutes again.
        $denied_by = array_flip($decision->getDeniedBy());
        foreach (array_intersect_key(['address' => $address, 'pair' => $pair], $denied_by) as $limit) {
            $limit->block(300);
        }
        // An unknown name may be a password in the wrong field: it is not logged.
        error_log('login denied by ' . implode(', ', array_keys($denied_by)) . ": $network " . (isset(USERS[$user]) ? $user : '-'));
        http_response_code(429);
        header('Retry-After: 300');    // the same for all limits, or it would tell which one it was
        $message = 'Too many attempts. Please leave it for five minutes.';
    } elseif (password_verify((string) filter_input(INPUT_POST, 'password'), USERS[$user] ?? NO_USER) && isset(USERS[$user])) {
        $decision->refund();
        $pair->reset();
        $cookie = ['expires' => time() + 365 * 86400, 'secure' => !empty($_SERVER['HTTPS']), 'httponly' => true, 'samesite' => 'Lax'];
        if (getenv('LOGIN_KEY')) {
            setcookie('known_browser', browser_token($user, $cookie['expires']), $cookie + ['path' => '/']);
        }
        $message = 'Welcome.';
    } else {
        http_response_code(403);
        $message = 'There is no such user, or that is not the password.';
    }
}
?>
<!doctype html><title>Console</title>
<p><?= $message ?></p>
<form method="post"><input name="user" required> <input type="password" name="password" required> <button>Log in</button></form>
