<?php

declare(strict_types=1);

return [
    'default' => 'sync',
    'connections' => [
        'sync' => ['driver' => 'sync'],
        'redis' => ['driver' => 'redis', 'connection' => 'default', 'queue' => 'default', 'retry_after' => 90, 'block_for' => null],
    ],
    'failed' => ['driver' => 'null'],
];
