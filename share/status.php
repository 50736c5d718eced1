<?php

/**
 * The status page of token_bucket: limits, clients, servers, tables and directives of this host and user.
 *
 * It is off until a file of the site says who may see it. docs/operations.md has the whole story:
 *
 *     require __DIR__ . '/../bootstrap.php';
 *     if (!is_administrator()) { http_response_code(404); exit; }     // whatever the site's own check is
 *     define('TOKEN_BUCKET_STATUS_ACCESS', 'change');                 // 'view': without the buttons
 *     require '/path/to/share/status.php';
 *
 * One file, no dependency, no script. Texts that clients chose pass through show_text(), all others through escape().
 */

declare(strict_types=1);

namespace TokenBucket\StatusPage;

use TokenBucket\CalendarWindow;
use TokenBucket\Compound;
use TokenBucket\FixedWindow;
use TokenBucket\Limiter;
use TokenBucket\SlidingWindow;

use function TokenBucket\denials;
use function TokenBucket\limiter;
use function TokenBucket\reset_statistics;
use function TokenBucket\status;

/** How often the page may refresh itself, in seconds; 0: not at all. */
const REFRESH_CHOICES = [0, 10, 60];
const DEFAULT_REFRESH = 10;

/** How long a client is blocked unless another time is typed; in seconds, or with one of these units. */
const BLOCK_TIME = '1h';
/** So many clients that are all addresses show that a limit has no others. */
const FEWEST_ADDRESSES = 5;
const UNITS = ['' => 1, 's' => 1, 'm' => 60, 'min' => 60, 'h' => 3_600, 'd' => 86_400];

/** `most_denied` cuts identifiers at so many bytes. One that long may be cut, so that it names no client. */
const CUT_AT_BYTES = 96;

/** Stands for the name of a limit in the forms of limits in the code, whose clients are whole identifiers. No limit of the file can have it. */
const IN_THE_CODE = 'in the code';

/** A table that is fuller than this, in percent, needs attention. */
const FULL_TABLE_PERCENT = 90;

/** A limit that denies a larger share of its calls, in percent, in so many minutes, with so many calls at least: as in share/alerts.yml. */
const MOSTLY_DENIED_PERCENT = 50;
const MOSTLY_DENIED_MINUTES = 10;
const MOSTLY_DENIED_CALLS = 60;

/** If a larger share of all calls was denied, in percent, the page does not say that nothing needs attention. */
const MUCH_DENIED_PERCENT = 10;

/** How old the previous reading may be from which rates are computed, in seconds. */
const OLDEST_READING = 600;

/** How many limits the cookie of a reading has at most: nginx takes 4 KB of headers from php-fpm. */
const MOST_LIMITS_IN_A_READING = 50;

/** How many rows a section's table shows, and at most when all were asked for: a page that refreshes itself must stay small. */
const FIRST_ROWS = ['limited' => 10, 'most-denied' => 10, 'denials' => 5];
const MOST_ROWS = 100;

const TOKEN_COOKIE = 'token_bucket_status';
const READING_COOKIE = 'token_bucket_reading';

serve();

// ---- The request ----

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
        $notice = $method === 'POST' ? handle_post($access) : '';
        $status = status();
    } catch (\TokenBucket\TokenBucketException $failure) {
        return message(500, 'The status cannot be read', '<p>' . escape($failure->getMessage()) . '</p>');
    }
    // A view without buttons needs no token, and so no cookie for it.
    $token = $access === 'change' ? token() : null;
    return isset($_GET['change']) && $token !== null
        ? change_view($status, $token, $notice)
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

// ---- Changes, which only a POST with a token makes ----

