<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\Tests;

/** An HTTP response. */
final class Answer
{
    private function __construct(public readonly int $status, public readonly string $head, public readonly string $body)
    {
    }

    public static function fromText(string $text): self
    {
        [$head, $body] = explode("\r\n\r\n", $text, 2) + ['', ''];

        return new self((int) substr($head, 9, 3), $head, $body);
    }

    public function header(string $name): string
    {
        return preg_match("/^$name: *([^\r\n]*)/mi", $this->head, $match) === 1 ? $match[1] : '';
    }

    /** The path that a redirection leads to. */
    public function target(): string
    {
        return (string) parse_url($this->header('Location'), PHP_URL_PATH);
    }

    /** The header line that brings back the session. */
    public function cookie(): string
    {
        return 'Cookie: ' . strtok($this->header('Set-Cookie'), ';') . "\r\n";
    }
}
