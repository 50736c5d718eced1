<?php

declare(strict_types=1);

namespace TokenBucket\Psr15\Tests;

use Nyholm\Psr7\ServerRequest;
use PHPUnit\Framework\TestCase;
use TokenBucket\Psr15\CostByRoute;
use TokenBucket\Psr15\SkippedRoutes;

final class RouteTest extends TestCase
{
    public function test_expensive_route_costs_the_same_however_its_path_is_written(): void
    {
        $cost = new CostByRoute(['GET /reports/all' => 10]);
        $spellings = [
            '/reports/all', '/reports/all/', '//reports//all', '/reports/./all', '/x/../reports/all', '/%72eports/%61ll',
            '/reports%2Fall', '/../reports/all', '/reports/all?page=2', '/reports/all;v=1/..',
        ];
        foreach ($spellings as $path) {
            $expected = str_contains($path, ';') ? 1 : 10;
            self::assertSame($expected, $cost($this->request('GET', $path)), $path);
        }
        self::assertSame(10, $cost($this->request('HEAD', '/reports/all')));
        self::assertSame(10, $cost($this->request('get', '/reports/all')));
        self::assertSame(1, $cost($this->request('POST', '/reports/all')));
        self::assertSame(1, $cost($this->request('GET', '/reports/allother')));
        self::assertSame(1, $cost($this->request('GET', '/reports')));
    }

    public function test_star_stands_for_the_path_and_those_below(): void
    {
        $cost = new CostByRoute(['/files/*' => 5, '/*' => 3]);
        foreach (['/files' => 5, '/files/' => 5, '/files/a' => 5, '/files/a/b' => 5, '/files2' => 3, '/' => 3, '' => 3] as $path => $expected) {
            self::assertSame($expected, $cost($this->request('GET', $path)), $path);
        }
    }

    public function test_first_route_that_fits_counts(): void
    {
        $cost = new CostByRoute(['/files/small' => 1, '/files/*' => 5]);

        self::assertSame(1, $cost($this->request('GET', '/files/small')));
        self::assertSame(5, $cost($this->request('GET', '/files/big')));
    }

    public function test_skipped_route_is_skipped_only_in_its_plain_spelling(): void
    {
        $isSkipped = new SkippedRoutes(['GET /health', '/assets/*']);
        foreach (['/health', '/health/', '/health?full=1', '/assets', '/assets/', '/assets/app.css'] as $path) {
            self::assertTrue($isSkipped($this->request('GET', $path)), $path);
        }
        foreach (['/', '', '/healthy', '/assets/../login', '/assets/%2e%2e/login', '/assets//login', '/assets/./app.css', '/assets//', '/%68ealth'] as $path) {
            self::assertFalse($isSkipped($this->request('GET', $path)), $path);
        }
        self::assertTrue($isSkipped($this->request('HEAD', '/health')));
        self::assertFalse($isSkipped($this->request('POST', '/health')));
    }

    public function test_text_that_is_no_route_is_refused(): void
    {
        foreach (['', 'health', 'get /health', 'GET  /health', '/a*', '/a/*/b', '/a?b=1', '/a b', "/a\n", 'GET', '*'] as $text) {
            try {
                new SkippedRoutes([$text]);
                self::fail("\"$text\" was taken for a route");
            } catch (\InvalidArgumentException $mistake) {
                self::assertStringContainsString("\"$text\" given", $mistake->getMessage());
            }
        }
    }

    private function request(string $method, string $target): ServerRequest
    {
        $uri = (new ServerRequest($method, 'http://example.org'))->getUri();
        [$path, $query] = explode('?', $target) + [1 => ''];
        return (new ServerRequest($method, $uri->withPath($path)->withQuery($query)));
    }
}
