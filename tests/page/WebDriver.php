<?php

declare(strict_types=1);

/** A Chromium that chromedriver runs: https://www.w3.org/TR/webdriver2/ over plain HTTP. */
final class WebDriver
{
    private const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

    private string $session = '';

    /** @param string $profile a folder for the browser's profile */
    public function __construct(private string $driver, string $profile)
    {
        $arguments = ['--headless=new', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars', "--user-data-dir=$profile"];
        // Chromium refuses to run its sandbox as root.
        if (getenv('CHROMIUM_NO_SANDBOX') === '1') {
            $arguments[] = '--no-sandbox';
        }
        $answer = $this->send('POST', '/session', ['capabilities' => ['alwaysMatch' => [
            'browserName' => 'chrome',
            'goog:chromeOptions' => ['binary' => getenv('CHROMIUM'), 'args' => $arguments],
        ]]]);
        $this->session = "/session/$answer[sessionId]";
        register_shutdown_function($this->close(...));
    }

    public function close(): void
    {
        if ($this->session !== '') {
            $this->send('DELETE', $this->session);
            $this->session = '';
        }
    }

    public function open(string $url): void
    {
        $this->send('POST', "$this->session/url", ['url' => $url]);
    }

    /** Loads the page again as its user would: a page that answers a form sends that form again. */
    public function reload(): void
    {
        $this->send('POST', "$this->session/refresh", new stdClass());
    }

    /** Clicks the element that an XPath finds. */
    public function click(string $xpath): void
    {
        $this->send('POST', "$this->session/element/{$this->find($xpath)}/click", new stdClass());
    }

    /** Clicks a link or a button that leads to another page, and waits for that page: a click may return before it begins to load. */
    public function follow(string $xpath): void
    {
        $this->run('window.isOldPage = true');
        $this->click($xpath);
        comes_true($this->hasNewPage(...), 15) || throw new RuntimeException("$xpath led to no other page");
    }

    private function hasNewPage(): bool
    {
        try {
            return $this->run('return window.isOldPage === undefined && document.readyState === "complete"');
        } catch (RuntimeException) {
            // The page went away while it was asked.
            return false;
        }
    }

    public function type(string $xpath, string $text): void
    {
        $element = $this->find($xpath);
        $this->send('POST', "$this->session/element/$element/clear", new stdClass());
        $this->send('POST', "$this->session/element/$element/value", ['text' => $text]);
    }

    /** Runs a function body in the page, and returns its result. */
    public function run(string $script): mixed
    {
        return $this->send('POST', "$this->session/execute/sync", ['script' => $script, 'args' => []]);
    }

    /** Sends a command of the Chrome DevTools Protocol. */
    public function command(string $name, array $parameters): mixed
    {
        return $this->send('POST', "$this->session/goog/cdp/execute", ['cmd' => $name, 'params' => $parameters ?: new stdClass()]);
    }

    public function resize(int $width, int $height): void
    {
        $size = ['width' => $width, 'height' => $height, 'deviceScaleFactor' => 1, 'mobile' => false];
        $this->command('Emulation.setDeviceMetricsOverride', $size);
    }

    /** @param string $scheme light or dark */
    public function prefer(string $scheme): void
    {
        $this->command('Emulation.setEmulatedMedia', ['features' => [['name' => 'prefers-color-scheme', 'value' => $scheme]]]);
    }

    /** Returns a PNG of what the window shows. */
    public function screenshot(): string
    {
        return base64_decode($this->send('GET', "$this->session/screenshot"), true);
    }

    private function find(string $xpath): string
    {
        return $this->send('POST', "$this->session/element", ['using' => 'xpath', 'value' => $xpath])[self::ELEMENT];
    }

    private function send(string $method, string $path, array|stdClass|null $content = null): mixed
    {
        $body = $content === null ? '' : json_encode($content, JSON_THROW_ON_ERROR);
        $server = parse_url($this->driver);
        $connection = stream_socket_client("tcp://$server[host]:$server[port]", timeout: 10);
        stream_set_timeout($connection, 60);
        fwrite($connection, "$method $path HTTP/1.1\r\nHost: $server[host]:$server[port]\r\nContent-Type: application/json\r\n"
            . 'Content-Length: ' . strlen($body) . "\r\n\r\n$body");
        // chromedriver leaves the connection open, so PHP's own client would wait for its end.
        $length = 0;
        while (($line = fgets($connection)) !== false && $line !== "\r\n") {
            $length = preg_match('/^content-length: *(\d+)/i', $line, $parts) ? (int) $parts[1] : $length;
        }
        $body = stream_get_contents($connection, $length);
        $answer = json_decode((string) $body, true, 512, JSON_THROW_ON_ERROR)['value'];
        if (isset($answer['error'])) {
            throw new RuntimeException("$method $path: $answer[error]: $answer[message]");
        }
        return $answer;
    }
}
