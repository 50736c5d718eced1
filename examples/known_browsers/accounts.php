<?php
/* The accounts of login.php and unlock.php, and the browsers that are known to be their owners'. The user is "joe", the password "secret". */
declare(strict_types=1);

const ACCOUNTS = ['joe' => ['hash' => '$2y$04$yn0s5JabOxVUF17KE.EzEe4CY.j.GinC90LNl.DjnnCk.wlTzHHJm', 'mail' => 'joe@example.org']];
/** The hash of a random password, at the cost of the others: checking it makes an unknown user take as long as a known one. */
const NO_USER = '$2y$04$WxggDh.MlOZbtRUkc9HuIeiqgtYu4MVW4.4mPvGUpN744Dzu8Dpre';
const TRUSTED_PROXIES = [];      // such as "10.0.0.0/8"
/** Where these pages are. Never take it from the request: the client chooses its Host header. */
const SITE = 'http://127.0.0.1:8080';

/** The name in a form, as the account is looked up: all its spellings share a bucket. */
function posted_user(): string
{
    return substr(strtolower(trim((string) filter_input(INPUT_POST, 'user'))), 0, 65);
}

/** Whether a browser posts a form for a page of another site, which could use up the tries and mails of its visitors' networks. */
function is_cross_site(): bool
{
    $host = $_SERVER['HTTP_HOST'] ?? '';
    $is_own = in_array($_SERVER['HTTP_ORIGIN'] ?? '', ['', "https://$host", "http://$host"], true);    // programs send none
    return !$is_own && ($_SERVER['HTTP_SEC_FETCH_SITE'] ?? '') !== 'same-origin';
}

/** The client's IPv4 address, or its IPv6 /64. */
function network(): string
{
    return TokenBucket\client_network(TokenBucket\client_address($_SERVER, TRUSTED_PROXIES));
}

/** Signs a token for a user and a purpose. The signature is void once the password is changed. */
function sign(string $purpose, string $token, string $user): string
{
    $key = getenv('LOGIN_KEY') ?: throw new LogicException('LOGIN_KEY is not set');
    return hash_hmac('sha256', json_encode([$purpose, $token, $user, ACCOUNTS[$user]['hash'] ?? ''], JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE), $key);
}

/** A new token, which begins with the time until which it is valid. */
function new_token(int $seconds): string
{
    return time() + $seconds . '-' . bin2hex(random_bytes(8));
}

/** Whether a token is still valid, and signed for this user and purpose. */
function is_signed(string $purpose, string $token, string $user, string $signature): bool
{
    $is_valid = preg_match('/^(\d{10})-[0-9a-f]{16}$/D', $token, $parts) === 1 && (int) $parts[1] > time();
    return $is_valid && hash_equals(sign($purpose, $token, $user), $signature);
}

/** The name of the cookie: several users of a browser have one each. */
function cookie_name(string $user): string
{
    return 'known_browser_' . substr(hash('sha256', $user), 0, 16);
}

/** Gives the browser a cookie, by which this user's logins from it have a limit of their own. */
function remember_browser(string $user): void
{
    $year = 365 * 86_400;
    $token = new_token($year);
    $options = ['expires' => time() + $year, 'path' => '/', 'secure' => str_starts_with(SITE, 'https:'), 'httponly' => true, 'samesite' => 'Lax'];
    setcookie(cookie_name($user), "$token." . sign('browser', $token, $user), $options);
}

/** Where known browsers and used links are counted. On this host in a table of their own, which no other limit can fill. */
function browsers_storage(): ?string
{
    $storage = (string) ini_get('token_bucket.storage');
    return $storage === '' || str_starts_with($storage, 'shm:') ? 'shm:browsers' : null;
}

/** What tells the browser from others, if it is known to be this user's; or null. */
function known_browser(string $user): ?string
{
    [$token, $signature] = explode('.', (string) filter_input(INPUT_COOKIE, cookie_name($user)), 2) + ['', ''];
    return is_signed('browser', $token, $user, $signature) ? $token : null;
}
