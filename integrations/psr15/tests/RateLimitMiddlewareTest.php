<?php

declare(strict_types=1);

namespace TokenBucket\Psr15\Tests;

use Nyholm\Psr7\Factory\Psr17Factory;
use Nyholm\Psr7\Response;
use Nyholm\Psr7\ServerRequest;
use PHPUnit\Framework\TestCase;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;
use TokenBucket;
use TokenBucket\Decision;
use TokenBucket\Limiter;
use TokenBucket\Psr15\RateLimitMiddleware;
use TokenBucket\TestClock;

final class RateLimitMiddlewareTest extends TestCase
{
    private Page $page;

    protected function setUp(): void
    {
        TestClock::freeze(1_000_000);
        $this->page = new Page();
    }

    protected function tearDown(): void
    {
        TestClock::resume();
    }

    public function test_accepted_answer_is_the_page_with_the_limits_headers(): void
    {
        $answer = $this->send(new RateLimitMiddleware($this->limit(5, 60), new Psr17Factory()));

        self::assertSame([200, 'the page'], [$answer->getStatusCode(), (string) $answer->getBody()]);
        self::assertSame('"api";q=5;w=60', $answer->getHeaderLine('RateLimit-Policy'));
        self::assertSame('"api";r=4;t=12', $answer->getHeaderLine('RateLimit'));
        self::assertFalse($answer->hasHeader('Retry-After'));
    }

    public function test_denied_request_is_answered_429_with_a_problem_and_does_not_reach_the_page(): void
    {
        $middleware = new RateLimitMiddleware($this->limit(1, 60), new Psr17Factory());
        $this->send($middleware);
        $answer = $this->send($middleware);

        self::assertCount(1, $this->page->requests);
        self::assertSame(429, $answer->getStatusCode());
        self::assertSame('application/problem+json', $answer->getHeaderLine('Content-Type'));
        self::assertSame('no-store', $answer->getHeaderLine('Cache-Control'));
        self::assertSame('60', $answer->getHeaderLine('Retry-After'));
        self::assertSame('"api";r=0;t=60', $answer->getHeaderLine('RateLimit'));
        $problem = json_decode((string) $answer->getBody(), true, flags: JSON_THROW_ON_ERROR);
        self::assertSame('https://iana.org/assignments/http-problem-types#quota-exceeded', $problem['type']);
        self::assertSame([429, ['api']], [$problem['status'], $problem['violated-policies']]);
    }

    public function test_request_is_accepted_again_after_the_time_that_retry_after_tells(): void
    {
        $middleware = new RateLimitMiddleware($this->limit(1, 60), new Psr17Factory());
        $this->send($middleware);
        $seconds = (int) $this->send($middleware)->getHeaderLine('Retry-After');

        TestClock::advance($seconds - 1);
        self::assertSame(429, $this->send($middleware)->getStatusCode());
        TestClock::advance(1);
        self::assertSame(200, $this->send($middleware)->getStatusCode());
    }

    public function test_clients_have_limits_of_their_own(): void
    {
        $middleware = new RateLimitMiddleware($this->limit(1, 60), new Psr17Factory());

        self::assertSame(200, $this->send($middleware, address: '192.0.2.1')->getStatusCode());
        self::assertSame(429, $this->send($middleware, address: '192.0.2.1')->getStatusCode());
        self::assertSame(200, $this->send($middleware, address: '192.0.2.2')->getStatusCode());
    }

    public function test_client_is_what_the_function_returns(): void
    {
        $byUser = static fn (ServerRequestInterface $request): string => $request->getHeaderLine('X-User');
        $middleware = new RateLimitMiddleware($this->limit(1, 60), new Psr17Factory(), $byUser);

        self::assertSame(200, $this->send($middleware, headers: ['X-User' => 'ann'], address: '192.0.2.1')->getStatusCode());
        self::assertSame(429, $this->send($middleware, headers: ['X-User' => 'ann'], address: '192.0.2.2')->getStatusCode());
        self::assertSame(200, $this->send($middleware, headers: ['X-User' => 'bob'], address: '192.0.2.1')->getStatusCode());

        $byNumber = static fn (ServerRequestInterface $request): int => 17;
        self::assertSame(200, $this->send(new RateLimitMiddleware($this->limit(1, 60), new Psr17Factory(), $byNumber))->getStatusCode());
    }

    public function test_routes_cost_what_the_table_says_and_others_one(): void
    {
        $middleware = new RateLimitMiddleware($this->limit(20, 60), new Psr17Factory(), cost: ['POST /reports' => 10, '/free' => 0]);

        self::assertStringContainsString('r=10;', $this->send($middleware, 'POST', '/reports')->getHeaderLine('RateLimit'));
        self::assertStringContainsString('r=9;', $this->send($middleware, 'GET', '/reports')->getHeaderLine('RateLimit'));
        self::assertStringContainsString('r=9;', $this->send($middleware, 'GET', '/free')->getHeaderLine('RateLimit'));
        self::assertSame(429, $this->send($middleware, 'POST', '/reports')->getStatusCode());
    }

