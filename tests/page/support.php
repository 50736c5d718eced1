<?php
/** What the tests of the status page share: checks, requests, and calls on named limits. */

declare(strict_types=1);

require __DIR__ . '/../../php-tests/check.inc';
require __DIR__ . '/../../php-tests/http.inc';

function page_url(string $page): string
{
    return getenv('PAGE_URL') . "/$page";
}

/**
 * Sends a request as a browser's form would, or as someone who makes it by hand.
 *
 * @param array<string, mixed> $fields
 * @param list<string> $headers
 */
function request(string $method, string $page, array $fields = [], array $headers = []): Answer
{
    return Http::send(parse_url(getenv('PAGE_URL'), PHP_URL_PORT), "/$page", $headers, $method === 'POST' ? $fields : '', $method);
}

/**
 * Sends a form. If it has changed something, the answer has the body of the page that it leads to, as in a browser.
 *
 * @param array<string, mixed> $fields
 * @param list<string> $headers the cookies last
 */
function change(array $fields, array $headers): Answer
{
    $answer = request('POST', 'change.php', $fields, $headers);
    if ($answer->status !== 303) {
        return $answer;
    }
    $cookie = array_pop($headers) . '; token_bucket_result=' . set_cookie($answer, 'token_bucket_result');
    return new Answer(303, $answer->headers, request('GET', "change.php{$answer->header('location')}", [], [$cookie])->body);
}

/** Returns the value of a cookie that an answer sets, or null. */
function set_cookie(Answer $answer, string $name): ?string
{
    return preg_match("/^$name=([^;\n]*)/m", $answer->header('set-cookie'), $parts) ? $parts[1] : null;
}

/** Returns what a page prints in a PHP of its own, without a server. */
function run_alone(string $page, string ...$directives): string
{
    $options = array_map(fn(string $directive): string => '-d ' . escapeshellarg($directive), $directives);
    exec(implode(' ', [escapeshellarg(PHP_BINARY), '-n', ...$options, escapeshellarg(getenv('PAGE_FOLDER') . "/site/$page")]), $output);
    return implode("\n", $output);
}

/**
 * Calls a named limit for a client, in a worker of the same pool, and returns how many calls were accepted.
 *
 * @param string   $limit '': one in the code, whose client is the whole identifier
 * @param int|null $block blocks the client before, for so many seconds
 */
function call_limit(string $limit, string $client, int $calls = 1, ?int $block = null): int
{
    $query = http_build_query(['limit' => $limit, 'client' => base64_encode($client), 'calls' => $calls, 'block' => $block]);
    $answer = request('GET', "call.php?$query");
    if ($answer->status !== 200 || !preg_match('/^\d+$/D', $answer->body)) {
        throw new RuntimeException("call.php answered $answer->status: $answer->body");
    }
    return (int) $answer->body;
}