/** Makes the change that was posted, and returns a notice of what happened. */
function handle_post(string $access): string
{
    if ($access !== 'change') {
        http_response_code(403);
        return failure('Nothing was changed', "this page only shows. <code>TOKEN_BUCKET_STATUS_ACCESS</code> is <code>'view'</code>.");
    }
    if (!is_same_origin()) {
        http_response_code(403);
        return failure('Nothing was changed', 'the form came from another site, or a proxy changes the <code>Host</code> header.');
    }
    if (!is_token_right()) {
        http_response_code(403);
        return failure('Nothing was changed', 'the form was an old one, or the browser keeps no cookies. Send it again.');
    }
    try {
        return match (field($_POST, 'action')) {
            'reset' => reset_client(),
            'block' => block_client(),
            'unblock' => unblock_client(),
            'reset_counts' => reset_counts(),
            default => throw new \ValueError('the action must be reset, block, unblock or reset_counts.'),
        };
    } catch (\TokenBucket\StorageException $outage) {
        // The server may have done it before the connection broke.
        http_response_code(503);
        return failure('It is not known whether anything was changed', show_text($outage->getMessage()));
    } catch (\ValueError | \TokenBucket\ConfigurationException $mistake) {
        http_response_code(422);
        return failure('Nothing was changed', show_text($mistake->getMessage()));
    }
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

function send_cookie(string $name, string $value): void
{
    $options = ['path' => '/', 'secure' => is_https(), 'httponly' => true, 'samesite' => 'Strict'];
    setcookie(cookie_name($name), $value, $options);
}

function is_https(): bool
{
    return !\in_array(strtolower((string) ($_SERVER['HTTPS'] ?? '')), ['', 'off'], true);
}

/** The limit that was posted. */
function posted_limiter(): Limiter
{
    $limiters = posted_limiters();
    return \count($limiters) === 1 ? $limiters[0] : new Compound(...$limiters);
}

/**
 * The limit that was posted, or those in the code: what stands under an identifier is reset and blocked whatever its numbers are. A
 * block alone denies them a call of cost 0.
 *
 * @return non-empty-list<Limiter>
 */
function posted_limiters(): array
{
    $name = field($_POST, 'limit');
    $client = posted_client();
    return $name !== IN_THE_CODE ? [limiter($name, $client)]
        : [\TokenBucket::per(null, $client, 1, 1), new FixedWindow(null, $client, 1, 1), new SlidingWindow(null, $client, 1, 1), new CalendarWindow(null, $client, 1, 'year')];
}

function reset_client(): string
{
    $limiter = posted_limiter();
    if ($limiter->peek(0)->isExempt()) {
        return exempt_client();
    }
    refuse_mistyped_address();
    $limiter->reset();
    return success('Reset', describe_client($limiter));
}

function block_client(): string
{
    $limiter = posted_limiter();
    if ($limiter->peek(0)->isExempt()) {
        return exempt_client();
    }
    if (field($_POST, 'sure') !== 'yes') {
        return block_question();
    }
    $limiter->block(seconds(field($_POST, 'time')));
    return success('Blocked', describe_client($limiter));
}

/** No block holds for such a client, and no call counts. */
function exempt_client(): string
{
    return success('Nothing has changed', 'The client is exempt from the limit, in the file of token_bucket.limits.');
}

/** Returns the seconds of a time that someone has typed. */
function seconds(string $time): float
{
    preg_match('/^\s*(.*?)\s*(s|m|min|h|d|)\s*$/sD', $time, $parts);
    return is_numeric($parts[1]) ? (float) $parts[1] * UNITS[$parts[2]]
        : throw new \ValueError('the time must be a number of seconds, or one with s, m, h or d, such as 90, 15m, 2h or 1d.');
}

/** A limit that is not blocked keeps its calls. */
function unblock_client(): string
{
    if (posted_limiter()->peek(0)->isExempt()) {
        return exempt_client();
    }
    refuse_mistyped_address();
    $was_blocked = false;
    foreach (posted_limiters() as $limiter) {
        $decision = $limiter->peek(0);
        if ($decision->wouldDeny() || $decision->isDegraded()) {
            $limiter->reset();
            $was_blocked = true;
        }
    }
    $identifier = (field($_POST, 'limit') === IN_THE_CODE ? '' : field($_POST, 'limit') . ':') . posted_client();
    $is_listed = \in_array($identifier, array_column(status()['blocked'], 'identifier'), true);
    return success($was_blocked ? 'Unblocked' : 'It was not blocked', describe_client(posted_limiter())
        . ($is_listed ? ' Another limit is blocked under this identifier: in the code, or on another storage.' : ''));
}

/** A client that was typed and is probably a mistyped address is neither reset nor unblocked. Its own buttons do both. */
function refuse_mistyped_address(): void
{
    $mistake = mistyped_address();
    if ($mistake !== null) {
        throw new \ValueError("$mistake.");
    }
}

/**
 * Says what is wrong with a typed client that is probably a mistyped address; null if it is an address, or may well be none. A limit knows
 * its clients by their texts alone. The command knows more forms (share/command/MistypedAddress.php).
 */
function mistyped_address(): ?string
{
    $is_address = fn(string $word): bool => filter_var(preg_replace(['~/\d+$~D', '~^\[(.*)\](:\d+)?$~D', '~^([\d.]+):\d+$~D', '~%[\w.-]+$~D'], ['', '$1', '$1', ''], $word), FILTER_VALIDATE_IP) !== false;
    $limit = field($_POST, 'limit');
    $identifier = ($limit === IN_THE_CODE ? '' : "$limit:") . posted_client();
    $word_of = fn(string $identifier): string => explode(' ', $is_address($identifier) ? $identifier : preg_replace('~^[^:]*:~', '', $identifier), 2)[0];
    $word = $word_of($identifier);
    if (field($_POST, 'client_base64') !== '' || \in_array($word, ['', 'unknown'], true) || $is_address($word)) {
        return null;
    }
    $name = strstr($identifier, ':', true);
    $known = array_filter(array_column([...status()['blocked'], ...denials()], 'identifier'), fn(?string $other): bool => $name !== false && str_starts_with((string) $other, "$name:"));
    if (\in_array($identifier, $known, true)) {
        return null;
    }
    if (preg_match('~^(\d+(\.\d*){3,}|[\da-f]*(:[\da-f]*)*::[\da-f:.]*)(/\d*)?$~Di', $word) === 1) {
        return "$word looks like an address and is none";
    }
    $words = array_unique(array_diff(array_map($word_of, $known), ['unknown']));
    return \count($words) >= FEWEST_ADDRESSES && array_filter($words, $is_address) === $words
        ? "$word is no address, and all clients are that this limit has denied or blocked" : null;
}

/** Asks whether the posted client is to be blocked, and for how long. */
function block_question(): string
{
    $client = posted_client();
    $fields = hidden('token', token()) . hidden('limit', field($_POST, 'limit')) . hidden('client_base64', base64_encode($client))
        // The form that it was typed in keeps it.
        . hidden('client', field($_POST, 'client')) . hidden('sure', 'yes');
    $limit = field($_POST, 'limit');
    $name = show_text($limit === IN_THE_CODE ? $client : "$limit:$client");
    $default = BLOCK_TIME;
    $cancel = link_to([]);
    $mistake = mistyped_address();
    $doubt = $mistake === null ? '' : '<p><strong>' . show_text($mistake) . '.</strong> Block it only if the application passes it so.</p>';
    return <<<HTML
        <section class="notice" id="notice" tabindex="-1" autofocus aria-labelledby="question">
        <h2 id="question">Block this client?</h2>
        <form method="post" class="fields">
        $fields
        $doubt
        <p>All calls of <code>$name</code> will be denied. Unblock lifts the block.</p>
        <p><label for="time">For</label> <input id="time" name="time" value="$default" required pattern="\s*[0-9.]+\s*(s|m|min|h|d)?\s*" autocomplete="off">
        <span class="hint">In seconds, or with a unit: 30s, 15m, 2h, 1d.</span></p>
        <p><button name="action" value="block">Block</button> <a class="button" href="$cancel">Cancel</a></p>
        </form>
        </section>

        HTML;
}

/** Returns the client that a button names in base64, for it may be any bytes, or that someone has typed. */
function posted_client(): string
{
    $encoded = field($_POST, 'client_base64');
    if ($encoded === '') {
        return field($_POST, 'client');
    }
    $client = base64_decode($encoded, true);
    return $client === false ? throw new \ValueError('client_base64 must be base64.') : $client;
}

/** Says what the next call of the posted client would meet. It asks the limiter, so that it is true also where a store failed. */
function describe_client(\TokenBucket\Limiter $limiter): string
{
    $is_in_code = field($_POST, 'limit') === IN_THE_CODE;
    $decision = $limiter->peek($is_in_code ? 0 : 1);
    $client = show_text(($is_in_code ? '' : field($_POST, 'limit') . ':') . posted_client());
    $wait = duration($decision->getRetryAfter());
    $state = match (true) {
        $decision->isAccepted() && $decision->wouldDeny() => "would be denied for $wait, but its limit is a dry run.",
        $decision->isAccepted() && $is_in_code => 'is not blocked.',
        $decision->isAccepted() => 'is accepted: ' . number($decision->getRemainingTokens()) . ' of ' . number($decision->getLimit())
            . ' calls left.',
        default => "is denied for $wait.",
    };
    $store = $decision->isDegraded() ? ' The store did not answer: this is what <code>on_error</code> says on this host.' : '';
    return "<code>$client</code> $state$store";
}

function reset_counts(): string
{
    if (field($_POST, 'sure') !== 'yes') {
        throw new \ValueError('tick the box to reset the counts.');
    }
    reset_statistics();
    return success('Reset', 'all counts are zero.');
}

function success(string $title, string $content): string
{
    return "<p class=\"notice good\" id=\"notice\" tabindex=\"-1\" autofocus><strong>$title:</strong> $content</p>\n";
}

function failure(string $title, string $content): string
{
    return "<p class=\"notice bad\" id=\"notice\" tabindex=\"-1\" autofocus><strong>$title:</strong> $content</p>\n";
}

// ---- Rates ----

/**
 * Returns the calls of each limit, and those it stopped, per second since the previous reading of this browser, and how many
 * seconds ago that was: null if there is none. A cookie holds that reading, so that nothing is stored.
 *
 * @param array{limits: array<int|string, array{checked: int, denied: int, would_deny: int, ...}>, ...} $status
 *
 * @return array{?float, array<int|string, array{checked: float, stopped: float}>}
 */
function rates(array $status): array
{
    $source = reading_source($status);
    // Not the time of day, which may be set. The workers of a host share this clock.
    $now = hrtime(true) / 1e9;
    $previous = parse_reading(field($_COOKIE, cookie_name(READING_COOKIE)), $source);
    $elapsed = $previous === null ? -1 : $now - $previous['time'];
    if ($elapsed < 0 || $elapsed > OLDEST_READING) {
        send_reading($source, $now, $status['limits']);
        return [null, []];
    }
    if ($elapsed < 1) {
        // Too short a time: the previous reading stays, and serves the next one.
        return [null, []];
    }
    send_reading($source, $now, $status['limits']);
    $rates = [];
    foreach ($status['limits'] as $name => $counts) {
        [$checked, $stopped] = $previous['counts'][reading_key($name)] ?? [PHP_INT_MAX, PHP_INT_MAX];
        // Smaller counts than before were reset meanwhile.
        if ($counts['checked'] >= $checked && stopped($counts) >= $stopped) {
            $rates[$name] = [
                'checked' => ($counts['checked'] - $checked) / $elapsed,
                'stopped' => (stopped($counts) - $stopped) / $elapsed,
            ];
        }
    }
    return [$elapsed, $rates];
}

/** Calls that were denied, or would have been but for a dry run. */
function stopped(array $counts): int
{
    return $counts['denied'] + $counts['would_deny'];
}

/** Names what was counted: readings of another host, user or prefix must not be compared. */
function reading_source(array $status): string
{
    $parts = [(string) gethostname(), $status['directives']['token_bucket.prefix'], ...array_column($status['tables'], 'path')];
    return substr(hash('sha256', implode("\0", $parts)), 0, 10);
}

function reading_key(int|string $name): string
{
    return substr(hash('sha256', (string) $name), 0, 10);
}

/** @return array{time: float, counts: array<int|string, array{int, int}>}|null */
function parse_reading(string $reading, string $source): ?array
{
    if (!preg_match('/^([0-9a-f]{10})_(\d{1,12}\.\d{3})((?:_[0-9a-f]{10}-\d{1,18}-\d{1,18})*)$/D', $reading, $parts) || $parts[1] !== $source) {
        return null;
    }
    $counts = [];
    foreach (array_filter(explode('_', $parts[3])) as $item) {
        [$key, $checked, $stopped] = explode('-', $item);
        $counts[$key] = [(int) $checked, (int) $stopped];
    }
    return ['time' => (float) $parts[2], 'counts' => $counts];
}

function send_reading(string $source, float $now, array $limits): void
{
    uasort($limits, fn(array $a, array $b): int => $b['checked'] <=> $a['checked']);
    $reading = sprintf('%s_%.3F', $source, $now);
    foreach (\array_slice($limits, 0, MOST_LIMITS_IN_A_READING, true) as $name => $counts) {
        $reading .= sprintf('_%s-%d-%d', reading_key($name), $counts['checked'], stopped($counts));
    }
    send_cookie(READING_COOKIE, $reading);
}

// ---- The views ----

/**
 * @param array{
 *     version: string,
 *     shared_memory_errors: list<string>,
 *     likely_mistakes: list<string>,
 *     limits: array<int|string, array{checked: int, accepted: int, denied: int, would_deny: int, errors: int, busy: int, degraded: int,
 *         evictions: int, exempt: int, most_denied: array<int|string, int>}>,
 *     last_hour: array<int|string, array{calls: list<int>, denied: list<int>, would_deny: list<int>}>,
 *     denials: list<array<string, mixed>>,
 *     blocked: list<array{name: string, identifier: string|null, algorithm: string, enforced: bool, seconds: float}>,
 *     limits_file: array{path: string, error: string|null}|null,
 *     named_limits: array<int|string, array{all?: list<string>, first?: list<string>, enforce?: bool|null, limited?: array<int|string, float>|null, ...}>,
 *     tables: list<array{name: string, holds: string, path: string, bytes: int, slots: int, used: int, evictions: int, denied_newcomers: int}>,
 *     servers: list<array{name: string, up: bool, since: float, outages: int, last_failure: string|null, round_trip: float|null, clock_behind: float|null}>,
 *     directives: array<string, string>
 * } $status
 */
function status_view(array $status, ?string $token, string $notice): string
{
    // After a change the page stands still, so that its notice can be read.
    $refresh = $notice === '' ? refresh_seconds() : 0;
    $content = heading($status) . controls($refresh, $token) . $notice . attention($status) . summary($status)
        . limited_section($status, $token) . most_denied_section($status, $token) . limits_section($status) . denials_section($status)
        . servers_section($status) . tables_section($status) . directives_section($status);
    return page(($notice === '' ? '' : 'Answer: ') . 'token_bucket on ' . show_plain((string) gethostname()), refresh_tag($refresh), $content);
}

/** @param array{named_limits: array<int|string, array<string, mixed>>, ...} $status */
function change_view(array $status, string $token, string $notice): string
{
    $options = '';
    foreach ($status['named_limits'] as $name => $limit) {
        if (\array_key_exists('limited', $limit)) {
            $selected = field($_POST, 'limit') === (string) $name ? ' selected' : '';
            $options .= '<option' . $selected . '>' . escape((string) $name) . "</option>\n";
        }
    }
    $options .= '<option' . (field($_POST, 'limit') === IN_THE_CODE ? ' selected' : '') . '>' . IN_THE_CODE . "</option>\n";
    $back = link_to(['change' => null]);
    $token_field = hidden('token', $token);
    $typed = escape(field($_POST, 'client'));
    $client_form = <<<HTML
            <form method="post" class="fields">
            $token_field
            <p><label for="limit">Limit</label> <select id="limit" name="limit">
            $options</select></p>
            <p><label for="client">Client</label> <input id="client" name="client" value="$typed" required maxlength="4096" autocomplete="off" spellcheck="false">
            <span class="hint">As the application names it: an address, a network, a user. In the code: the whole identifier.</span></p>
            <p><button name="action" value="reset">Reset: forget its calls, lift its block</button></p>
            <p><button name="action" value="block">Block…</button> <button name="action" value="unblock">Unblock</button></p>
            </form>
            HTML;
    $prefix = show_text($status['directives']['token_bucket.prefix']);
    $content = heading($status) . <<<HTML
        <nav aria-label="Page" class="controls"><a class="button" href="$back">Back to the status</a></nav>
        $notice
        <section aria-labelledby="client-heading">
        <h2 id="client-heading">One client</h2>
        $client_form
        </section>
        <section aria-labelledby="counts-heading">
        <h2 id="counts-heading">Counts</h2>
        <form method="post" class="fields">
        $token_field
        <p>Sets the counts of all limits of the prefix <code>$prefix</code> to zero, and forgets the clients that were denied most. No client gets calls back.</p>
        <p><input id="sure" type="checkbox" name="sure" value="yes" required> <label for="sure">Yes, set them to zero</label></p>
        <p><button name="action" value="reset_counts">Reset the counts</button></p>
        </form>
        </section>

        HTML;
    return page(($notice === '' ? '' : 'Answer: ') . 'Change: token_bucket', '', $content);
}

function refresh_seconds(): int
{
    $chosen = filter_var(field($_GET, 'refresh'), FILTER_VALIDATE_INT);
    return \in_array($chosen, REFRESH_CHOICES, true) ? $chosen : DEFAULT_REFRESH;
}

function refresh_tag(int $seconds): string
{
    // With an address, because a browser does not load an address with a fragment anew.
    return $seconds === 0 ? '' : "<meta http-equiv=\"refresh\" content=\"$seconds; url=" . link_to([]) . "\">\n";
}

function heading(array $status): string
{
    $host = show_text((string) gethostname());
    $version = escape($status['version']);
    $time = time_tag((float) time());
    return "<header>\n<h1>token_bucket <span class=\"muted\">on</span> $host</h1>\n<p class=\"muted\">Version $version, PHP " . PHP_VERSION
        . ". Read at $time. Times are UTC.</p>\n</header>\n";
}

/** The links that stop or slow the refresh come first, so that a keyboard or a screen reader meets them before it is interrupted. */
function controls(int $refresh, ?string $token): string
{
    $links = '';
    foreach (REFRESH_CHOICES as $seconds) {
        $label = $seconds === 0 ? 'Stop refreshing' : "Refresh every $seconds s";
        $current = $seconds === $refresh ? ' aria-current="true"' : '';
        $links .= "<a class=\"button\" href=\"" . link_to(['refresh' => $seconds]) . "\"$current>$label</a>\n";
    }
    $links .= $token === null ? '' : '<a class="button" href="' . link_to(['change' => 1]) . "\">Change…</a>\n";
    return "<nav aria-label=\"Page\" class=\"controls\">\n$links</nav>\n";
}

/**
 * What an operator should look at first.
 *
 * @param array{
 *     shared_memory_errors: list<string>,
 *     likely_mistakes: list<string>,
 *     last_hour: array<int|string, array{calls: list<int>, denied: list<int>, would_deny: list<int>}>,
 *     servers: list<array{name: string, up: bool, since: float, outages: int, last_failure: string|null, round_trip: float|null, clock_behind: float|null}>,
 *     tables: list<array{name: string, holds: string, path: string, bytes: int, slots: int, used: int, evictions: int, denied_newcomers: int}>,
 *     ...
 * } $status
 */
function attention(array $status): string
{
    $items = [];
    $error = $status['limits_file']['error'] ?? null;
    if ($error !== null) {
        $items[] = 'The file of the named limits has a mistake. Workers keep the limits that they have read, and a worker that starts now throws: ' . show_text($error);
    }
    array_push($items, ...array_map(show_text(...), [...$status['shared_memory_errors'], ...$status['likely_mistakes']]));
    foreach ($status['servers'] as $server) {
        if (!$server['up']) {
            $reason = $server['last_failure'] === null ? '.' : ': ' . show_text($server['last_failure']);
            $items[] = show_text($server['name']) . ' has not answered for ' . age($server['since']) . $reason;
        }
        if ($server['clock_behind'] !== null) {
            $items[] = sprintf('The clock of this host is %.1f s behind that of another host that uses ', $server['clock_behind']) . show_text($server['name']) . ': set both by NTP.';
        }
    }
    foreach ($status['last_hour'] as $name => $minutes) {
        $share = mostly_denied($minutes);
        if ($share !== null) {
            $items[] = 'The limit ' . limit_name($name) . " denied $share of its calls in the last " . MOSTLY_DENIED_MINUTES
                . ' minutes: an attack, or a limit that is too low.';
        }
    }
    foreach ($status['tables'] as $table) {
        $name = '<code>' . show_text($table['name']) . "</code> of {$table['holds']}";
        if (percent($table['used'], $table['slots']) >= FULL_TABLE_PERCENT) {
            $items[] = "The table $name is " . share($table['used'], $table['slots']) . ' full: raise <code>token_bucket.shm_size</code>.';
        }
        if ($table['evictions'] > 0 || $table['denied_newcomers'] > 0) {
            $items[] = "The table $name was too small: " . counted($table['evictions'], 'eviction') . ', '
                . counted($table['denied_newcomers'], 'denied newcomer') . '. Raise <code>token_bucket.shm_size</code>.';
        }
    }
    if ($status['directives']['token_bucket.test_clock'] === '1') {
        $items[] = '<code>token_bucket.test_clock = 1</code>: scripts may stop the time of their limits.';
    }
    if ($items === []) {
        [$denied, $checked] = [array_sum(array_column($status['limits'], 'denied')), array_sum(array_column($status['limits'], 'checked'))];
        return percent($denied, $checked) < MUCH_DENIED_PERCENT ? "<p class=\"notice good\">Nothing needs attention.</p>\n"
            : '<p class="notice">No fault is known. ' . share($denied, $checked) . " of all calls were denied: the limits below say which.</p>\n";
    }
    return "<section class=\"notice bad\" aria-labelledby=\"attention\">\n<h2 id=\"attention\">Needs attention</h2>\n<ul>\n<li>"
        . implode("</li>\n<li>", $items) . "</li>\n</ul>\n</section>\n";
}

/**
 * Returns the share of its calls that a limit has denied lately, if it denies most of them.
 *
 * @param array{calls: list<int>, denied: list<int>, would_deny: list<int>} $minutes
 */
function mostly_denied(array $minutes): ?string
{
    [$calls, $denied] = array_map(fn(string $count): int => array_sum(\array_slice($minutes[$count], -MOSTLY_DENIED_MINUTES)), ['calls', 'denied']);
    return $calls >= MOSTLY_DENIED_CALLS && percent($denied, $calls) > MOSTLY_DENIED_PERCENT ? share($denied, $calls) : null;
}

/**
 * @param array{
 *     limits: array<int|string, array{checked: int, denied: int, would_deny: int, degraded: int, ...}>,
 *     named_limits: array<int|string, array{enforce?: bool|null, limited?: array<int|string, float>|null, ...}>,
 *     blocked: list<array{name: string, identifier: string|null, algorithm: string, enforced: bool, seconds: float}>,
 *     ...
 * } $status
 */
function summary(array $status): string
{
    $total = fn(string $count): int => (int) array_sum(array_column($status['limits'], $count));
    $tiles = [
        'calls decided' => number($total('checked')),
        'denied' => number($total('denied')) . ' <small>' . share($total('denied'), $total('checked')) . '</small>',
        'would be denied' => number($total('would_deny')),
        'blocked or limited now' => number(\count(stopped_clients($status))),
        'answered by on_error' => number($total('degraded')),
    ];
    $html = '';
    foreach ($tiles as $label => $value) {
        $html .= "<div><dt>$label</dt><dd>$value</dd></div>\n";
    }
    return "<dl class=\"summary\">\n$html</dl>\n";
}

/**
 * @param array{
 *     limits: array<int|string, array{checked: int, denied: int, would_deny: int, ...}>,
 *     last_hour: array<int|string, array{calls: list<int>, denied: list<int>, would_deny: list<int>}>,
 *     named_limits: array<int|string, array<string, mixed>>,
 *     ...
 * } $status
 */
function limits_section(array $status): string
{
    [$elapsed, $rates] = rates($status);
    $busy = $idle = [];
    // Also those of the file that no call has asked yet.
    foreach ($status['named_limits'] + $status['limits'] as $name => $_) {
        $counts = $status['limits'][$name] ?? null;
        $row = [limit_name($name), rules($status['named_limits'][$name] ?? null, $counts), '', '', '', '', ''];
        if ($counts !== null) {
            $row[2] = number($counts['checked']) . rate($rates[$name]['checked'] ?? null) . exempt($counts);
            $row[3] = denied($counts, number(...)) . rate($rates[$name]['stopped'] ?? null);
            $row[4] = stopped($counts) === 0 ? '' : denied_bar($counts);
            $row[6] = store_failures($counts);
        }
        $minutes = $status['last_hour'][$name] ?? null;
        $calls = $minutes === null ? 0 : array_sum($minutes['calls']);
        if ($minutes !== null && $calls > 0) {
            $row[5] = curve($minutes);
            $busy[] = ['calls' => $calls, 'cells' => $row];
        } else {
            $idle[] = ['calls' => $counts['checked'] ?? 0, 'cells' => $row];
        }
    }
    $by_calls = fn(array $a, array $b): int => $b['calls'] <=> $a['calls'];
    usort($busy, $by_calls);
    usort($idle, $by_calls);
    $shown = is_open('limits') ? [...$busy, ...$idle] : $busy;
    $folded = \count($busy) + \count($idle) - \count($shown);
    $note = $folded === 0 ? '' : '<p class="muted">' . counted($folded, 'limit') . ' without a call in the last hour. <a href="' . link_to(['open' => 'limits']) . "#limits\">Show</a></p>\n";
    $caption = 'The busiest first. Calls since the host booted, or since the counts were reset. '
        . ($elapsed === null ? 'Rates come with the next reading.' : sprintf('Rates are those of the last %.1f seconds.', $elapsed));
    return section('limits', 'Limits', table(
        $caption,
        ['Limit', 'Rule', 'Calls', 'Denied', 'Share denied', 'Last hour', 'Store failures'],
        array_column($shown, 'cells'),
        $folded === 0 ? 'No limit was asked yet.' : 'No limit was asked in the last hour.',
        numbers: [2, 3],
    ) . $note);
}

/** Describes what a name stands for: in the file, in the code, or in both, for a set has no calls of its own. */
function rules(?array $named, ?array $counts): string
{
    $in_code = '<span class="muted">in the code</span>';
    return match (true) {
        $named === null => $in_code,
        $counts !== null && !isset($named['algorithm']) => rule($named) . ",<br> and a limit $in_code, which has these calls",
        default => rule($named),
    };
}

/**
 * Draws the calls of each minute of the last hour, and those that were denied, or would have been.
 *
 * @param array{calls: list<int>, denied: list<int>, would_deny: list<int>} $minutes
 */
function curve(array $minutes): string
{
    $stopped = array_map(fn(int $denied, int $would_deny): int => $denied + $would_deny, $minutes['denied'], $minutes['would_deny']);
    $most = max($minutes['calls']);
    // Of one step for each minute, from the bottom on the left to the bottom on the right.
    $step = fn(int $count): string => sprintf('V%.1Fh1', 20 - 20 * $count / $most);
    $area = fn(array $counts): string => 'M0 20' . implode('', array_map($step, $counts)) . 'V20Z';
    $minutes_with = fn(array $counts): int => \count(array_filter($counts));
    $said = counted(array_sum($minutes['calls']), 'call') . ' in ' . counted($minutes_with($minutes['calls']), 'minute') . ', ' . number($most) . ' in one at most; '
        . (array_sum($stopped) === 0 ? 'none denied' : number(array_sum($stopped)) . ' denied in ' . counted($minutes_with($stopped), 'minute'));
    return '<svg class="curve" viewBox="0 0 60 20" preserveAspectRatio="none" role="img" aria-label="' . $said . "\"><title>$said</title>"
        . "<path class=\"calls\" d=\"{$area($minutes['calls'])}\"/><path class=\"stopped\" d=\"{$area($stopped)}\"/></svg> "
        . '<span class="muted">' . number($most) . '&nbsp;a&nbsp;minute at&nbsp;most</span>';
}

function limit_name(int|string $name): string
{
    return match ($name) {
        '' => '<span class="muted">without a name</span>',
        '*' => '<code>*</code> <span class="muted">all further ones</span>',
        default => '<code>' . show_text((string) $name) . '</code>',
    };
}

/** Describes a limit or a set of the file of token_bucket.limits. */
function rule(array $limit): string
{
    foreach (['all' => 'all of', 'first' => 'the first that accepts of'] as $set => $words) {
        if (isset($limit[$set])) {
            return "$words <code>" . implode('</code>, <code>', array_map(show_text(...), $limit[$set])) . '</code>';
        }
    }
    $rule = number($limit['limit']) . match (true) {
        isset($limit['lifetime']) => ' at once, each for ' . duration($limit['lifetime']) . ' at most',
        isset($limit['unit']) => " in a $limit[unit] of " . escape($limit['timezone']) . ', calendar',
        default => ' in ' . duration($limit['interval']) . ', ' . str_replace('_', ' ', escape($limit['algorithm'])),
    };
    $mode = match ($limit['enforce']) {
        true => '<span class="tag">enforced</span>',
        false => '<span class="tag warn">dry run</span>',
        null => '<span class="tag bad">storage invalid</span>',
    };
    $exceptions = array_filter([
        ($limit['except'] ?? null) === null ? null : 'except ' . number($limit['except']),
        ($limit['clients'] ?? null) === null ? null : counted($limit['clients']['count'], 'client') . ' by ' . show_text(basename($limit['clients']['path'])),
    ]);
    $rule .= $exceptions === [] ? '' : ' <span class="muted">' . implode(', ', $exceptions) . '</span>';
    $storage = $limit['storage'] === null ? '' : ' <span class="muted">on ' . show_text($limit['storage']) . '</span>';
    return "$rule $mode$storage";
}

/** Shows how many calls came of clients that no limit holds. */
function exempt(array $counts): string
{
    return $counts['exempt'] === 0 ? '' : '<br> <span class="muted">and ' . number($counts['exempt']) . '&nbsp;exempt</span>';
}

/** Shows what was denied and what a dry run let pass, each as $show writes it. */
function denied(array $counts, callable $show): string
{
    $would_deny = $show($counts['would_deny']) . '&nbsp;<span class="muted">would&nbsp;be</span>';
    return match (true) {
        $counts['would_deny'] === 0 => $show($counts['denied']),
        $counts['denied'] === 0 => $would_deny,
        default => $show($counts['denied']) . ",<br> $would_deny",
    };
}

function rate(?float $per_second): string
{
    if ($per_second === null) {
        return '';
    }
    $decimals = $per_second > 0 && $per_second < 10 ? 2 : 0;
    return '<br> <span class="muted">(' . number_format($per_second, $decimals) . '&nbsp;per&nbsp;s)</span>';
}

/** Draws which share of the calls was denied, and which a dry run let pass. */
function denied_bar(array $counts): string
{
    $checked = $counts['checked'];
    return bar(percent($counts['denied'], $checked), percent($counts['would_deny'], $checked))
        . denied($counts, fn(int $part): string => share($part, $checked));
}

function store_failures(array $counts): string
{
    $failures = array_filter([
        counted($counts['errors'], 'error') => $counts['errors'],
        number($counts['degraded']) . ' answered by on_error' => $counts['degraded'],
        counted($counts['evictions'], 'eviction') => $counts['evictions'],
    ]);
    return implode(',<br> ', array_keys($failures));
}

/**
 * @param array{
 *     named_limits: array<int|string, array{all?: list<string>, first?: list<string>, enforce?: bool|null, limited?: array<int|string, float>|null, ...}>,
 *     blocked: list<array{name: string, identifier: string|null, algorithm: string, enforced: bool, seconds: float}>,
 *     ...
 * } $status
 */
function limited_section(array $status, ?string $token): string
{
    $stopped = stopped_clients($status);
    $show = fn(array $client): array => [
        $client['client'] === null ? '<span class="muted">not kept</span>' : '<code>' . show_text($client['client']) . '</code>',
        limit_name($client['name']) . ($client['in_code'] ? ' <span class="tag">in the code</span>' : '') . ($client['enforced'] ? '' : ' <span class="tag warn">dry run</span>'),
        ($client['blocked'] ? 'blocked' : 'limited'),
        duration($client['seconds']),
        $client['client'] === null || \strlen($client['identifier']) >= CUT_AT_BYTES ? ''
            : client_buttons($client['in_code'] ? IN_THE_CODE : $client['name'], $client['client'], $token, $client['blocked']),
    ];
    $unknown = array_keys(array_filter($status['named_limits'], fn(array $limit): bool => \array_key_exists('limited', $limit) && $limit['limited'] === null));
    $note = note_of_more($stopped, 'limited') . ($unknown === [] ? '' : '<p class="muted">Of these limits, which are on servers, only blocks are known: <code>'
        . implode('</code>, <code>', array_map(fn(int|string $name): string => show_text((string) $name), $unknown)) . "</code>.</p>\n");
    return section('limited', 'Blocked and limited now', table(
        'Clients that this host has blocked, and clients that a named limit would deny now (the page asks about the 64 that each limit denied most lately). The longest wait comes first.',
        ['Client', 'Limit', 'Now', 'For', 'Change'],
        array_map($show, \array_slice($stopped, 0, rows_shown('limited'))),
        'No client is blocked, and none of a named limit in shared memory is limited.',
        without_buttons($token),
        [3],
    ) . $note);
}

/**
 * The clients that are blocked, and those of named limits that would be denied now, each once: the longest first.
 *
 * @param array{
 *     named_limits: array<int|string, array{enforce?: bool|null, limited?: array<int|string, float>|null, ...}>,
 *     blocked: list<array{name: string, identifier: string|null, algorithm: string, enforced: bool, seconds: float}>,
 *     ...
 * } $status
 *
 * @return list<array{name: string, client: string|null, identifier: string, in_code: bool, blocked: bool, enforced: bool, seconds: float}>
 *     the identifier of a limit in the code is its client
 */
function stopped_clients(array $status): array
{
    $clients = [];
    foreach ($status['blocked'] as $block) {
        $identifier = $block['identifier'] ?? '';
        $algorithm = $status['named_limits'][$block['name']]['algorithm'] ?? '';
        // A limit in the code may have the name of one of the file, under another algorithm.
        $is_named = ($algorithm === 'leaky_bucket' ? 'token_bucket' : $algorithm) === $block['algorithm'] && str_starts_with($identifier, "$block[name]:");
        $client = $is_named ? substr($identifier, \strlen($block['name']) + 1) : $block['identifier'];
        $clients[$client === null ? \count($clients) : (int) $is_named . "$block[name]\0$client"] ??= [
            'name' => $block['name'], 'client' => $client, 'identifier' => $identifier, 'in_code' => !$is_named, 'blocked' => true,
            'enforced' => $block['enforced'], 'seconds' => $block['seconds'],
        ];
    }
    foreach ($status['named_limits'] as $name => $limit) {
        foreach ($limit['limited'] ?? [] as $client => $seconds) {
            $clients["1$name\0$client"] ??= [
                'name' => (string) $name, 'client' => (string) $client, 'identifier' => "$name:$client", 'in_code' => false, 'blocked' => false,
                'enforced' => ($limit['enforce'] ?? true), 'seconds' => $seconds,
            ];
        }
    }
    usort($clients, fn(array $a, array $b): int => $b['seconds'] <=> $a['seconds']);
    return $clients;
}

/** @param array{limits: array<int|string, array{most_denied: array<int|string, int>, ...}>, ...} $status */
function most_denied_section(array $status, ?string $token): string
{
    $rows = [];
    foreach ($status['limits'] as $name => $counts) {
        foreach ($counts['most_denied'] as $identifier => $count) {
            $rows[] = ['name' => (string) $name, 'identifier' => (string) $identifier, 'count' => $count];
        }
    }
    usort($rows, fn(array $a, array $b): int => $b['count'] <=> $a['count']);
    $most = $rows[0]['count'] ?? 0;
    $show = fn(array $row): array => [
        '<code>' . show_text($row['identifier']) . '</code>',
        limit_name($row['name']),
        bar(percent($row['count'], $most), 0) . number($row['count']),
        identifier_buttons($status, $row['name'], $row['identifier'], $token),
    ];
    return section('most-denied', 'Denied most', table(
        'About how often each identifier was denied, or would have been but for a dry run. Old denials count less.',
        ['Identifier', 'Limit', 'Denied', 'Change'],
        array_map($show, \array_slice($rows, 0, rows_shown('most-denied'))),
        $status['directives']['token_bucket.track_identifiers'] === '1'
            ? 'No client was denied.'
            : 'Identifiers are not kept: token_bucket.track_identifiers = 0.',
        without_buttons($token),
        [2],
    ) . note_of_more($rows, 'most-denied'));
}

/** @param array{denials: list<array<string, mixed>>, ...} $status */
function denials_section(array $status): string
{
    $reasons = ['empty' => 'used up', 'blocked' => 'blocked', 'no_room' => 'no slot was free', 'outage' => 'denied by on_error'];
    $deciders = ['store' => '', 'deny_cache' => ', remembered from an earlier denial', 'fallback' => ', decided by this host because the server failed', 'on_error' => ' because the server failed'];
    $show = fn(array $denial): array => [
        $denial['identifier'] === null ? '<span class="muted">not kept</span>' : '<code>' . show_text($denial['identifier']) . '</code>',
        limit_name($denial['name']),
        number($denial['limit']) . ($denial['interval'] === null ? ' at once' : ' in ' . duration($denial['interval'])) . ': '
            . $reasons[$denial['reason']] . $deciders[$denial['decided_by']] . ($denial['enforced'] ? '' : ' <span class="tag warn">dry run</span>'),
        number($denial['count']),
        time_tag($denial['last_at']) . ($denial['count'] === 1 ? '' : '<br> <span class="muted">since ' . gmdate(intdiv((int) $denial['first_at'], 86_400) === intdiv((int) $denial['last_at'], 86_400) ? 'H:i:s' : 'Y-m-d H:i:s', (int) $denial['first_at']) . '</span>'),
    ];
    return section('denials', 'Denied last', table(
        'The latest denied calls: a row for each client and cause, until ten minutes pass without a denial. <code>token-bucket denials</code> has all.',
        ['Identifier', 'Limit', 'Why', 'Calls', 'Last'],
        array_map($show, \array_slice($status['denials'], 0, rows_shown('denials'))),
        'No call was denied.',
        numbers: [3],
    ) . note_of_more($status['denials'], 'denials'));
}

/** Returns how many rows the table of a section shows. */
function rows_shown(string $section): int
{
    return is_open($section) ? MOST_ROWS : FIRST_ROWS[$section];
}

/** Says how many rows the table of a section leaves out, and links to those that can be shown. */
function note_of_more(array $rows, string $section): string
{
    $more = \count($rows) - rows_shown($section);
    if ($more <= 0) {
        return '';
    }
    $link = is_open($section) ? '' : ' <a href="' . link_to(['open' => $section]) . "#$section\">Show more</a>";
    return '<p class="muted">And ' . number($more) . " more.$link</p>\n";
}

/** The buttons of an identifier, where it is whole: those of the named limit's client, or of what stands under it in the code. */
function identifier_buttons(array $status, string $name, string $identifier, ?string $token): string
{
    $named = $status['named_limits'][$name] ?? null;
    $is_named = isset($named['limit']) && !isset($named['lifetime']) && str_starts_with($identifier, "$name:");
    return match (true) {
        \strlen($identifier) >= CUT_AT_BYTES => '',
        $is_named => client_buttons($name, substr($identifier, \strlen($name) + 1), $token),
        default => client_buttons(IN_THE_CODE, $identifier, $token),
    };
}

function client_buttons(string $name, string $client, ?string $token, bool $is_blocked = false): string
{
    if ($token === null) {
        return '';
    }
    $fields = hidden('token', $token) . hidden('limit', $name) . hidden('client_base64', base64_encode($client));
    $label = show_plain($client);
    return "<form method=\"post\">$fields"
        . ($is_blocked ? "<button name=\"action\" value=\"unblock\" aria-label=\"Unblock $label\">Unblock</button> "
            : "<button name=\"action\" value=\"reset\" aria-label=\"Reset $label\">Reset</button> ")
        . "<button name=\"action\" value=\"block\" aria-label=\"Block {$label}…\">Block…</button></form>";
}

/** Returns how many columns at the end of a table are left out: that of the buttons, in a view without them. */
function without_buttons(?string $token): int
{
    return $token === null ? 1 : 0;
}

/** @param array{servers: list<array{name: string, up: bool, since: float, outages: int, last_failure: string|null, round_trip: float|null, clock_behind: float|null}>, ...} $status */
function servers_section(array $status): string
{
    $show = fn(array $server): array => [
        show_text($server['name']) . ($server['last_failure'] === null ? '' : '<br> <span class="muted">last failure: ' . show_text($server['last_failure']) . '</span>'),
        $server['up'] ? '<span class="tag good">up</span>' : '<span class="tag bad">down</span>',
        time_tag($server['since']) . '<br> <span class="muted">for ' . age($server['since']) . '</span>',
        number($server['outages']),
        $server['round_trip'] === null ? '' : sprintf('%.1f&nbsp;ms', 1_000 * $server['round_trip']),
    ];
    return section('servers', 'Servers', table(
        'Servers in use, as the workers found them.',
        ['Server', 'State', 'Since', 'Outages since boot', 'Round trip'],
        array_map($show, $status['servers']),
        'No server is in use.',
        numbers: [3, 4],
    ));
}

/** @param array{tables: list<array{name: string, holds: string, path: string, bytes: int, slots: int, used: int, evictions: int, denied_newcomers: int}>, ...} $status */
function tables_section(array $status): string
{
    $show = fn(array $table): array => [
        '<code>' . show_text($table['name']) . '</code>' . ($table['name'] === '.host' ? ' <span class="muted">for fallback</span>' : ''),
        escape($table['holds']),
        bar(percent($table['used'], $table['slots']), 0) . share($table['used'], $table['slots']),
        number($table['used']) . ' <span class="muted">of&nbsp;' . number($table['slots']) . '</span>',
        number($table['evictions']),
        number($table['denied_newcomers']),
        show_text($table['path']) . ' <span class="muted">' . bytes($table['bytes']) . '</span>',
    ];
    return folded_section('tables', 'Tables in shared memory', table(
        'How full the tables are. Evictions are buckets that were evicted while in use; newcomers are denied because the table was full.',
        ['Table', 'Holds', 'Full', 'Slots used', 'Evictions', 'Newcomers denied', 'File'],
        array_map($show, $status['tables']),
        'There is no table yet: no call was made.',
        numbers: [3, 4, 5],
    ));
}

/** @param array{directives: array<string, string>, ...} $status */
function directives_section(array $status): string
{
    $show = fn(string $name, string $value): array => [
        "<code>$name</code>",
        $value === '' ? '<span class="muted">empty</span>' : '<code>' . show_text($value) . '</code>',
    ];
    return folded_section('directives', 'Directives', table(
        'In force in this worker. Passwords are not shown.',
        ['Directive', 'Value'],
        array_map($show, array_keys($status['directives']), $status['directives']),
        '',
    ));
}

// ---- HTML ----

function page(string $title, string $head, string $content): string
{
    $style = style();
    return <<<HTML
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        $head<title>$title</title>
        <style>$style</style>
        </head>
        <body>
        <main>
        $content
        </main>
        </body>
        </html>

        HTML;
}

function section(string $id, string $title, string $content): string
{
    return "<section aria-labelledby=\"$id\">\n<h2 id=\"$id\">$title</h2>\n$content</section>\n";
}

/** Returns a section of which a narrow window shows a link alone until it is opened. */
function folded_section(string $id, string $title, string $content): string
{
    $link = '<p class="fold"><a href="' . link_to(['open' => $id]) . "#$id\" aria-label=\"Show $title\">Show</a></p>\n";
    return section($id, $title, is_open($id) ? $content : $link . $content);
}

/** Tells whether all of a section was asked for. The address says so, because a refresh keeps it. */
function is_open(string $section): bool
{
    return field($_GET, 'open') === $section;
}

/**
 * Returns a table, or $empty if there are no rows. The first cell of a row is its header. In a narrow window a row is shown as a
 * list of its cells; the roles keep it a table for screen readers, which in some browsers the style would undo.
 *
 * @param list<string> $headings
 * @param list<list<string>> $rows of HTML
 * @param int $left_out how many columns at the end are not shown
 * @param list<int> $numbers the columns of numbers, which stand to the right
 */
function table(string $caption, array $headings, array $rows, string $empty, int $left_out = 0, array $numbers = []): string
{
    if ($rows === []) {
        return "<p class=\"muted\">$empty</p>\n";
    }
    $shown = \count($headings) - $left_out;
    $html = "<table role=\"table\">\n<caption>$caption</caption>\n<thead role=\"rowgroup\">\n<tr role=\"row\">";
    $class = fn(int $column): string => \in_array($column, $numbers, true) ? ' class="number"' : '';
    foreach (\array_slice($headings, 0, $shown) as $column => $heading) {
        $html .= "<th role=\"columnheader\" scope=\"col\"{$class($column)}>$heading</th>";
    }
    $html .= "</tr>\n</thead>\n<tbody role=\"rowgroup\">\n";
    foreach ($rows as $row) {
        $html .= '<tr role="row"><th role="rowheader" scope="row">' . $row[0] . '</th>';
        for ($column = 1; $column < $shown; $column++) {
            $html .= "<td role=\"cell\" data-heading=\"$headings[$column]\"{$class($column)}><div>$row[$column]</div></td>";
        }
        $html .= "</tr>\n";
    }
    return "$html</tbody>\n</table>\n";
}

/** Draws one share and, behind it, a second one, in percent. The text beside it says the same. */
function bar(float $first, float $second): string
{
    return sprintf('<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        . '<rect class="track" width="100" height="8"/><rect class="first" width="%1$.2F" height="8"/>'
        . '<rect class="second" x="%1$.2F" width="%2$.2F" height="8"/></svg> ', $first, $second);
}

function hidden(string $name, string $value): string
{
    return "<input type=\"hidden\" name=\"$name\" value=\"" . escape($value) . '">';
}

/** Returns a link to this page with some parameters changed, or removed by null; those that the site's router may need stay. */
function link_to(array $parameters): string
{
    return escape('?' . http_build_query(array_merge($_GET, $parameters)));
}

function escape(string $text): string
{
    return htmlspecialchars($text, ENT_QUOTES | ENT_SUBSTITUTE | ENT_HTML5, 'UTF-8');
}

/**
 * Shows any bytes as HTML text that cannot change what is around it: what is no UTF-8, controls a terminal, turns the direction
 * of a text or cannot be seen is written as \xFF or \u{202E}.
 */
function show_text(string $text): string
{
    return '<bdi>' . mark_invisible($text, fn(string $code): string => "<span class=\"escaped\">$code</span>") . '</bdi>';
}

/** As show_text(), for an attribute. */
function show_plain(string $text): string
{
    return mark_invisible($text, fn(string $code): string => $code);
}

/** @param callable(string): string $mark what becomes of each code, such as \u{202E} */
function mark_invisible(string $text, callable $mark): string
{
    $html = '';
    $well_formed = '[\x20-\x7E]|[\xC2-\xDF][\x80-\xBF]|\xE0[\xA0-\xBF][\x80-\xBF]|[\xE1-\xEC\xEE\xEF][\x80-\xBF]{2}|\xED[\x80-\x9F][\x80-\xBF]'
        . '|\xF0[\x90-\xBF][\x80-\xBF]{2}|[\xF1-\xF3][\x80-\xBF]{3}|\xF4[\x80-\x8F][\x80-\xBF]{2}';
    preg_match_all("/($well_formed)|./s", $text, $characters, PREG_SET_ORDER);
    foreach ($characters as $character) {
        $html .= match (true) {
            !isset($character[1]) => $mark(sprintf('\x%02X', \ord($character[0]))),
            // Not printed: controls, formats such as direction marks, private and unassigned ones; lines' and paragraphs' ends.
            (bool) preg_match('/[\p{C}\p{Zl}\p{Zp}]/u', $character[0]) => $mark(sprintf('\u{%04X}', code_point($character[0]))),
            default => escape($character[0]),
        };
    }
    return $html;
}

/** Returns the number of one character in UTF-8. */
function code_point(string $character): int
{
    $bytes = array_map(\ord(...), str_split($character));
    // The first byte has five, four or three bits of the number, each further one six.
    $number = \count($bytes) === 1 ? $bytes[0] : $bytes[0] & (0xFF >> (\count($bytes) + 1));
    foreach (\array_slice($bytes, 1) as $byte) {
        $number = $number << 6 | $byte & 0x3F;
    }
    return $number;
}

// ---- Numbers and times ----

function number(int $number): string
{
    return number_format($number);
}

/** Returns a number with its noun: "1 error", "2 errors". */
function counted(int $number, string $noun): string
{
    return number($number) . " $noun" . ($number === 1 ? '' : 's');
}

function percent(int $part, int $whole): float
{
    return $whole === 0 ? 0.0 : 100 * $part / $whole;
}

function share(int $part, int $whole): string
{
    $percent = percent($part, $whole);
    return match (true) {
        $part > 0 && $percent < 0.1 => 'below 0.1&nbsp;%',
        $part < $whole && $percent > 99.9 => 'above 99.9&nbsp;%',
        default => sprintf('%.1F&nbsp;%%', $percent),
    };
}

function bytes(int $bytes): string
{
    foreach (['GiB' => 1 << 30, 'MiB' => 1 << 20, 'KiB' => 1 << 10] as $unit => $size) {
        if ($bytes >= $size) {
            return round($bytes / $size, 1) . "&nbsp;$unit";
        }
    }
    return counted($bytes, 'byte');
}

/** Returns a time in its two largest units, rounded up to whole seconds: "14 min 59 s". */
function duration(float $seconds): string
{
    if (is_infinite($seconds)) {
        return 'ever';
    }
    if ($seconds < 1) {
        return $seconds > 0 ? sprintf('%.2g&nbsp;s', $seconds) : '0&nbsp;s';
    }
    $left = (int) ceil($seconds);
    $parts = [];
    foreach (['d' => 86_400, 'h' => 3_600, 'min' => 60, 's' => 1] as $unit => $size) {
        if ($left >= $size) {
            $parts[] = intdiv($left, $size) . "&nbsp;$unit";
            $left %= $size;
        } elseif ($parts !== []) {
            break;
        }
        if (\count($parts) === 2) {
            break;
        }
    }
    return implode('&nbsp;', $parts);
}

function age(float $since): string
{
    return duration(floor(max(0, microtime(true) - $since)));
}

function time_tag(float $time): string
{
    return '<time datetime="' . gmdate('Y-m-d\TH:i:s\Z', (int) $time) . '">' . gmdate('Y-m-d H:i:s', (int) $time) . '</time>';
}

function style(): string
{
    return <<<'CSS'

        :root {
            color-scheme: light dark;
            --page: #f5f6f8; --card: #fff; --text: #1b2129; --muted: #545e6b; --line: #d5dae1; --track: #e6e9ee;
            --link: #0b57d0; --bad: #b3261e; --warn: #8a5300; --good: #156c2e;
            --bad-page: #fdeceb; --warn-page: #fff3dd; --good-page: #e5f5e9;
        }
        @media (prefers-color-scheme: dark) {
            :root {
                --page: #10141a; --card: #181d25; --text: #e7ecf2; --muted: #a3afbd; --line: #323b47; --track: #2b333e;
                --link: #8ab8ff; --bad: #ff9d94; --warn: #f0c060; --good: #71d48a;
                --bad-page: #3a1d1c; --warn-page: #362a12; --good-page: #16301e;
            }
        }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, "Liberation Sans", sans-serif; }
        main { max-width: 76rem; margin: 0 auto; padding: 1.5rem; }
        h1 { margin: 0; font-size: 1.6rem; line-height: 1.2; overflow-wrap: anywhere; }
        h1 .muted { font-weight: 400; }
        h2 { margin: 0 0 .25rem; font-size: 1.15rem; }
        .fold { display: none; }
        header p { margin: .25rem 0 1rem; }
        a { color: var(--link); }
        code { font: .9em/1.4 ui-monospace, "Liberation Mono", monospace; overflow-wrap: anywhere; }
        pre { padding: 1rem; background: var(--card); border: 1px solid var(--line); border-radius: 8px; white-space: pre-wrap; }
        .muted { color: var(--muted); }
        .escaped { color: var(--warn); }
        section { margin: 1rem 0; padding: 1rem 1.25rem; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
        section > p { margin: .25rem 0; }

        .controls { display: flex; flex-wrap: wrap; gap: .5rem; margin-bottom: 1rem; }
        .button, button {
            display: inline-block; padding: .3rem .7rem; border: 1px solid var(--muted); border-radius: 6px; background: var(--card);
            color: var(--text); font: inherit; font-size: .9rem; text-decoration: none; cursor: pointer;
        }
        .button:hover, button:hover { border-color: var(--link); color: var(--link); }
        .button[aria-current] { background: var(--text); border-color: var(--text); color: var(--page); }
        :focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }

        .notice { margin: 1rem 0; padding: .6rem 1rem; border: 1px solid; border-radius: 8px; }
        .notice ul { margin: 0; padding-left: 1.2rem; }
        .notice.good { background: var(--good-page); border-color: var(--good); }
        .notice.bad { background: var(--bad-page); border-color: var(--bad); }
        .tag { padding: .05rem .4rem; border: 1px solid; border-radius: 99px; font-size: .8rem; white-space: nowrap; color: var(--muted); }
        .tag.good { color: var(--good); background: var(--good-page); }
        .tag.warn { color: var(--warn); background: var(--warn-page); }
        .tag.bad { color: var(--bad); background: var(--bad-page); }

        .summary { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: .75rem; margin: 1rem 0; }
        .summary div { display: flex; flex-direction: column-reverse; justify-content: flex-end; padding: .75rem 1rem; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
        .summary dt { color: var(--muted); font-size: .85rem; }
        .summary dd { margin: 0; font-size: 1.5rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
        .summary small { font-size: .85rem; color: var(--muted); }

        table { width: 100%; border-collapse: collapse; }
        caption { padding-bottom: .5rem; text-align: left; color: var(--muted); font-size: .9rem; }
        th, td { padding: .5rem .75rem .5rem 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: break-word; font-variant-numeric: tabular-nums; }
        .number { text-align: right; }
        thead th { border-top: 0; color: var(--muted); font-size: .85rem; font-weight: 600; vertical-align: bottom; }
        tbody th { min-width: 9rem; font-weight: 400; }
        #limited ~ table tbody th, #most-denied ~ table tbody th { width: 40%; }
        bdi { overflow-wrap: anywhere; }
        th:last-child, td:last-child { padding-right: 0; }
        td form { display: flex; gap: .4rem; }
        td button { white-space: nowrap; }
        .bar { display: block; width: 100%; min-width: 6rem; max-width: 12rem; height: .5rem; margin: .45rem 0 .1rem; }
        .track { fill: var(--track); }
        .first, .stopped { fill: var(--link); }
        .second { fill: var(--muted); }
        .curve { display: block; width: 100%; min-width: 6rem; max-width: 12rem; height: 1.6rem; margin: .1rem 0; background: var(--track); }
        .calls { fill: var(--muted); opacity: .45; }

        .fields label { display: inline-block; min-width: 9rem; }
        .fields #sure + label { min-width: 0; }
        .fields input:not([type=checkbox]), .fields select {
            width: 20rem; max-width: 100%; padding: .35rem .5rem; border: 1px solid var(--muted); border-radius: 6px; background: var(--card);
            color: var(--text); font: inherit;
        }
        .hint { display: block; color: var(--muted); font-size: .9rem; }

        @media (max-width: 48rem) {
            main { padding: 1rem .75rem; }
            section { padding: .75rem; }
            .summary { grid-template-columns: repeat(auto-fit, minmax(6.5rem, 1fr)); gap: .5rem; }
            .summary div { padding: .5rem .6rem; }
            .summary dd { font-size: 1.25rem; }
            table, caption, tbody { display: block; }
            thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
            tbody tr { display: flex; flex-wrap: wrap; align-items: center; gap: 0 1rem; padding: .4rem 0; border-top: 1px solid var(--line); }
            tbody th { flex: 0 0 100%; padding: 0; border: 0; font-weight: 600; }
            td { display: flex; align-items: baseline; gap: .4rem; padding: .1rem 0; border: 0; }
            td::before { content: attr(data-heading); color: var(--muted); font-size: .85rem; white-space: nowrap; }
            td:has(> div > form)::before { content: none; }
            td:has(> div:empty) { display: none; }
            td br { display: none; }
            .fold { display: block; }
            .fold ~ * { display: none; }
            .bar { display: inline-block; width: 4rem; min-width: 0; margin: 0; }
            .curve { display: inline-block; width: 8rem; min-width: 0; height: 1.2rem; margin: 0; vertical-align: middle; }
            .number { text-align: left; }
            #limited ~ table tbody th, #most-denied ~ table tbody th { width: auto; }
            td:has(> div > form) { margin-left: auto; }
            #directives ~ table tbody tr { padding: 0; border: 0; }
            #directives ~ table tbody th { flex-basis: auto; font-weight: 400; }
            #directives ~ table td::before { content: none; }
        }
        @media (prefers-contrast: more) { :root { --muted: var(--text); --line: var(--text); } }

        CSS;
}