    public function test_cost_may_be_a_number_or_a_function_of_the_request(): void
    {
        $number = new RateLimitMiddleware($this->limit(20, 60), new Psr17Factory(), cost: 3);
        self::assertStringContainsString('r=17;', $this->send($number)->getHeaderLine('RateLimit'));

        $byQuery = static fn (ServerRequestInterface $request): int => count(explode(',', $request->getUri()->getQuery()));
        $function = new RateLimitMiddleware($this->limit(20, 60), new Psr17Factory(), cost: $byQuery);
        self::assertStringContainsString('r=16;', $this->send($function, target: '/batch?1,2,3,4')->getHeaderLine('RateLimit'));
    }

    public function test_request_that_costs_more_than_the_limit_is_denied_without_retry_after(): void
    {
        $answer = $this->send(new RateLimitMiddleware($this->limit(5, 60), new Psr17Factory(), cost: 6));

        self::assertSame(429, $answer->getStatusCode());
        self::assertFalse($answer->hasHeader('Retry-After'));
    }

    public function test_skipped_request_takes_no_token_and_has_no_headers(): void
    {
        $middleware = new RateLimitMiddleware($this->limit(1, 60), new Psr17Factory(), skip: ['GET /health']);
        foreach ([1, 2, 3] as $_) {
            $answer = $this->send($middleware, target: '/health');
            self::assertSame([200, false], [$answer->getStatusCode(), $answer->hasHeader('RateLimit')]);
        }
        self::assertSame(200, $this->send($middleware)->getStatusCode());

        $internal = static fn (ServerRequestInterface $request): bool => $request->hasHeader('X-Internal');
        $middleware = new RateLimitMiddleware($this->limit(1, 60), new Psr17Factory(), cost: 2, skip: $internal);
        self::assertSame(200, $this->send($middleware, headers: ['X-Internal' => '1'])->getStatusCode());
        self::assertSame(429, $this->send($middleware)->getStatusCode());
    }

    public function test_page_refunds_the_decision_where_only_failures_count(): void
    {
        $this->page = new Page(static function (ServerRequestInterface $request): ResponseInterface {
            if ($request->getHeaderLine('X-Password') === 'right') {
                $request->getAttribute(Decision::class)->refund();
            }
            return new Response(204);
        });
        $middleware = new RateLimitMiddleware($this->limit(2, 60), new Psr17Factory());

        foreach ([1, 2, 3, 4] as $_) {
            self::assertSame(204, $this->send($middleware, headers: ['X-Password' => 'right'])->getStatusCode());
        }
        self::assertSame(204, $this->send($middleware, headers: ['X-Password' => 'guess'])->getStatusCode());
        self::assertSame(204, $this->send($middleware, headers: ['X-Password' => 'guess'])->getStatusCode());
        self::assertSame(429, $this->send($middleware, headers: ['X-Password' => 'guess'])->getStatusCode());
    }

    public function test_request_is_charged_the_cost_in_the_answers_header_in_place_of_the_estimate(): void
    {
        $this->page = new Page(static fn (ServerRequestInterface $request): ResponseInterface => new Response(200, $request->getQueryParams()));
        $middleware = new RateLimitMiddleware($this->limit(20, 60), new Psr17Factory(), cost: 5, costHeader: 'X-Cost');

        $less = $this->answer($middleware, ['X-Cost' => '2']);
        self::assertSame('"api";r=18;t=3', $less->getHeaderLine('RateLimit'));
        self::assertFalse($less->hasHeader('X-Cost'));
        self::assertStringContainsString('r=11;', $this->answer($middleware, ['X-Cost' => '7'])->getHeaderLine('RateLimit'), 'more');
        self::assertStringContainsString('r=6;', $this->answer($middleware, [])->getHeaderLine('RateLimit'), 'the estimate stays');
        self::assertStringContainsString('r=6;', $this->answer($middleware, ['X-Cost' => '0'])->getHeaderLine('RateLimit'));
        self::assertStringContainsString('r=0;', $this->answer($middleware, ['X-Cost' => '16'])->getHeaderLine('RateLimit'));
        self::assertSame('45', $this->answer($middleware, [])->getHeaderLine('Retry-After'), '10 are owed, and 5 more are asked for');
    }

    public function test_page_settles_the_decision(): void
    {
        $this->page = new Page(static function (ServerRequestInterface $request): ResponseInterface {
            $request->getAttribute(Decision::class)->settle(2);
            return new Response(204, ['X-Cost' => '9']);
        });

        $answer = $this->send(new RateLimitMiddleware($this->limit(20, 60), new Psr17Factory(), cost: 5));
        self::assertSame(['"api";r=18;t=3', '9'], [$answer->getHeaderLine('RateLimit'), $answer->getHeaderLine('X-Cost')]);
        // Once: what the page has settled stays so.
        $answer = $this->send(new RateLimitMiddleware($this->limit(20, 60), new Psr17Factory(), cost: 5, costHeader: 'X-Cost'));
        self::assertStringContainsString('r=18;', $answer->getHeaderLine('RateLimit'));
    }

