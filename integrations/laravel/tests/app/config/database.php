<?php

declare(strict_types=1);

return [
    'default' => 'none',
    'connections' => [],
    'redis' => [
        'client' => 'phpredis',
        'options' => ['prefix' => 'attacked:'],
        'default' => ['host' => env('REDIS_SOCKET'), 'port' => 0, 'database' => 0],
    ],
];
