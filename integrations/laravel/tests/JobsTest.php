<?php

declare(strict_types=1);

namespace TokenBucket\Laravel\Tests;

use App\Jobs\FailingJob;
use App\Jobs\LimitedJob;
use Illuminate\Queue\Middleware\RateLimited as LaravelRateLimited;
use Illuminate\Support\Facades\Queue;
use TokenBucket\Laravel\RateLimited;

/** Jobs in a queue of Redis, taken by several `artisan queue:work`. */
final class JobsTest extends TestCase
{
    private const WORKERS = 4;

    private string $file;

    protected function setUp(): void
    {
        parent::setUp();
        $this->file = temporary_file();
        // The workers are other processes, so all share the table of this test run.
        $this->withStorage(null);
        Queue::connection('redis')->clear('default');
    }

    public function testWorkersStartExactlyAsManyJobsAsTheLimitSays(): void
    {
        $this->dispatch(60, RateLimited::class, 'jobs', 'exact');
        $this->runWorkers(self::WORKERS);
        self::assertSame(5, $this->jobsRun());
        self::assertSame(55, Queue::connection('redis')->size('default'), 'the others wait for their time');
    }

    public function testSetOfLimits(): void
    {
        $this->dispatch(40, RateLimited::class, 'job-set', 'set');
        $this->runWorkers(self::WORKERS);
        self::assertSame(5, $this->jobsRun());
        self::assertSame(95, $this->remaining('attacked_throttle:job-set:client:set', 100), 'a job that one limit denied costs the other nothing');
    }

    public function testLaravelsOwnMiddlewareUsesTheLimiter(): void
    {
        $this->dispatch(20, LaravelRateLimited::class, 'jobs', 'own');
        $this->runWorkers(1);
        self::assertSame(5, $this->jobsRun());
    }

    public function testJobThatIsNotReleased(): void
    {
        $middleware = (new RateLimited('jobs'))->dontRelease();
        $job = new LimitedJob(RateLimited::class, 'jobs', 'dropped', $this->file);
        $passed = 0;
        for ($i = 0; $i < 10; $i++) {
            $result = unserialize(serialize($middleware))->handle($job, static function () use (&$passed): string {
                $passed++;

                return 'done';
            });
            self::assertSame($i < 5 ? 'done' : false, $result);
        }
        self::assertSame(5, $passed);
    }

    public function testReleaseAfterOfTheJobCounts(): void
    {
        if (!method_exists(LaravelRateLimited::class, 'releaseAfter')) {
            self::markTestSkipped('this Laravel has no RateLimited::releaseAfter()');
        }
        $job = new class () {
            public string $client = 'later';
            public ?int $releasedFor = null;

            public function release(int $delay): void
            {
                $this->releasedFor = $delay;
            }
        };
        for ($i = 0; $i < 6; $i++) {
            (new RateLimited('jobs'))->releaseAfter(77)->handle($job, static fn () => null);
        }
        self::assertSame(77, $job->releasedFor);
    }

    public function testThrottlesExceptionsUsesTheLimiter(): void
    {
        dispatch((new FailingJob($this->file))->onConnection('redis'));
        $this->runWorkers(1);
        self::assertSame(FailingJob::EXCEPTIONS, $this->jobsRun(), 'then it waits');
    }

    public function testSyncQueue(): void
    {
        for ($i = 0; $i < 8; $i++) {
            dispatch((new LimitedJob(RateLimited::class, 'jobs', 'sync', $this->file))->onConnection('sync'));
        }
        self::assertSame(5, $this->jobsRun());
    }

    private function dispatch(int $jobs, string $middleware, string $limiter, string $client): void
    {
        for ($i = 0; $i < $jobs; $i++) {
            dispatch((new LimitedJob($middleware, $limiter, $client, $this->file))->onConnection('redis'));
        }
    }

    private function runWorkers(int $count): void
    {
        $command = [PHP_BINARY, getenv('TB_LARAVEL_APP') . '/artisan', 'queue:work', 'redis', '--stop-when-empty', '--tries=50', '--sleep=0', '--quiet'];
        $workers = [];
        for ($i = 0; $i < $count; $i++) {
            $log = ['file', getenv('TB_LARAVEL_APP') . '/worker.log', 'a'];
            $workers[] = proc_open($command, [['file', '/dev/null', 'r'], $log, $log], $pipes);
        }
        foreach ($workers as $worker) {
            self::assertSame(0, proc_close($worker), (string) file_get_contents(getenv('TB_LARAVEL_APP') . '/worker.log'));
        }
    }

    /** As another process sees it, whose clock is the workers'. */
    private function remaining(string $identifier, int $limit): int
    {
        $code = 'echo (new TokenBucket\FixedWindow(null, $argv[1], (int) $argv[2], 60))->peek()->getRemainingTokens();';
        $process = proc_open([PHP_BINARY, '-r', $code, $identifier, (string) $limit], [1 => ['pipe', 'w']], $pipes);
        $remaining = (int) stream_get_contents($pipes[1]);
        proc_close($process);

        return $remaining;
    }

    private function jobsRun(): int
    {
        return count(file($this->file));
    }
}
