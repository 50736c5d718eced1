<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\Tests\app;

use Symfony\Bundle\FrameworkBundle\FrameworkBundle;
use Symfony\Bundle\SecurityBundle\SecurityBundle;
use Symfony\Component\Config\Loader\LoaderInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\HttpKernel\Kernel;
use TokenBucket\Symfony\TokenBucketBundle;

/**
 * The application under test. Its environment names the configuration: "token_bucket" is with the bundle, all others without.
 *
 * APP_FOLDER is where it keeps cache, sessions and its count of looked-at passwords.
 */
final class AppKernel extends Kernel
{
    /** @param (\Closure(ContainerBuilder): void)|null $configure adds to the configuration; its environment must be its own */
    public function __construct(string $environment, bool $debug, private ?\Closure $configure = null)
    {
        parent::__construct($environment, $debug);
    }

    public function registerBundles(): iterable
    {
        yield new FrameworkBundle();
        yield new SecurityBundle();
        if (str_starts_with($this->environment, 'token_bucket')) {
            yield new TokenBucketBundle();
        }
    }

    public function registerContainerConfiguration(LoaderInterface $loader): void
    {
        $loader->load(__DIR__ . '/config.yaml');
        if (str_starts_with($this->environment, 'token_bucket')) {
            $loader->load(__DIR__ . '/token_bucket.yaml');
        }
        $loader->load(function (ContainerBuilder $container): void {
            if (self::MAJOR_VERSION < 6) {
                $container->loadFromExtension('security', ['enable_authenticator_manager' => true]);
                $container->loadFromExtension('framework', ['session' => ['storage_factory_id' => 'session.storage.factory.native']]);
            }
            if ($this->configure !== null) {
                ($this->configure)($container);
            }
        });
    }

    public function getProjectDir(): string
    {
        return __DIR__;
    }

    public function getCacheDir(): string
    {
        return getenv('APP_FOLDER') . "/cache/$this->environment";
    }

    public function getLogDir(): string
    {
        return getenv('APP_FOLDER') . '/log';
    }
}
