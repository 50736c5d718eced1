<?php

declare(strict_types=1);

return [
    // A DSN, such as redis://10.0.0.5; null: the one of the php.ini directive token_bucket.storage.
    // "array:" gives each application buckets of its own, for tests.
    'storage' => env('TOKEN_BUCKET_STORAGE'),
];
