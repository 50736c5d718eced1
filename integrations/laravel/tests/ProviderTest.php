<?php

declare(strict_types=1);

namespace TokenBucket\Laravel\Tests;

use Illuminate\Cache\RateLimiter as LaravelRateLimiter;
use Illuminate\Cache\RateLimiting\Limit;
use Illuminate\Routing\Middleware\ThrottleRequests as LaravelThrottleRequests;
use Illuminate\Support\Facades\Facade;
use Illuminate\Support\Facades\RateLimiter as RateLimiterFacade;
use Illuminate\Support\Facades\Route;
use InvalidArgumentException;
use TokenBucket\ConcurrencyLimit;
use TokenBucket\ConfigurationException;
use TokenBucket\Laravel\RateLimiter;
use TokenBucket\Laravel\ThrottleRequests;
use TokenBucket\Laravel\TokenBucketServiceProvider;

final class ProviderTest extends TestCase
{
    public function testLaravelDiscoversTheProviderThatComposerInstalled(): void
    {
        self::assertArrayHasKey(TokenBucketServiceProvider::class, $this->app->getLoadedProviders());
        self::assertNotContains(TokenBucketServiceProvider::class, $this->app->make('config')->get('app.providers'));
    }

    public function testTakesThePlaceOfLaravelsLimiterAndMiddleware(): void
    {
        self::assertInstanceOf(RateLimiter::class, $this->app->make(LaravelRateLimiter::class));
        self::assertSame($this->app->make(LaravelRateLimiter::class), $this->app->make(RateLimiter::class));
        self::assertSame($this->app->make(LaravelRateLimiter::class), RateLimiterFacade::getFacadeRoot());
        self::assertInstanceOf(ThrottleRequests::class, $this->app->make(LaravelThrottleRequests::class));
    }

    public function testStaysInPlaceWhenTheDeferredCacheProviderIsLoadedLater(): void
    {
        $limiter = $this->app->make(LaravelRateLimiter::class);
        $this->app->make('cache')->driver();
        self::assertSame($limiter, $this->app->make(LaravelRateLimiter::class));
        self::assertNotNull($limiter->limiter('api'));
    }

    public function testKeepsLimitersThatWereNamedBeforeItWasRegistered(): void
    {
        // An application whose limiter, and the facade's root, are Laravel's own.
        $this->app->offsetUnset(LaravelRateLimiter::class);
        $this->app->instance(LaravelRateLimiter::class, new LaravelRateLimiter($this->app->make('cache')->driver('array')));
        Facade::clearResolvedInstances();
        RateLimiterFacade::for('early', static fn () => Limit::perMinute(1));

        (new TokenBucketServiceProvider($this->app))->register();

        self::assertInstanceOf(RateLimiter::class, RateLimiterFacade::getFacadeRoot());
        self::assertNotNull(RateLimiterFacade::limiter('early'));
    }

    public function testConfigurationIsPublished(): void
    {
        $published = TokenBucketServiceProvider::pathsToPublish(TokenBucketServiceProvider::class, 'token-bucket');
        self::assertSame([$this->app->configPath('token_bucket.php')], array_values($published));
        self::assertFileExists((string) key($published));
    }

    public function testStorageMustBeAString(): void
    {
        $this->withStorage(['redis://127.0.0.1']);
        $this->expectException(InvalidArgumentException::class);
        $this->expectExceptionMessage('"storage" must be a DSN such as redis://10.0.0.5, or null for the directive token_bucket.storage; array given');
        RateLimiterFacade::hit('key');
    }

    public function testInvalidDsnIsRefused(): void
    {
        $this->withStorage('ftp://127.0.0.1');
        $this->expectException(ConfigurationException::class);
        RateLimiterFacade::hit('key');
    }

    public function testEmptyStorageIsTheDefaultOne(): void
    {
        $this->withStorage('');
        $key = uniqid('default', true);
        RateLimiterFacade::hit($key);
        $this->withStorage(null);
        self::assertSame(1, RateLimiterFacade::attempts($key));
    }

    public function testArrayStorageIsNewForEachApplication(): void
    {
        RateLimiterFacade::hit('key');
        $this->withStorage('array:');
        self::assertSame(0, RateLimiterFacade::attempts('key'));
    }

    public function testApplicationsWithOtherCachePrefixesCountApart(): void
    {
        $this->withStorage(null);
        $key = uniqid('prefix', true);
        RateLimiterFacade::hit($key);
        $this->withStorage(null);
        $this->app->make('config')->set('cache.prefix', 'another_');
        self::assertSame(0, RateLimiterFacade::attempts($key));
    }

    public function testPermitsOfARequestAreGivenBackWhenTheApplicationTerminates(): void
    {
        $limit = new ConcurrencyLimit('array:', uniqid('report', true), 1);
        $kept = [];
        Route::get('/report', static function () use ($limit, &$kept): string {
            $kept[] = $limit->acquire();

            return (string) $limit->getActive();
        });
        foreach ([1, 2] as $ignored) {
            self::assertSame('1', $this->get('/report')->getContent());
            self::assertSame(0, $limit->getActive());
        }
        self::assertCount(2, array_filter($kept));
    }

    public function testWithoutTheExtensionTheApplicationStartsAndALimitSaysWhatIsMissing(): void
    {
        $code = <<<'PHP'
            $app = require getenv('TB_LARAVEL_APP') . '/bootstrap/app.php';
            $app->make(Illuminate\Contracts\Http\Kernel::class)->bootstrap();
            echo extension_loaded('token_bucket') ? 'loaded, ' : 'started, ';
            try {
                Illuminate\Support\Facades\RateLimiter::hit('key');
            } catch (RuntimeException $thrown) {
                echo $thrown->getMessage();
            }
            PHP;
        $process = proc_open(
            [PHP_BINARY, '-r', $code],
            [1 => ['pipe', 'w']],
            $pipes,
            null,
            ['PHP_INI_SCAN_DIR' => getenv('PHP_INI_SCAN_DIR') . '-without'] + getenv()
        );
        $output = (string) stream_get_contents($pipes[1]);
        proc_close($process);
        self::assertStringStartsWith('started, token-bucket/laravel needs the PHP extension token_bucket, which is not loaded', $output);
    }
}
