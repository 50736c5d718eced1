<?php

declare(strict_types=1);

require_once __DIR__ . '/../../../php-tests/web_server.inc';

// Composer's packages where they are installed, else Debian's; of PSR-15's interfaces those that interfaces.sh has unpacked.
$composer = __DIR__ . '/../vendor/autoload.php';
if (is_file($composer)) {
    require_once $composer;
    return;
}
// As Composer's autoloader does where token-bucket/stand-in is installed.
if (getenv('STAND_IN')) {
    require_once __DIR__ . '/../../stand-in/stand-in.php';
}
require_once 'Nyholm/Psr7/autoload.php';
require_once 'Slim/autoload.php';

spl_autoload_register(static function (string $class): void {
    $interfaces = getenv('TB_PSR15_INTERFACES');
    $folders = [
        'TokenBucket\Psr15\Tests\\' => __DIR__,
        'TokenBucket\Psr15\\' => __DIR__ . '/../src',
        'Psr\Http\Server\Middleware' => "$interfaces/http-server-middleware/src/Middleware",
        'Psr\Http\Server\RequestHandler' => "$interfaces/http-server-handler/src/RequestHandler",
    ];
    foreach ($folders as $prefix => $folder) {
        if (str_starts_with($class, $prefix)) {
            $separator = str_ends_with($prefix, '\\') ? '/' : '';
            require_once $folder . $separator . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
            return;
        }
    }
});
