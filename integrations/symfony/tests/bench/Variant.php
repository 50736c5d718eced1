<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\Tests\bench;

use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\Reference;
use Symfony\Component\HttpFoundation\Request;
use TokenBucket\Symfony\Tests\app\AppKernel;
use TokenBucket\Symfony\Tests\app\BenchPage;

/** A way to limit the page /bench: by whom, and where the limits are kept. */
final class Variant
{
    /**
     * @param string|null $storage a DSN for token_bucket; null: Symfony decides
     * @param string|null $cache the adapter of cache.app, where Symfony keeps limits; null with no $storage: no limiter
     * @param string|null $lock the DSN of the lock that Symfony takes; null: none
     */
    private function __construct(
        public readonly string $name,
        private ?string $storage,
        private ?string $cache,
        private ?string $lock,
    ) {
    }

    /**
     * @param string|null $socket of a Redis server, if there is one
     * @return list<self>
     */
    public static function all(?string $socket): array
    {
        $variants = [
            new self('no limiter', null, null, null),
            new self('token_bucket, shared memory', 'shm:', null, null),
            new self('Symfony, files, no lock', null, 'cache.adapter.filesystem', null),
            new self('Symfony, files, flock', null, 'cache.adapter.filesystem', 'flock'),
        ];
        if (extension_loaded('apcu')) {
            $variants[] = new self('Symfony, APCu, no lock', null, 'cache.adapter.apcu', null);
            $variants[] = new self('Symfony, APCu, flock', null, 'cache.adapter.apcu', 'flock');
        }
        if ($socket !== null) {
            $variants[] = new self('token_bucket, Redis', "redis+unix://$socket?timeout_ms=2000", null, null);
            $variants[] = new self('Symfony, Redis, no lock', null, 'cache.adapter.redis', null);
            $variants[] = new self('Symfony, Redis, its lock', null, 'cache.adapter.redis', "redis://$socket");
        }

        return $variants;
    }

    public function isLimited(): bool
    {
        return $this->storage !== null || $this->cache !== null;
    }

    /** @param array<string, mixed> $limiter its configuration */
    public function kernel(array $limiter): AppKernel
    {
        $environment = ($this->storage === null ? 'symfony' : 'token_bucket') . substr(md5(serialize([$this, $limiter])), 0, 8);
        $kernel = new AppKernel($environment, false, function (ContainerBuilder $container) use ($limiter): void {
            $this->configure($container, $limiter);
        });
        $kernel->boot();

        return $kernel;
    }

    public static function isAccepted(AppKernel $kernel, string $client): bool
    {
        $status = $kernel->handle(Request::create("/bench?client=$client"))->getStatusCode();
        if ($status !== 200 && $status !== 429) {
            throw new \RuntimeException("The page answers $status.");
        }

        return $status === 200;
    }

    /** @param array<string, mixed> $limiter */
    private function configure(ContainerBuilder $container, array $limiter): void
    {
        $page = $container->register(BenchPage::class)->addTag('controller.service_arguments');
        $page->setArguments([$this->isLimited() ? new Reference('limiter.bench') : null]);
        if ($this->storage !== null) {
            $container->loadFromExtension('token_bucket', ['storage' => $this->storage]);
        }
        $container->loadFromExtension('framework', [
            'cache' => ['app' => $this->cache ?? 'cache.adapter.filesystem', 'default_redis_provider' => 'redis://' . getenv('REDIS_SOCKET')],
            'lock' => $this->lock ?? 'flock',
            'rate_limiter' => ['bench' => ['lock_factory' => $this->lock === null ? null : 'lock.factory'] + $limiter],
        ]);
    }
}
