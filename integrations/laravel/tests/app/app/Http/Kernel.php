<?php

declare(strict_types=1);

namespace App\Http;

use Illuminate\Foundation\Http\Kernel as HttpKernel;
use Illuminate\Routing\Middleware\ThrottleRequests;

class Kernel extends HttpKernel
{
    /** Laravel 8 and 9 have this property, later ones the other. */
    protected $routeMiddleware = ['throttle' => ThrottleRequests::class];

    protected $middlewareAliases = ['throttle' => ThrottleRequests::class];
}
