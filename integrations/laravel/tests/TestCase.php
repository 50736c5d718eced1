<?php

declare(strict_types=1);

namespace TokenBucket\Laravel\Tests;

use Illuminate\Contracts\Console\Kernel;
use Illuminate\Foundation\Testing\TestCase as LaravelTestCase;

/** A test in the process of PHPUnit: the application's real kernel, with buckets of its own for each test. */
abstract class TestCase extends LaravelTestCase
{
    public function createApplication()
    {
        $app = require getenv('TB_LARAVEL_APP') . '/bootstrap/app.php';
        $app->make(Kernel::class)->bootstrap();
        $app->make('config')->set('token_bucket.storage', 'array:');

        return $app;
    }

    /** The application as another process would begin it. */
    protected function withStorage(mixed $storage): void
    {
        $this->refreshApplication();
        $this->app->make('config')->set('token_bucket.storage', $storage);
    }

    protected static function laravelMajor(): int
    {
        return (int) \Illuminate\Foundation\Application::VERSION;
    }
}
