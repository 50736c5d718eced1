<?php

/** Who asks, what for, and what is answered. */

declare(strict_types=1);

namespace TokenBucket\StatusPage;

use TokenBucket\Command\Text;

use function TokenBucket\status;

/** Random bytes, which each form's token is derived from. */
const TOKEN_COOKIE = 'token_bucket_status';
/** What a change has done, for the page that the browser loads next. */
const RESULT_COOKIE = 'token_bucket_result';
const RESULT_SECONDS = 60;
/** A longer client, in bytes, has to be typed again. */
const LONGEST_TYPED = 200;

function serve(): void
{
    if (headers_sent($file, $line)) {
        error_log("The status page must send its headers first, but $file has printed something on line $line");
        echo "<p>The status page is not shown, for something was printed before it. PHP's log says where.</p>\n";
        return;
    }
    // Errors belong in the log. A server may have disabled ini_set(); what PHP displays then ends with this buffer.
    if (\function_exists('ini_set')) {
        ini_set('display_errors', '0');
    }
    ob_start(static fn(): string => '');
    try {
        $page = respond();
    } catch (\Throwable $failure) {
        error_log("The status page failed: {$failure->getMessage()} in {$failure->getFile()} on line {$failure->getLine()}");
        $page = message(500, 'The status page failed', "<p>PHP's log says why.</p>");
    }
    ob_end_clean();
    echo $page;
}

/** Sends the headers, makes the change that is posted, and returns the page. */
function respond(): string
{
    send_security_headers();

    $access = \defined('TOKEN_BUCKET_STATUS_ACCESS') ? \constant('TOKEN_BUCKET_STATUS_ACCESS') : null;
    if ($access !== 'view' && $access !== 'change') {
        return refusal($access);
    }
    if (!\extension_loaded('token_bucket')) {
        return message(503, 'token_bucket is not loaded', '<p>This PHP has no extension <code>token_bucket</code>: look at '
            . '<code>extension=token_bucket</code> in its php.ini, and restart php-fpm.</p>');
    }
    $method = $_SERVER['REQUEST_METHOD'] ?? 'GET';
    if (!\in_array($method, ['GET', 'HEAD', 'POST'], true)) {
        header('Allow: GET, HEAD, POST');
        return message(405, 'Unknown method', '<p>This page knows GET, HEAD and POST.</p>');
    }
    try {
        // What was typed is shown again.
        [$notice, $form] = match (true) {
            $method === 'POST' => [handle_post($access), $_POST],
            $access === 'change' => take_result(),
            default => ['', []],
        };
        if ($notice === null) {
            // To itself: whoever loads the page again sends no form again.
            header('Location: ' . address([]), true, 303);
            return '';
        }
        $status = status();
    } catch (\TokenBucket\TokenBucketException $failure) {
        return message(500, 'The status cannot be read', '<p>' . escape($failure->getMessage()) . '</p>');
    }
    // A view without buttons needs no token, and so no cookie for it.
    $token = $access === 'change' ? token() : null;
    return isset($_GET['change']) && $token !== null
        ? change_view($status, $token, $notice, $form)
        : status_view($status, $token, $notice);
}

function send_security_headers(): void
{
    $style = base64_encode(hash('sha256', style(), true));
    header('Content-Type: text/html; charset=utf-8');
    header("Content-Security-Policy: default-src 'none'; style-src 'sha256-$style'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'");
    header('X-Frame-Options: DENY');
    header('X-Content-Type-Options: nosniff');
    header('Cache-Control: no-store');
    // With "no-referrer" browsers send "Origin: null", and is_same_origin() would refuse our own forms.
    header('Referrer-Policy: same-origin');
    header('Cross-Origin-Opener-Policy: same-origin');
    header('X-Robots-Tag: noindex');
}

/** Returns the page of a request that may not see more. $access is the constant's value, null if it is not defined. */
function refusal(mixed $access): string
{
    // The site's own check said no. Its visitors need not know how the page is turned on.
    if ($access === false || $access === '') {
        return message(403, 'Not allowed', '<p>You may not see this page.</p>');
    }
    $reason = $access === null ? 'is not defined' : "must be 'view' or 'change'";
    return message(403, 'The status page is off', "<p>The constant <code>TOKEN_BUCKET_STATUS_ACCESS</code> $reason.</p>"
        . '<p>To turn the page on, write a file of your site that checks who asks, defines the constant, and requires this file:</p>'
        . '<pre><code>' . escape(<<<'CODE'
            <?php
            require __DIR__ . '/../bootstrap.php';          // your site, with its login
            if (!is_administrator()) { http_response_code(404); exit; }
            define('TOKEN_BUCKET_STATUS_ACCESS', 'change'); // or 'view', without the buttons
            require '/path/to/share/status.php';
            CODE) . '</code></pre>');
}

