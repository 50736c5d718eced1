<?php

declare(strict_types=1);

namespace TokenBucket\Symfony;

use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\HttpKernel\Bundle\Bundle;
use TokenBucket\Symfony\DependencyInjection\ReplaceLimitersPass;
use TokenBucket\Symfony\DependencyInjection\ReplaceLoginThrottlingPass;

/** Lets the extension token_bucket decide the limiters of framework.rate_limiter and of login_throttling. */
final class TokenBucketBundle extends Bundle
{
    public function build(ContainerBuilder $container): void
    {
        parent::build($container);
        $container->addCompilerPass(new ReplaceLimitersPass());
        // After the limiters, because it looks at which of them were replaced.
        $container->addCompilerPass(new ReplaceLoginThrottlingPass());
    }
}
