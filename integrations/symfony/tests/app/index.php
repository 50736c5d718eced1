<?php

declare(strict_types=1);

use Symfony\Component\HttpFoundation\Request;
use TokenBucket\Symfony\Tests\app\AppKernel;

require __DIR__ . '/../bootstrap.php';

$kernel = new AppKernel((string) getenv('APP_ENV'), false);
$request = Request::createFromGlobals();
$response = $kernel->handle($request);
$response->send();
$kernel->terminate($request, $response);
