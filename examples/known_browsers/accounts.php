<?php
/* The accounts of login.php and unlock.php, and the browsers that are known to be their owners'. The user is "joe", the password "secret". */
declare(strict_types=1);

const ACCOUNTS = ['joe' => ['hash' => '$2y$04$yn0s5JabOxVUF17KE.EzEe4CY.j.GinC90LNl.DjnnCk.wlTzHHJm', 'mail' => 'joe@example.org']];
/** The hash of a random password: checking it makes an unknown user take as long as a known one. */
const NO_USER = '$2y$04$WxggDh.MlOZbtRUkc9HuIeiqgtYu4MVW4.4mPvGUpN744Dzu8Dpre';
const TRUSTED_PROXIES = [];      // such as "10.0.0.0/8"

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

/** Signs a text for a user. The signature is void once the password is changed. */
function sign(string $text, string $user): string
{
    $key = getenv('LOGIN_KEY') ?: throw new LogicException('LOGIN_KEY is not set');
    return hash_hmac('sha256', "$text $user " . (ACCOUNTS[$user]['hash'] ?? ''), $key);
}

/** Gives the browser a cookie, by which this user's logins from it have a limit of their own. */
function remember_browser(string $user): void
{
    $until = time() + 365 * 86_400;
    $token = "$until-" . bin2hex(random_bytes(8));
    $options = ['expires' => $until, 'path' => '/', 'secure' => !empty($_SERVER['HTTPS']), 'httponly' => true, 'samesite' => 'Lax'];
    setcookie('known_browser', "$token." . sign("browser $token", $user), $options);
}

/** What tells the browser from others, if it is known to be this user's; or null. */
function known_browser(string $user): ?string
{
    [$token, $signature] = explode('.', (string) filter_input(INPUT_COOKIE, 'known_browser'), 2) + ['', ''];
    return (int) $token > time() && hash_equals(sign("browser $token", $user), $signature) ? $token : null;
}
