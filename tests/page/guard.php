<?php
/** The page is off unless the site says who may see it, and its headers keep scripts, frames and caches away. */

declare(strict_types=1);

require __DIR__ . '/support.php';

call_limit('login_user', 'guarded', 8);

foreach (['off' => 'is not defined', 'mistaken' => "must be 'view' or 'change'"] as $page => $explanation) {
    $answer = request('GET', "$page.php");
    check("$page.php answers 403", $answer->status === 403, (string) $answer->status);
    check("$page.php says how the page is turned on", str_contains($answer->body, $explanation)
        && str_contains($answer->body, 'define(') && str_contains($answer->body, '/share/status.php'));
    check("$page.php shows no status", !str_contains($answer->body, 'login_user'));
}

$answer = request('GET', 'denied.php');
check('denied.php answers 403', $answer->status === 403);
check('denied.php explains nothing to strangers', !str_contains($answer->body, 'TOKEN_BUCKET') && !str_contains($answer->body, 'login_user'));

foreach (['off', 'mistaken', 'denied'] as $page) {
    $answer = request('POST', "$page.php", ['action' => 'reset', 'limit' => 'login_user', 'client' => 'guarded']);
    check("a POST to $page.php answers 403", $answer->status === 403);
}
check('and resets no client', call_limit('login_user', 'guarded') === 0);

$answer = request('GET', 'printed.php');
check('a site that has printed something gets no page, for its headers cannot be sent', !str_contains($answer->body, 'login_user'));
check('but a sentence that says why', str_contains($answer->body, 'is not shown, for something was printed before it'));
check('without a path', !str_contains($answer->body, getenv('PAGE_FOLDER')));
check('and the log says where', (bool) preg_match('~but \S*/printed\.php has printed something on line 4~', file_get_contents(getenv('PAGE_FOLDER') . '/nginx.log')));

$answer = request('GET', 'view.php');
check('view.php answers 200', $answer->status === 200);
check('view.php shows the limited client', str_contains($answer->body, 'guarded'));
check('view.php has no form', !str_contains($answer->body, '<form') && !str_contains(request('GET', 'view.php?change=1')->body, '<form'));
check('view.php sets no cookie for a token', set_cookie($answer, 'token_bucket_status') === null);

foreach (['PUT', 'DELETE', 'OPTIONS'] as $method) {
    $answer = request($method, 'change.php');
    check("$method answers 405", $answer->status === 405 && $answer->header('allow') === 'GET, HEAD, POST');
}
check('HEAD answers 200 without a body', ($head = request('HEAD', 'change.php'))->status === 200 && $head->body === '');

foreach (['change', 'off'] as $page) {
    $answer = request('GET', "$page.php");
    $policy = $answer->header('content-security-policy');
    check("the policy of $page.php allows no script and no frame", str_contains($policy, "default-src 'none'")
        && str_contains($policy, "frame-ancestors 'none'") && str_contains($policy, "form-action 'self'")
        && str_contains($policy, "base-uri 'none'") && !str_contains($policy, 'unsafe') && !str_contains($policy, 'script-src'), $policy);
    $expected = ['x-frame-options' => 'DENY', 'x-content-type-options' => 'nosniff', 'cache-control' => 'no-store', 'referrer-policy' => 'same-origin'];
    foreach ($expected as $name => $value) {
        check("$page.php sends $name: $value", $answer->header($name) === $value, $answer->header($name));
    }
}
$answer = request('GET', 'https.php');
$cookies = $answer->header('set-cookie');
check('over HTTPS its cookie is that of this host alone', preg_match('~^__Host-token_bucket_\w+=.*; path=/; secure; HttpOnly; SameSite=Strict$~D', $cookies) === 1, $cookies);

check('the password of a DSN is not shown', !str_contains(request('GET', 'change.php')->body, 's3cret'));

check('without the extension the page says so', str_contains(run_alone('change.php'), 'has no extension <code>token_bucket</code>'));

// Functions that administrators disable.
$directives = ['extension=' . getenv('EXTENSION'), 'token_bucket.shm_path=' . getenv('PAGE_FOLDER'), 'token_bucket.limits=/nowhere', 'error_log=' . getenv('PAGE_FOLDER') . '/php.log'];
$page = run_alone('change.php', 'disable_functions=ini_set,php_uname', ...$directives);
check('the page needs neither ini_set() nor php_uname()', str_contains($page, 'Blocked and limited now'), $page);
check('and prints no warning before itself', str_starts_with($page, '<!DOCTYPE html>'), substr($page, 0, 200));
$page = run_alone('change.php', 'disable_functions=random_bytes', ...$directives);
check('a page that fails says so', str_contains($page, 'The status page failed'), $page);
check('and names no path and no status', !str_contains($page, 'status.php') && !str_contains($page, 'limited now'));
check('the log says why', str_contains(file_get_contents(getenv('PAGE_FOLDER') . '/php.log'), 'random_bytes()'));