    public function test_login_tells_nothing_but_retry_after(): void
    {
        $middleware = new RateLimitMiddleware($this->limit(1, 60), new Psr17Factory(), showLimits: false);
        self::assertSame([], $this->send($middleware)->getHeaders());
        $denial = $this->send($middleware);

        self::assertSame(['Content-Type', 'Cache-Control', 'Retry-After'], array_keys($denial->getHeaders()));
        self::assertStringNotContainsString('api', (string) $denial->getBody());
    }

    public function test_limits_within_each_other_both_tell_their_headers(): void
    {
        $inner = new RateLimitMiddleware($this->limit(1, 60, 'login'), new Psr17Factory());
        $page = $this->page;
        $this->page = new Page(static fn (ServerRequestInterface $request): ResponseInterface => $inner->process($request, $page));
        $outer = new RateLimitMiddleware($this->limit(5, 60, 'site'), new Psr17Factory());

        $answer = $this->send($outer);
        self::assertSame(['"login";r=0;t=60', '"site";r=4;t=12'], $answer->getHeader('RateLimit'));
        $denial = $this->send($outer);
        self::assertSame([429, ['60']], [$denial->getStatusCode(), $denial->getHeader('Retry-After')]);
        self::assertCount(1, $page->requests);
    }

    public function test_limits_name_may_hold_any_bytes(): void
    {
        $middleware = new RateLimitMiddleware($this->limit(1, 60, "\xff\"\r\n"), new Psr17Factory(), cost: 2);
        $problem = json_decode((string) $this->send($middleware)->getBody(), true, flags: JSON_THROW_ON_ERROR);

        self::assertSame(429, $problem['status']);
    }

    public function test_mistakes_are_told_with_what_is_right(): void
    {
        $responses = new Psr17Factory();
        $limit = $this->limit(5, 60);
        $this->assertMistake('the name of a limit or a function', fn () => new RateLimitMiddleware('', $responses));
        $this->assertMistake('"reports" given', fn () => new RateLimitMiddleware($limit, $responses, cost: ['reports' => 2]));
        $this->assertMistake('-2 given', fn () => new RateLimitMiddleware($limit, $responses, cost: -2));
        $this->assertMistake('The cost of "/a" must be', fn () => new RateLimitMiddleware($limit, $responses, cost: ['/a' => '2']));
        $this->assertMistake('"/a*" given', fn () => new RateLimitMiddleware($limit, $responses, skip: ['/a*']));
        $this->assertMistake('string given', fn () => new RateLimitMiddleware($limit, $responses, skip: '/health'));
        $this->assertMistake('$skip of RateLimitMiddleware must return true', fn () => $this->send(new RateLimitMiddleware($limit, $responses, skip: fn () => 1)));
        $this->assertMistake('must return a string that names', fn () => $this->send(new RateLimitMiddleware($limit, $responses, fn () => null)));
        $this->assertMistake('-1 returned', fn () => $this->send(new RateLimitMiddleware($limit, $responses, cost: fn () => -1)));
        $this->assertMistake('must return a TokenBucket\Limiter', fn () => $this->send(new RateLimitMiddleware(fn () => true, $responses)));
        self::assertSame([], $this->page->requests);
        $this->assertMistake('the name of a header', fn () => new RateLimitMiddleware($limit, $responses, costHeader: ''));
        $this->page = new Page(static fn (): ResponseInterface => new Response(200, ['X-Cost' => '1.5']));
        $this->assertMistake('X-Cost must be a whole number of 0 or more, "1.5" given', fn () => $this->send(new RateLimitMiddleware($limit, $responses, costHeader: 'X-Cost')));
    }

    private function assertMistake(string $words, callable $call): void
    {
        try {
            $call();
        } catch (\Throwable $mistake) {
            self::assertStringContainsString($words, $mistake->getMessage());
            return;
        }
        self::fail("No exception with \"$words\"");
    }

    /** @return callable(string): Limiter a limit in buckets of its own */
    private function limit(int $limit, float $seconds, string $name = 'api'): callable
    {
        $storage = new TokenBucket\ArrayStorage();
        return static fn (string $client): Limiter => TokenBucket::per($storage, "$name:$client", $limit, $seconds);
    }

    /** @param array<string, string> $headers those of the page's answer */
    private function answer(RateLimitMiddleware $middleware, array $headers): ResponseInterface
    {
        $request = new ServerRequest('GET', 'http://example.org/', [], null, '1.1', ['REMOTE_ADDR' => '192.0.2.1']);
        return $middleware->process($request->withQueryParams($headers), $this->page);
    }

    /** @param array<string, string> $headers */
    private function send(
        RateLimitMiddleware $middleware,
        string $method = 'GET',
        string $target = '/',
        array $headers = [],
        string $address = '192.0.2.1',
    ): ResponseInterface {
        $request = new ServerRequest($method, "http://example.org$target", $headers, null, '1.1', ['REMOTE_ADDR' => $address]);
        return $middleware->process($request, $this->page);
    }
}
