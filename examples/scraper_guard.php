<?php
/*
 * A guard against scrapers: for each client and group of pages a leaky bucket. To be required by every page, before it does anything else:
 * php_value[auto_prepend_file] = /path/to/scraper_guard.php
 *
 * It goes by the path, which is good enough for scrapers. What must hold, such as a login, is limited where it is done: see
 * known_browsers/login.php.
 *
 * The numbers are guesses at first. So start with a dry run of the pool:
 *
 *     php_admin_value[token_bucket.enforce] = 0
 *
 * Every call is accepted then, and the log and this command list the clients that would have been denied, until the numbers
 * are right and the line can go:
 *
 *     sudo -u www-data php examples/scraper_guard.php
 */
declare(strict_types=1);

/** What a client may do in each group: so many hits at once, which leak out in so many seconds. */
const GROUPS = [
    'listing' => [6, 30, '~^/(search|category|tag)\b~'],
    'users' => [10, 300, '~^/(login|register|password)\b~'],
    'rating' => [5, 60, '~^/(vote|comment|favorite)\b~'],
    'page' => [60, 60, '~~'],
];

if (PHP_SAPI === 'cli') {
    foreach (array_intersect_key(TokenBucket\statistics(), GROUPS) as $group => $counts) {
        echo "$group: $counts[checked] checked, $counts[denied] denied, $counts[would_deny] would have been\n";
        foreach ($counts['most_denied'] as $identifier => $times) {
            echo "    $identifier $times\n";
        }
    }
    return;
}

/** The path as the web server understands it, however a client wrote it: "//login", "/x/../login", "/%6Cogin". */
function plain_path(string $uri): string
{
    $path = [];
    foreach (explode('/', rawurldecode(substr($uri, 0, strcspn($uri, '?#')))) as $part) {
        match ($part) {
            '', '.' => null,
            '..' => array_pop($path),
            default => $path[] = $part,
        };
    }
    return '/' . implode('/', $path);
}

(function (): void {
    $path = plain_path($_SERVER['REQUEST_URI']);
    foreach (GROUPS as $group => [$limit, $interval, $pages]) {
        if (preg_match($pages, $path)) {
            break;
        }
    }
    // Behind a proxy, tell client_address() which one.
    $client = TokenBucket\client_network(TokenBucket\client_address($_SERVER));
    $decision = (new TokenBucket\LeakyBucket(null, "$group:$client", $limit, $interval))->attempt();
    if (!$decision->wouldDeny()) {
        return;
    }
    error_log("$group: $client " . ($decision->isAccepted() ? 'would be denied ' : 'is denied ') . addcslashes($path, "\0..\37\177..\377"));
    if ($decision->isAccepted()) {
        // For the page's own statistics: is it a browser that would have met this?
        header("X-Would-Deny: $group");
        return;
    }
    http_response_code(429);
    header("Retry-After: {$decision->getRetryAfterSeconds()}");
    exit('Too many requests.');
})();