function message(int $status, string $title, string $content): string
{
    http_response_code($status);
    return page($title, '', "<h1>$title</h1>\n$content");
}

/** Returns a text field of a request, or '' if it is missing or an array. */
function field(array $fields, string $name): string
{
    $value = $fields[$name] ?? '';
    return \is_string($value) ? $value : '';
}

/**
 * Tells whether a form of this page was sent, as far as the browser says. It keeps other hosts of the same domain away,
 * which could set a cookie for this one.
 */
function is_same_origin(): bool
{
    $site = $_SERVER['HTTP_SEC_FETCH_SITE'] ?? null;
    if ($site !== null) {
        return $site === 'same-origin';
    }
    // Browsers leave Sec-Fetch-Site out over plain HTTP.
    $origin = $_SERVER['HTTP_ORIGIN'] ?? null;
    return $origin === null || preg_replace('~^https?://~', '', $origin, 1) === ($_SERVER['HTTP_HOST'] ?? '');
}

/**
 * Returns the token of this browser's forms. It is derived from a random cookie, so that any worker of any host can check it
 * and nothing is stored. Other sites can neither read the cookie nor make the browser send it with their requests.
 */
function token(): string
{
    $secret = token_secret();
    if ($secret === null) {
        $secret = bin2hex(random_bytes(32));
        send_cookie(TOKEN_COOKIE, $secret);
    }
    return token_from($secret);
}

function is_token_right(): bool
{
    $secret = token_secret();
    return $secret !== null && hash_equals(token_from($secret), field($_POST, 'token'));
}

function token_from(string $secret): string
{
    return hash_hmac('sha256', 'the forms of the status page', $secret);
}

function token_secret(): ?string
{
    $secret = field($_COOKIE, cookie_name(TOKEN_COOKIE));
    return preg_match('/^[0-9a-f]{64}$/D', $secret) ? $secret : null;
}

/** Over HTTPS the prefix makes browsers refuse such a cookie from other hosts of the domain. */
function cookie_name(string $name): string
{
    return is_https() ? "__Host-$name" : $name;
}

/** @param int $seconds after which the browser forgets it; 0: at its end */
function send_cookie(string $name, string $value, int $seconds = 0): void
{
    $options = ['expires' => $seconds === 0 ? 0 : time() + $seconds, 'path' => '/', 'secure' => is_https(), 'httponly' => true, 'samesite' => 'Strict'];
    setcookie(cookie_name($name), $value, $options);
}

function is_https(): bool
{
    return !\in_array(strtolower((string) ($_SERVER['HTTPS'] ?? '')), ['', 'off'], true);
}

/**
 * @param string $name  what was changed, printable
 * @param string $state how it is now, printable
 */
function send_result(string $title, string $name, string $state): void
{
    $typed = field($_POST, 'client');
    $result = ['title' => $title, 'name' => Text::printable($name), 'state' => Text::printable($state, 300), 'limit' => Text::printable(field($_POST, 'limit')),
        // nginx takes 4 KB of headers from php-fpm.
        'client' => \strlen($typed) > LONGEST_TYPED ? '' : Text::printable($typed)];
    send_cookie(RESULT_COOKIE, base64_encode(json_encode($result, JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR)), RESULT_SECONDS);
}

/**
 * What the change before this request has done, once.
 *
 * @return array{string, array<mixed>} a notice, or ''; and what was typed
 */
function take_result(): array
{
    $result = json_decode((string) base64_decode(field($_COOKIE, cookie_name(RESULT_COOKIE)), true), true);
    if (!\is_array($result)) {
        return ['', []];
    }
    send_cookie(RESULT_COOKIE, '', -RESULT_SECONDS);
    $name = field($result, 'name');
    $name = $name === '' ? '' : '<code>' . show(Text::printable($name, 1000)) . '</code>: ';
    return [notice('good', escape(field($result, 'title')), $name . show(Text::printable(field($result, 'state'), 1000)) . '.'), $result];
}
