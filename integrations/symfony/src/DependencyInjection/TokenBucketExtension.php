<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\DependencyInjection;

use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\Extension\Extension;
use TokenBucket\Symfony\EndRequest;

/** Defines the listener to the end of a request, and keeps the bundle's options for its compiler passes, which run when all other bundles have defined their services. */
final class TokenBucketExtension extends Extension
{
    public const OPTIONS = 'token_bucket.options';

    /** @param array<array<mixed>> $configs */
    public function load(array $configs, ContainerBuilder $container): void
    {
        $container->setParameter(self::OPTIONS, $this->processConfiguration(new Configuration(), $configs));
        // After all other listeners, which may still work with a permit.
        $container->register(EndRequest::class)->addTag('kernel.event_listener', ['event' => 'kernel.terminate', 'priority' => -2048]);
    }
}
