<?php

declare(strict_types=1);

namespace TokenBucket\Psr15;

use Psr\Http\Message\ServerRequestInterface;

/**
 * A method and a path: "POST /reports", "/search" for every method, "GET /files/*" for /files and every path below it.
 *
 * The path is that of the URL, the application's base path included. "GET" stands for HEAD, too, as in routers.
 */
final class Route
{
    private function __construct(
        private readonly ?string $method,
        private readonly string $path,
        private readonly bool $hasPathsBelow,
    ) {
    }

    /** @throws \InvalidArgumentException if the text is not a route */
    public static function parse(string $text): self
    {
        if (!preg_match('~^(?:([A-Z]+) )?(/[^*?#\s]*)(\*?)$~D', $text, $parts)) {
            throw new \InvalidArgumentException(
                "A route is a path, or a method and a path: \"/search\", \"POST /reports\", \"GET /files/*\"; \"$text\" given"
            );
        }
        [, $method, $path, $star] = $parts;
        if ($star !== '' && !str_ends_with($path, '/')) {
            throw new \InvalidArgumentException("In a route * stands for whole parts of a path: \"$path/*\"; \"$text\" given");
        }
        return new self($method === '' ? null : $method, self::normalise($path), $star !== '');
    }

    /** Whether the request is for this route, however its path is written: "/a//%62/" is "/a/b". */
    public function matches(ServerRequestInterface $request): bool
    {
        $path = self::normalise($request->getUri()->getPath());
        $isBelow = $this->hasPathsBelow && str_starts_with($path, rtrim($this->path, '/') . '/');
        return ($isBelow || $path === $this->path) && $this->hasMethod(strtoupper($request->getMethod()));
    }

    /** Whether the path of the request is written in the plain way, which every router reads alike. */
    public static function isPlain(ServerRequestInterface $request): bool
    {
        $path = $request->getUri()->getPath();
        return $path === '' || rtrim($path, '/') === rtrim(self::normalise($path), '/') && !str_ends_with($path, '//');
    }

    private function hasMethod(string $method): bool
    {
        return $this->method === null || $this->method === $method || ($this->method === 'GET' && $method === 'HEAD');
    }

    /** Decodes the path, and takes out empty parts, "." and "..". */
    private static function normalise(string $path): string
    {
        $parts = [];
        foreach (explode('/', rawurldecode($path)) as $part) {
            if ($part === '..') {
                array_pop($parts);
            } elseif ($part !== '' && $part !== '.') {
                $parts[] = $part;
            }
        }
        return '/' . implode('/', $parts);
    }
}
