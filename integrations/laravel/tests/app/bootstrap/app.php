<?php

declare(strict_types=1);

// Debian's Laravel is outside of Composer's vendor folder, which has token-bucket/laravel alone.
require_once '/usr/share/php/Illuminate/autoload.php';
require_once __DIR__ . '/../vendor/autoload.php';

$app = new Illuminate\Foundation\Application(dirname(__DIR__));
// Debian's package keeps Laravel's own configuration elsewhere than Laravel looks for it; config/ has all that is needed.
if (method_exists($app, 'dontMergeFrameworkConfiguration')) {
    $app->dontMergeFrameworkConfiguration();
}
$app->singleton(Illuminate\Contracts\Http\Kernel::class, App\Http\Kernel::class);
$app->singleton(Illuminate\Contracts\Console\Kernel::class, Illuminate\Foundation\Console\Kernel::class);
$app->singleton(Illuminate\Contracts\Debug\ExceptionHandler::class, Illuminate\Foundation\Exceptions\Handler::class);

return $app;
