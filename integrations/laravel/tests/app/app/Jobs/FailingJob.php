<?php

declare(strict_types=1);

namespace App\Jobs;

use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Foundation\Bus\Dispatchable;
use Illuminate\Queue\InteractsWithQueue;
use Illuminate\Queue\Middleware\ThrottlesExceptions;
use RuntimeException;

/** Writes a line to a file each time it runs, and fails. Waits after some exceptions. */
class FailingJob implements ShouldQueue
{
    use Dispatchable;
    use InteractsWithQueue;
    use Queueable;

    public const EXCEPTIONS = 3;

    public function __construct(private string $file)
    {
    }

    public function middleware(): array
    {
        return [new ThrottlesExceptions(self::EXCEPTIONS, 600)];
    }

    public function handle(): void
    {
        file_put_contents($this->file, "ran\n", FILE_APPEND | LOCK_EX);

        throw new RuntimeException('the service is down');
    }
}
