<?php

declare(strict_types=1);

// A Slim 3 application on nyholm/psr7, which HttpTest serves with several processes. Its limits are in limits.ini.

use Nyholm\Psr7\Factory\Psr17Factory;
use Nyholm\Psr7\Response;
use Nyholm\Psr7\ServerRequest;
use Psr\Http\Message\ResponseInterface;
use Psr\Http\Message\ServerRequestInterface;
use TokenBucket\Decision;
use TokenBucket\Limiter;
use TokenBucket\Psr15\ClientNetwork;
use TokenBucket\Psr15\RateLimitMiddleware;
use TokenBucket\Psr15\Slim3Adapter;

require __DIR__ . '/bootstrap.php';

$responses = new Psr17Factory();
// Each test is a client of its own: the server's proxy is this machine.
$client = new ClientNetwork(['127.0.0.1']);
$page = static fn (string $text): callable
    => fn (ServerRequestInterface $request, ResponseInterface $response): ResponseInterface
        => $responses->createResponse(200)->withBody($responses->createStream($text))->withHeader('X-Worker', (string) getmypid());

$app = new Slim\App(['settings' => ['addContentLengthHeader' => false]]);
$app->get('/page', $page('the page'));
$app->map(['GET', 'POST'], '/reports', $page('a report'));
$app->get('/health', $page('healthy'));
$app->get('/broken', function (): never {
    throw new RuntimeException('this page is broken');
});
$app->post('/login', function (ServerRequestInterface $request) use ($responses): ResponseInterface {
    if ((string) $request->getBody() !== 'right') {
        return $responses->createResponse(401);
    }
    $request->getAttribute(Decision::class)->refund();
    return $responses->createResponse(204);
})->add(Slim3Adapter::adapt(new RateLimitMiddleware('login', $responses, $client, showLimits: false)));

$limit = fn (string $client): Limiter => TokenBucket::per(null, "site:$client", 100, 1_000_000);
$app->add(Slim3Adapter::adapt(new RateLimitMiddleware(
    $limit,
    $responses,
    $client,
    cost: ['POST /reports' => 10],
    skip: ['/health', 'POST /login'],
)));

$request = new ServerRequest(
    $_SERVER['REQUEST_METHOD'],
    'http://' . $_SERVER['HTTP_HOST'] . $_SERVER['REQUEST_URI'],
    getallheaders(),
    file_get_contents('php://input'),
    '1.1',
    $_SERVER,
);
$app->respond($app->process($request, new Response()));
