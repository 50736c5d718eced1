<?php
/*
 * Keeps room for members while anonymous visitors ask for more than the workers can do. Run it before each page, as
 * auto_prepend_file or at the top of the front controller:
 *
 *     ; the pool                                   # nginx, for the time that a request has waited
 *     pm.max_children = 8                          fastcgi_param REQUEST_START $msec;
 *     auto_prepend_file = overload.php
 *     env[MEMBER_KEY] = ...
 *
 * A request that is turned away holds a worker for a millisecond. ALL is a little below pm.max_children, so that a worker is free for it.
 */
declare(strict_types=1);

use TokenBucket\ConcurrencyLimit;

/** Pages at once, and those of them that only members get. */
const ALL = 7;
const FOR_MEMBERS = 3;
/** Seconds that a place is held at most: longer than a page takes. */
const LIFETIME = 30.0;
/** Seconds in the queue after which the visitor has gone. */
const LONGEST_WAIT = 5.0;

function turn_away(int $seconds): never
{
    http_response_code(503);
    header("Retry-After: $seconds");
    header('Content-Type: application/problem+json');
    exit(json_encode(['type' => 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity', 'title' => 'Busy', 'status' => 503], JSON_THROW_ON_ERROR));
}

// An application looks at its session's cookie here. The check must be cheap, and the cookie must not be forged.
function is_member(): bool
{
    $cookie = $_COOKIE['member'] ?? null;
    $parts = is_string($cookie) ? explode('.', $cookie) : [];
    return count($parts) === 2 && hash_equals(hash_hmac('sha256', $parts[0], getenv('MEMBER_KEY') ?: throw new RuntimeException('MEMBER_KEY is not set')), $parts[1]);
}

$came_at = (float) ($_SERVER['REQUEST_START'] ?? microtime(true));
if (microtime(true) - $came_at > LONGEST_WAIT) {
    turn_away(10);
}
$is_member = is_member();
// Robots change their addresses, so all visitors share one bucket for each class of pages.
$class = $_SERVER['SCRIPT_NAME'] === '/search.php' ? 'search' : 'page';
if (!$is_member && !(new TokenBucket('shm:', "visitors:$class", 200, $class === 'search' ? 20 : 100))->consume()) {
    turn_away(5);
}
// Held in this variable until the request ends.
$place = (new ConcurrencyLimit('shm:', 'workers', ALL, LIFETIME))->acquire(leave: $is_member ? 0 : FOR_MEMBERS);
if ($place === null) {
    turn_away($is_member ? 1 : 5);
}
