<?php

/*
 * The classes and functions of the extension token_bucket in plain PHP, where the extension is not loaded. README.md tells how they differ.
 */

declare(strict_types=1);

if (extension_loaded('token_bucket') || function_exists('TokenBucket\limiter')) {
    return;
}

spl_autoload_register(static function (string $class): void {
    $file = match (true) {
        str_starts_with($class, 'TokenBucket\StandIn\\') => substr($class, 20),
        str_starts_with($class, 'TokenBucket') => "Surface\\$class",
        default => null,
    };
    $path = __DIR__ . '/src/' . str_replace('\\', '/', (string) $file) . '.php';
    if ($file !== null && is_file($path)) {
        require $path;
    }
});
require __DIR__ . '/src/functions.php';
