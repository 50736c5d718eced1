<?php
/*
 * The login page of a registry's console, with the three buckets that SECURITY.md advises:
 *
 * - an address (in IPv6: a /64) may try thirty times in five minutes;
 * - each address may try a user's password five times in five minutes. In both, a client that keeps trying stays
 *   limited, and one that is silent for five minutes starts afresh;
 * - all unknown browsers together may try a user's password a hundred times an hour, against guesses from many
 *   addresses. A browser that the user has logged in with has a cookie and a bucket of its own, so that an attacker
 *   cannot lock the user out.
 *
 * Serve it with php-fpm (env[LOGIN_KEY] = ... in the pool), or:
 * LOGIN_KEY=$(openssl rand -hex 32) php -d extension=token_bucket -S 127.0.0.1:8080 examples/registry_login.php
 * The user is "joe", the password "secret".
 */
declare(strict_types=1);

require __DIR__ . '/client_network.php';

/** The trusted proxies, such as "10.0.0.0/8"; only their X-Forwarded-For is believed. */
const PROXIES = [];
const USERS = ['joe' => '$2y$04$yn0s5JabOxVUF17KE.EzEe4CY.j.GinC90LNl.DjnnCk.wlTzHHJm'];
/** The hash of a random password: checking it makes an unknown user take as long as a known one. */
const NOBODY = '$2y$04$WxggDh.MlOZbtRUkc9HuIeiqgtYu4MVW4.4mPvGUpN744Dzu8Dpre';
/** A table of its own, out of reach of floods on other limits; use a server's DSN if several hosts count together. */
const STORE = 'shm:logins';
const WINDOW = 300;
const YEAR = 365 * 86400;

/** The cookie of a browser that a user has logged in with. Only this server can make it, and it is valid for this user and password only. */
function browser_token(string $user, int $until): string
{
    return "$until." . hash_hmac('sha256', "$until $user " . (USERS[$user] ?? ''), (string) getenv('LOGIN_KEY'));
}

/** The user's bucket: this browser's own if it is known, else the one of all unknown browsers. */
function user_bucket(string $user): TokenBucket
{
    $token = $_COOKIE['known_browser'] ?? null;
    // The time is cut off first: PHP would read "1826821435.0e9a" as a number with an exponent.
    $until = is_string($token) ? (int) strtok($token, '.') : 0;
    $is_known = $until > time() && getenv('LOGIN_KEY') && hash_equals(browser_token($user, $until), $token);
    return new TokenBucket(STORE, $is_known ? "login-browser:$token" : "login-user:$user", 100, 100 / 3600);
}

/** The bucket that denies the attempt, or null. Each bucket is charged before the password is checked. */
function denied_by(string $network, string $user): ?string
{
    $login = new TokenBucket(STORE, 'login');
    return match (true) {
        // The address comes first, and alone if it denies, so that an address makes no more buckets than it has attempts.
        $login->check($network, 30, WINDOW) => 'address',
        $login->check("$network $user", 5, WINDOW) => 'address and user',
        !user_bucket($user)->consume() => 'user',
        default => null,
    };
}

/** Returns a successful login's own token; the bucket of this user at this address is reset. */
function give_back(string $network, string $user): void
{
    (new TokenBucket(STORE, "login:$network", 30, 30 / WINDOW))->refund();
    (new TokenBucket(STORE, "login:$network $user", 5, 5 / WINDOW))->reset();
    user_bucket($user)->refund();
}

$message = '';
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
    $network = client_network(client_address($_SERVER, PROXIES));
    // The spelling under which the user is looked up, so that other spellings of a name share its bucket. Names are ASCII.
    $user = strtolower(trim(is_string($_POST['user'] ?? null) ? $_POST['user'] : ''));
    // Longer than any valid name; identifiers have a longest length.
    $user = substr($user, 0, 65);
    $password = is_string($_POST['password'] ?? null) ? $_POST['password'] : '';

    if ($by = denied_by($network, $user)) {
        // An unknown name may be a password in the wrong field: it is not logged.
        error_log("login denied by $by: $network " . (isset(USERS[$user]) ? $user : '-'));
        http_response_code(429);
        header('Retry-After: ' . WINDOW);
        $message = 'Too many attempts. Please leave it for five minutes.';
    } elseif (password_verify($password, USERS[$user] ?? NOBODY) && isset(USERS[$user])) {
        give_back($network, $user);
        if (getenv('LOGIN_KEY')) {
            $until = time() + YEAR;
            setcookie('known_browser', browser_token($user, $until), [
                'expires' => $until, 'path' => '/', 'secure' => !empty($_SERVER['HTTPS']), 'httponly' => true, 'samesite' => 'Lax',
            ]);
        }
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
