<?php

declare(strict_types=1);

require_once __DIR__ . '/../../../php-tests/web_server.inc';

// The application of the tests keeps its cache and sessions where the tables of this run are, which end with it.
if (getenv('APP_FOLDER') === false) {
    putenv('APP_FOLDER=' . ini_get('token_bucket.shm_path'));
}

// Composer's packages where they are installed, else Debian's.
$composer = __DIR__ . '/../vendor/autoload.php';
if (is_file($composer)) {
    require_once $composer;

    return;
}
// As Composer's autoloader does where token-bucket/stand-in is installed.
if (getenv('STAND_IN')) {
    require_once __DIR__ . '/../../stand-in/stand-in.php';
}
// Symfony 7 asks this class of Composer which packages are there.
$installed_versions = '/usr/share/php/Composer/InstalledVersions.php';
if (is_file($installed_versions)) {
    require_once $installed_versions;
}
foreach (['Bundle/FrameworkBundle', 'Bundle/SecurityBundle', 'Component/Lock', 'Component/RateLimiter', 'Component/Yaml'] as $part) {
    require_once "/usr/share/php/Symfony/$part/autoload.php";
}
// Services that reserve get limiters in later versions only.
foreach (['HttpClient', 'Messenger'] as $component) {
    if (is_file("/usr/share/php/Symfony/Component/$component/autoload.php")) {
        require_once "/usr/share/php/Symfony/Component/$component/autoload.php";
    }
}

spl_autoload_register(static function (string $class): void {
    foreach (['TokenBucket\\Symfony\\Tests\\' => '/', 'TokenBucket\\Symfony\\' => '/../src/'] as $prefix => $folder) {
        if (str_starts_with($class, $prefix)) {
            $file = __DIR__ . $folder . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
            if (is_file($file)) {
                require $file;
            }

            return;
        }
    }
});
