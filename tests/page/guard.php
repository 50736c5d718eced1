<?php
/** The page is off unless the site says who may see it, and its headers keep scripts, frames and caches away. */

declare(strict_types=1);

require __DIR__ . '/support.php';

call_limit('login_user', 'guarded', 8);

foreach (['off' => 'is not defined', 'mistaken' => "must be 'view' or 'change'"] as $page => $explanation) {
    $answer = request('GET', "$page.php");
    check("$page.php answers 403", $answer['status'] === 403, (string) $answer['status']);
    check("$page.php says how the page is turned on", str_contains($answer['body'], $explanation)
        && str_contains($answer['body'], 'define(') && str_contains($answer['body'], '/share/status.php'));
    check("$page.php shows no status", !str_contains($answer['body'], 'login_user'));
}

$answer = request('GET', 'denied.php');
check('denied.php answers 403', $answer['status'] === 403);
check('denied.php explains nothing to strangers', !str_contains($answer['body'], 'TOKEN_BUCKET') && !str_contains($answer['body'], 'login_user'));

foreach (['off', 'mistaken', 'denied'] as $page) {
    $answer = request('POST', "$page.php", ['action' => 'reset', 'limit' => 'login_user', 'client' => 'guarded']);
    check("a POST to $page.php answers 403", $answer['status'] === 403);
}
check('and resets no client', call_limit('login_user', 'guarded') === 0);

$answer = request('GET', 'printed.php');
check('a site that has printed something gets no page, for its headers cannot be sent', !str_contains($answer['body'], 'login_user'));

$answer = request('GET', 'view.php');
check('view.php answers 200', $answer['status'] === 200);
check('view.php shows the limited client', str_contains($answer['body'], 'guarded'));
check('view.php has no form', !str_contains($answer['body'], '<form') && !str_contains(request('GET', 'view.php?change=1')['body'], '<form'));
check('view.php sets no cookie for a token', set_cookie($answer, 'token_bucket_status') === null);

foreach (['PUT', 'DELETE', 'OPTIONS'] as $method) {
    $answer = request($method, 'change.php');
    check("$method answers 405", $answer['status'] === 405 && $answer['headers']['allow'] === ['GET, HEAD, POST']);
}
check('HEAD answers 200 without a body', ($head = request('HEAD', 'change.php'))['status'] === 200 && $head['body'] === '');

foreach (['change', 'off'] as $page) {
    $headers = request('GET', "$page.php")['headers'];
    $policy = $headers['content-security-policy'][0] ?? '';
    check("the policy of $page.php allows no script and no frame", str_contains($policy, "default-src 'none'")
        && str_contains($policy, "frame-ancestors 'none'") && str_contains($policy, "form-action 'self'")
        && str_contains($policy, "base-uri 'none'") && !str_contains($policy, 'unsafe') && !str_contains($policy, 'script-src'), $policy);
    $expected = ['x-frame-options' => 'DENY', 'x-content-type-options' => 'nosniff', 'cache-control' => 'no-store', 'referrer-policy' => 'same-origin'];
    foreach ($expected as $name => $value) {
        check("$page.php sends $name: $value", ($headers[$name] ?? null) === [$value], implode(', ', $headers[$name] ?? ['nothing']));
    }
}
$answer = request('GET', 'https.php');
$cookies = $answer['headers']['set-cookie'] ?? [];
check('over HTTPS its cookies are those of this host alone', count($cookies) === 2
    && count(preg_grep('~^__Host-token_bucket_\w+=.*; path=/; secure; HttpOnly; SameSite=Strict$~', $cookies)) === 2, implode(' | ', $cookies));

check('the password of a DSN is not shown', !str_contains(request('GET', 'change.php')['body'], 's3cret'));

check('without the extension the page says so', str_contains(run_alone('change.php'), 'has no extension <code>token_bucket</code>'));

finish('guard');
