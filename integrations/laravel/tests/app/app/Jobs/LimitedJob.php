<?php

declare(strict_types=1);

namespace App\Jobs;

use Illuminate\Bus\Queueable;
use Illuminate\Contracts\Queue\ShouldQueue;
use Illuminate\Foundation\Bus\Dispatchable;
use Illuminate\Queue\InteractsWithQueue;

/** Writes a line to a file each time it runs. */
class LimitedJob implements ShouldQueue
{
    use Dispatchable;
    use InteractsWithQueue;
    use Queueable;

    /**
     * @param class-string $limitedBy this package's RateLimited, or Laravel's
     */
    public function __construct(private string $limitedBy, private string $limiter, public string $client, private string $file)
    {
    }

    public function middleware(): array
    {
        return [new $this->limitedBy($this->limiter)];
    }

    public function handle(): void
    {
        file_put_contents($this->file, "ran\n", FILE_APPEND | LOCK_EX);
    }
}
