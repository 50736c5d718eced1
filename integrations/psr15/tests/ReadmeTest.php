<?php

declare(strict_types=1);

namespace TokenBucket\Psr15\Tests;

use Nyholm\Psr7\Factory\Psr17Factory;
use Nyholm\Psr7\ServerRequest;
use PHPUnit\Framework\TestCase;
use Psr\Http\Server\MiddlewareInterface;
use TokenBucket\Psr15\RateLimitMiddleware;

/** The examples in README.md, as they stand there. */
final class ReadmeTest extends TestCase
{
    public function test_three_lines_limit_a_client(): void
    {
        $code = $this->examples()[0];
        self::assertCount(3, explode("\n", trim($code)));
        $middleware = $this->added($code);

        $answer = $middleware->process($this->request('192.0.2.1'), new Page());
        self::assertSame('"api";q=60;w=60', $answer->getHeaderLine('RateLimit-Policy'));
        self::assertSame('"api";r=59;t=1', $answer->getHeaderLine('RateLimit'));
    }

    public function test_the_line_for_slim_3_limits_a_client_there(): void
    {
        preg_match('/In Slim 3: `(.*)`/', (string) file_get_contents(__DIR__ . '/../README.md'), $line);
        $app = new \Slim\App();
        $app->get('/', fn () => new \Nyholm\Psr7\Response(200));
        $middleware = new RateLimitMiddleware(fn (string $client) => \TokenBucket::per('array:', "slim3:$client", 3, 60), new Psr17Factory());
        eval("$line[1];");
        $statuses = array_map(fn () => $app->process($this->request('192.0.2.3'), new \Nyholm\Psr7\Response())->getStatusCode(), range(1, 5));
        self::assertSame([200, 200, 200, 429, 429], $statuses);
    }

    public function test_every_other_example_adds_a_middleware(): void
    {
        $examples = array_slice($this->examples(), 1);
        self::assertCount(2, $examples);
        foreach ($examples as $code) {
            $this->added($code);
        }
    }

    public function test_login_takes_thirty_tries(): void
    {
        $middleware = $this->added($this->examples()[2]);
        $statuses = [];
        foreach (range(1, 31) as $_) {
            $statuses[] = $middleware->process($this->request('192.0.2.2'), new Page())->getStatusCode();
        }
        self::assertSame([...array_fill(0, 30, 200), 429], $statuses);
    }

    /** @return list<string> */
    private function examples(): array
    {
        preg_match_all('/^```php\n(.*?)^```$/sm', (string) file_get_contents(__DIR__ . '/../README.md'), $found);
        return array_values($found[1]);
    }

    /** Runs an example in an application that keeps the middleware. */
    private function added(string $code): MiddlewareInterface
    {
        $app = new class () {
            public MiddlewareInterface $middleware;

            public function add(MiddlewareInterface $middleware): void
            {
                $this->middleware = $middleware;
            }
        };
        (static function ($app, $responses) use ($code): void {
            eval($code);
        })($app, new Psr17Factory());
        return $app->middleware;
    }

    private function request(string $address): ServerRequest
    {
        return new ServerRequest('GET', '/', [], null, '1.1', ['REMOTE_ADDR' => $address]);
    }
}
