<?php
/** What the tests of the status page share: checks, requests, and calls on named limits. */

declare(strict_types=1);

$passed = 0;
$failed = 0;

function check(string $expectation, bool $is_met, string $found = ''): void
{
    global $passed, $failed;
    if ($is_met) {
        $passed++;
        return;
    }
    $failed++;
    echo "FAILED: $expectation", $found === '' ? '' : ", but: $found", "\n";
}

function finish(string $area): never
{
    global $passed, $failed;
    echo "$area: $passed passed, $failed failed\n";
    exit($failed > 0 ? 1 : 0);
}

function page_url(string $page): string
{
    return getenv('PAGE_URL') . "/$page";
}

/**
 * Sends a request as a browser's form would, or as someone who makes it by hand.
 *
 * @param array<string, mixed> $fields
 * @param list<string> $headers
 * @return array{status: int, headers: array<string, list<string>>, body: string}
 */
function request(string $method, string $page, array $fields = [], array $headers = []): array
{
    $body = file_get_contents(page_url($page), false, stream_context_create(['http' => [
        'method' => $method,
        'header' => [...$headers, ...($method === 'POST' ? ['Content-Type: application/x-www-form-urlencoded'] : [])],
        'content' => http_build_query($fields),
        'ignore_errors' => true,
        'timeout' => 20,
        'follow_location' => 0,
    ]]));
    $answer = ['status' => (int) explode(' ', $http_response_header[0])[1], 'headers' => [], 'body' => $body];
    foreach (array_slice($http_response_header, 1) as $line) {
        [$name, $value] = explode(': ', $line, 2) + [1 => ''];
        $answer['headers'][strtolower($name)][] = $value;
    }
    return $answer;
}

/**
 * Sends a form, and where it has changed something loads the page that the answer leads to, as a browser does.
 *
 * @param array<string, mixed> $fields
 * @param list<string> $headers the cookies last
 * @return array{status: int, headers: array<string, list<string>>, body: string} the body is that page's
 */
function change(array $fields, array $headers): array
{
    $answer = request('POST', 'change.php', $fields, $headers);
    if ($answer['status'] === 303) {
        $cookie = array_pop($headers) . '; token_bucket_result=' . set_cookie($answer, 'token_bucket_result');
        $answer['body'] = request('GET', 'change.php' . $answer['headers']['location'][0], [], [$cookie])['body'];
    }
    return $answer;
}

/** Returns the value of a cookie that an answer sets, or null. */
function set_cookie(array $answer, string $name): ?string
{
    foreach ($answer['headers']['set-cookie'] ?? [] as $cookie) {
        if (preg_match("/^$name=([^;]*)/", $cookie, $parts)) {
            return $parts[1];
        }
    }
    return null;
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
    if ($answer['status'] !== 200 || !preg_match('/^\d+$/D', $answer['body'])) {
        throw new RuntimeException("call.php answered $answer[status]: $answer[body]");
    }
    return (int) $answer['body'];
}
