<?php

/*
 * The classes and functions of the extension token_bucket in plain PHP, where the extension is not loaded. README.md tells how they differ.
 */

declare(strict_types=1);

if (extension_loaded('token_bucket') || function_exists('TokenBucket\limiter')) {
    return;
}

if (PHP_INT_SIZE < 8) {
    throw new RuntimeException('The stand-in of token_bucket needs a PHP of 64 bits: its times are nanoseconds');
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
