#!/bin/sh
# An application of Symfony with this package in vendor/, and opcache.preload: of the file that Symfony generates, of vendor/autoload.php
# alone, and of each file by opcache_compile_file(). Each time the page after it has to limit.
# Usage: preload.sh PHP FOLDER    FOLDER is an empty one, beside which Composer can work
set -eu
php=$1 folder=$2 here=$(cd "$(dirname "$0")/.." && pwd)
cd "$folder"

cat >composer.json <<END
{
    "repositories": [{"packagist.org": false}, {"type": "path", "url": "$here"}],
    "require": {"token-bucket/stand-in": "*@dev"},
    "autoload": {
        "files": ["debian.php"],
        "psr-4": {"App\\\\": "src", "Symfony\\\\": "/usr/share/php/Symfony", "TokenBucket\\\\Symfony\\\\": "$here/../symfony/src"}
    }
}
END
cat >debian.php <<'END'
<?php
// Not each Debian has Symfony's clock.
foreach (glob('/usr/share/php/Symfony/{Bundle/FrameworkBundle,Component/{RateLimiter,Lock,Clock}}/autoload.php', GLOB_BRACE) as $autoload) {
    require_once $autoload;
}
END
mkdir src
cat >src/Kernel.php <<'END'
<?php

namespace App;

use Symfony\Bundle\FrameworkBundle\{FrameworkBundle, Kernel\MicroKernelTrait};
use Symfony\Component\DependencyInjection\Loader\Configurator\ContainerConfigurator;

final class Kernel extends \Symfony\Component\HttpKernel\Kernel
{
    use MicroKernelTrait;

    public function registerBundles(): iterable
    {
        yield new FrameworkBundle();
        yield new \TokenBucket\Symfony\TokenBucketBundle();
    }

    private function configureContainer(ContainerConfigurator $container): void
    {
        $login = ['policy' => 'token_bucket', 'limit' => 2, 'rate' => ['interval' => '1 hour', 'amount' => 2]];
        $container->extension('framework', ['secret' => 's', 'http_method_override' => false, 'rate_limiter' => ['login' => $login]]);
        $container->services()->alias('login', 'limiter.login')->public();
    }

    private function configureRoutes(): void {}
}
END
cat >page.php <<'END'
<?php
require __DIR__ . '/vendor/autoload.php';
$kernel = new App\Kernel('prod', false);
$kernel->boot();
$limiter = $kernel->getContainer()->get('login')->create($argv[1]);
$permit = (new TokenBucket\ConcurrencyLimit(null, $argv[1], 1))->acquire();
echo json_encode([$limiter::class, $limiter->consume(2)->isAccepted(), $limiter->consume()->isAccepted(), $permit !== null]), "\n";
END
cat >compile.php <<'END'
<?php
foreach (array_merge(glob(__DIR__ . '/vendor/token-bucket/stand-in/src/*.php'), glob(__DIR__ . '/vendor/token-bucket/stand-in/src/limit/*.php')) as $file) {
    opcache_compile_file($file);
}
END
COMPOSER_ALLOW_SUPERUSER=1 COMPOSER_HOME=$folder/composer composer install --no-interaction --quiet

run() {
    what=$1
    shift
    found=$("$php" -n -d extension=ctype -d extension=mbstring -d extension=tokenizer -d token_bucket.shm_path="$folder" -d error_log="$folder/log" "$@" page.php "$what" 2>&1) || true
    [ "$found" = '["TokenBucket\\Symfony\\Limiter",true,false,true]' ] || { echo "$what: $found"; status=1; }
}
status=0
run "without preload"
# By itself this file does nothing on the command line.
sed 's/^if (in_array(PHP_SAPI/if (false \&\& in_array(PHP_SAPI/' "$folder"/var/cache/prod/*.preload.php >var/cache/prod/preload.php
grep -q '^if (false' var/cache/prod/preload.php
for file in var/cache/prod/preload.php vendor/autoload.php compile.php; do
    run "preload of $file" -d zend_extension=opcache -d opcache.enable_cli=1 -d opcache.preload_user="$(id -un)" -d opcache.preload="$file"
    run "preload of $file, functions disabled" -d zend_extension=opcache -d opcache.enable_cli=1 -d opcache.preload_user="$(id -un)" -d opcache.preload="$file" \
        -d disable_functions=getmypid,usleep
done
exit $status
