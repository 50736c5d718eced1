<?php
/*
 * The login page of a registry's console, with the three buckets that SECURITY.md advises:
 *
 * - an address (of IPv6 a /64) may try thirty times in five minutes;
 * - one user five times from each address. In both who keeps trying stays out, and who is silent for five minutes
 *   starts afresh;
 * - one user a hundred times an hour from all browsers that he has never logged in with: many addresses may guess at
 *   one password. A browser that he has used is known by a cookie and has a bucket of its own, so nobody can lock him out.
 *
 * Serve it with php-fpm (env[LOGIN_KEY] = ... in the pool), or:
 * LOGIN_KEY=$(openssl rand -hex 32) php -d extension=token_bucket -S 127.0.0.1:8080 examples/registry_login.php
 * The user is "joe", the password "secret".
 */
declare(strict_types=1);

require __DIR__ . '/client_network.php';

/** Our own, such as "10.0.0.0/8": only they are believed when they say for whom they ask. */
const PROXIES = [];
const USERS = ['joe' => '$2y$04$yn0s5JabOxVUF17KE.EzEe4CY.j.GinC90LNl.DjnnCk.wlTzHHJm'];
/** Of a password that nobody knows: to refuse an unknown user takes as long as a known one. */
const NOBODY = '$2y$04$WxggDh.MlOZbtRUkc9HuIeiqgtYu4MVW4.4mPvGUpN744Dzu8Dpre';
/** A table of its own, so that no flood of other limits' keys reaches it; where several hosts count together, a server's DSN. */
const STORE = 'shm:logins';
const WINDOW = 300;
const YEAR = 365 * 86400;

/** What a browser keeps that a user has logged in with. Nobody else can make it; it is good for that user and password alone. */
function browser_token(string $user, int $until): string
{
    return "$until." . hash_hmac('sha256', "$until $user " . (USERS[$user] ?? ''), (string) getenv('LOGIN_KEY'));
}

/** The bucket of a user: this browser's if it is known, else that of all others. */
function user_bucket(string $user): TokenBucket
{
    $token = $_COOKIE['known_browser'] ?? null;
    // Cut off first: of "1826821435.0e9a" as a whole, PHP reads a number with an exponent.
    $until = is_string($token) ? (int) strtok($token, '.') : 0;
    $is_known = $until > time() && getenv('LOGIN_KEY') && hash_equals(browser_token($user, $until), $token);
    return new TokenBucket(STORE, $is_known ? "login-browser:$token" : "login-user:$user", 100, 100 / 3600);
}

/** Which bucket denies it, or null. Each is charged before the password is looked at. */
function denied_by(string $network, string $user): ?string
{
    $login = new TokenBucket(STORE, 'login');
    return match (true) {
        // First, and alone where it denies: so one address makes no more buckets than it has tries.
        $login->check($network, 30, WINDOW) => 'address',
        $login->check("$network $user", 5, WINDOW) => 'address and user',
        !user_bucket($user)->consume() => 'user',
        default => null,
    };
}

/** What a login that was right gives back: its own token. All of them only for this user at this address. */
function give_back(string $network, string $user): void
{
    (new TokenBucket(STORE, "login:$network", 30, 30 / WINDOW))->refund();
    (new TokenBucket(STORE, "login:$network $user", 5, 5 / WINDOW))->reset();
    user_bucket($user)->refund();
}

$message = '';
if ($_SERVER['REQUEST_METHOD'] === 'POST') {
    $network = client_network(client_address($_SERVER, PROXIES));
    // As the user is looked up, so that no other way to write his name has a bucket of its own. Ours are ASCII.
    $user = strtolower(trim(is_string($_POST['user'] ?? null) ? $_POST['user'] : ''));
    // Longer than any name that is one; a bucket's identifier has an end.
    $user = substr($user, 0, 65);
    $password = is_string($_POST['password'] ?? null) ? $_POST['password'] : '';

    if ($by = denied_by($network, $user)) {
        // A user who is none may be a password in the wrong field.
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
