<?php
declare(strict_types=1);

/** What came back from a request. */
final class Answer
{
    /** @param array<string, list<string>> $headers by their names in lower case */
    public function __construct(public readonly int $status, public readonly array $headers, public readonly string $body)
    {
    }

    public function header(string $name): string
    {
        return implode(', ', $this->headers[$name] ?? []);
    }

    /** Whether the login form has logged the user in. */
    public function isLoggedIn(): bool
    {
        return $this->status === 302 && str_contains($this->header('set-cookie'), 'wordpress_logged_in_');
    }

    /** @return string the cookies as a browser sends them back */
    public function cookies(): string
    {
        return implode('; ', array_map(fn (string $cookie): string => (string) strtok($cookie, ';'), $this->headers['set-cookie'] ?? []));
    }

    /** What the login form says is wrong, without tags. */
    public function error(): string
    {
        preg_match('~<(div|section) id="login_error"[^>]*>(.*?)</\1>~s', $this->body, $match);
        return trim(preg_replace('/\s+/', ' ', strip_tags($match[2] ?? '')));
    }
}

/** A request that has not been sent yet. */
final class Request
{
    /** @param list<string> $headers */
    public function __construct(public readonly string $path, public readonly ?string $body, public readonly array $headers)
    {
    }

    public function with(string $header): self
    {
        return new self($this->path, $this->body, [...$this->headers, $header]);
    }
}

/** A WordPress that the script run-tests.sh has started. The client's address stands in X-Forwarded-For, as a proxy writes it. */
final class Site
{
    private function __construct(private readonly string $host)
    {
    }

    public static function single(): self
    {
        return new self(getenv('TEST_SINGLE'));
    }

    public static function network(): self
    {
        return new self(getenv('TEST_NETWORK'));
    }

    public static function withoutExtension(): self
    {
        return new self(getenv('TEST_WITHOUT'));
    }

    /** The ordinary site, with its tables in a folder that a test takes away. */
    public static function squatted(): self
    {
        return new self(getenv('TEST_SQUATTED'));
    }

    public static function form(string $name, string $password, string $address, string $cookies = ''): Request
    {
        return new Request('/wp-login.php', http_build_query(['log' => $name, 'pwd' => $password]), self::headers($address, $cookies));
    }

    /** @param mixed ...$arguments texts, lists and maps of them */
    public static function xmlRpc(string $address, string $method, mixed ...$arguments): Request
    {
        $parameters = implode('', array_map(fn (mixed $value): string => '<param>' . self::xmlValue($value) . '</param>', $arguments));
        $call = "<?xml version=\"1.0\"?><methodCall><methodName>$method</methodName><params>$parameters</params></methodCall>";
        return new Request('/xmlrpc.php', $call, [...self::headers($address), 'Content-Type: text/xml']);
    }

    /** @param bool $isEarly whether something asks for the user before the REST API does */
    public static function rest(string $name, string $password, string $address, bool $isEarly = false): Request
    {
        return new Request('/index.php?rest_route=/wp/v2/users/me' . ($isEarly ? '&early' : ''), null, [...self::headers($address), 'Authorization: Basic ' . base64_encode("$name:$password")]);
    }

    public static function get(string $path, string $cookies = '', string $address = '192.0.2.250'): Request
    {
        return new Request($path, null, self::headers($address, $cookies));
    }

    /** @param array<string, string> $fields */
    public static function post(string $path, array $fields, string $cookies = '', string $address = '192.0.2.250'): Request
    {
        return new Request($path, http_build_query($fields), self::headers($address, $cookies));
    }

    public function send(Request $request): Answer
    {
        return $this->sendAll([$request])[0];
    }

    /**
     * Sends requests one after the other.
     *
     * @param iterable<Request> $requests
     *
     * @return list<int> the statuses
     */
    public function statuses(iterable $requests): array
    {
        $statuses = [];
        foreach ($requests as $request) {
            $statuses[] = $this->send($request)->status;
        }
        return $statuses;
    }

    /**
     * Sends requests at the same time.
     *
     * @param list<Request> $requests
     *
     * @return list<Answer>
     */
    public function sendAll(array $requests): array
    {
        $multi = curl_multi_init();
        $handles = $headers = [];
        foreach ($requests as $i => $request) {
            $handle = curl_init("http://$this->host$request->path");
            $headers[$i] = [];
            curl_setopt_array($handle, [
                CURLOPT_RETURNTRANSFER => true,
                CURLOPT_HTTPHEADER => [...$request->headers, 'Expect:'],
                CURLOPT_TIMEOUT => 120,
                CURLOPT_HEADERFUNCTION => function ($handle, string $line) use (&$headers, $i): int {
                    if (str_contains($line, ':')) {
                        [$name, $value] = explode(':', $line, 2);
                        $headers[$i][strtolower($name)][] = trim($value);
                    }
                    return strlen($line);
                },
            ] + ($request->body === null ? [] : [CURLOPT_POSTFIELDS => $request->body]));
            curl_multi_add_handle($multi, $handle);
            $handles[$i] = $handle;
        }
        do {
            curl_multi_exec($multi, $running);
            if ($running) {
                curl_multi_select($multi);
            }
        } while ($running);
        $answers = [];
        foreach ($handles as $i => $handle) {
            $answers[] = new Answer(curl_getinfo($handle, CURLINFO_RESPONSE_CODE), $headers[$i], (string) curl_multi_getcontent($handle));
        }
        return $answers;
    }

    /** The cookies of a user who has logged in from an address that no limit is tried on. */
    public function session(string $name = 'admin'): string
    {
        $answer = $this->send(self::form($name, 'right', '192.0.2.250'));
        if (!$answer->isLoggedIn()) {
            throw new RuntimeException("$name cannot log in: $answer->status " . $answer->error());
        }
        return $answer->cookies();
    }

    /** How often something happened behind the guard, by the tests' must-use plugin. */
    public static function counted(string $what): int
    {
        clearstatcache();
        $file = self::state("count-$what");
        return is_file($file) ? (int) filesize($file) : 0;
    }

    /** The database of both sites. */
    public static function database(): mysqli
    {
        return new mysqli('localhost', 'root', '', 'wordpress', 0, getenv('TEST_FOLDER') . '/mariadb.sock');
    }

    /** Moves the clock of the limits. */
    public static function advance(float $seconds): void
    {
        file_put_contents(self::state('clock'), (string) ((float) file_get_contents(self::state('clock')) + $seconds));
    }

    public static function state(string $file): string
    {
        return getenv('TEST_FOLDER') . "/state/$file";
    }

    /** The log in which the plugin's lines are: nginx's, for php-fpm sends PHP's there. */
    public static function log(string $site = 'single'): string
    {
        return (string) file_get_contents(getenv('TEST_FOLDER') . "/nginx-$site.log");
    }

    /** @return list<string> */
    private static function headers(string $address, string $cookies = ''): array
    {
        // What a client writes itself stands to the left of what the proxy adds.
        return ['X-Forwarded-For: 203.0.113.' . random_int(1, 254) . ", $address", "Cookie: $cookies"];
    }

    private static function xmlValue(mixed $value): string
    {
        if (!is_array($value)) {
            return '<value><string>' . htmlspecialchars((string) $value, ENT_XML1) . '</string></value>';
        }
        if (array_is_list($value)) {
            return '<value><array><data>' . implode('', array_map([self::class, 'xmlValue'], $value)) . '</data></array></value>';
        }
        $members = '';
        foreach ($value as $name => $member) {
            $members .= "<member><name>$name</name>" . self::xmlValue($member) . '</member>';
        }
        return "<value><struct>$members</struct></value>";
    }
}
