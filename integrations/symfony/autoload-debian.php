<?php

declare(strict_types=1);

// For the tests and the benchmark: Debian's packages of Symfony, and this package, without Composer.

// Symfony 7 asks it which packages are there; the Debian package composer has it.
$installed_versions = '/usr/share/php/Composer/InstalledVersions.php';
if (is_file($installed_versions)) {
    require_once $installed_versions;
}
foreach (['Bundle/FrameworkBundle', 'Bundle/SecurityBundle', 'Component/Lock', 'Component/RateLimiter', 'Component/Yaml'] as $part) {
    require_once "/usr/share/php/Symfony/$part/autoload.php";
}

spl_autoload_register(static function (string $class): void {
    foreach (['TokenBucket\\Symfony\\Tests\\' => '/tests/', 'TokenBucket\\Symfony\\' => '/src/'] as $prefix => $folder) {
        if (str_starts_with($class, $prefix)) {
            $file = __DIR__ . $folder . strtr(substr($class, strlen($prefix)), '\\', '/') . '.php';
            if (is_file($file)) {
                require $file;
            }

            return;
        }
    }
});
