<?php

declare(strict_types=1);

use Symfony\Component\ErrorHandler\Debug;
use Symfony\Component\HttpFoundation\Request;
use TokenBucket\Symfony\Tests\app\AppKernel;

require __DIR__ . '/../bootstrap.php';

$environment = (string) getenv('APP_ENV');
$debug = str_ends_with($environment, '_debug');
if ($debug) {
    Debug::enable();
}
$kernel = new AppKernel($environment, $debug);
$request = Request::createFromGlobals();
$response = $kernel->handle($request);
$response->send();
$kernel->terminate($request, $response);
