<?php

declare(strict_types=1);

return [
    'default' => env('CACHE', 'file'),
    'stores' => [
        'array' => ['driver' => 'array', 'serialize' => false],
        'file' => ['driver' => 'file', 'path' => storage_path('framework/cache/data')],
        'redis' => ['driver' => 'redis', 'connection' => 'default'],
        'apc' => ['driver' => 'apc'],
    ],
    'prefix' => 'attacked_',
];
