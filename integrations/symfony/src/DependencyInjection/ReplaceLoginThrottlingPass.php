<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\DependencyInjection;

use Symfony\Component\DependencyInjection\ChildDefinition;
use Symfony\Component\DependencyInjection\Compiler\CompilerPassInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\Definition;
use Symfony\Component\DependencyInjection\Exception\InvalidArgumentException;
use Symfony\Component\Security\Http\RateLimiter\DefaultLoginRateLimiter;
use TokenBucket\Symfony\LoginRateLimiter;
use TokenBucket\Symfony\LoginThrottlingListener;
use TokenBucket\Symfony\RateLimiterFactory;
use TokenBucket\Symfony\RequestRateLimiter;

/** Gives login_throttling the limiter and the listener of this package. */
final class ReplaceLoginThrottlingPass implements CompilerPassInterface
{
    public function process(ContainerBuilder $container): void
    {
        foreach ($container->getDefinitions() as $definition) {
            if ($definition->getClass() === DefaultLoginRateLimiter::class && $this->isDecidedHere($container, $definition)) {
                $definition->setClass(LoginRateLimiter::class);
                // Symfony 7.4 gives a hash of the build, which other hosts may not share.
                $definition->setArgument(2, $container->hasParameter('kernel.secret') ? '%kernel.secret%' : '');
            }
        }
        foreach ($container->getDefinitions() as $definition) {
            if ($definition instanceof ChildDefinition && $definition->getParent() === 'security.listener.login_throttling') {
                $limiter = $container->findDefinition((string) $definition->getArgument(1));
                $class = $container->getParameterBag()->resolveValue($limiter->getClass());
                if (is_string($class) && is_a($class, RequestRateLimiter::class, true)) {
                    $definition->setClass(LoginThrottlingListener::class);
                }
            }
        }
    }

    private function isDecidedHere(ContainerBuilder $container, Definition $login): bool
    {
        $of_symfony = [];
        foreach ([0, 1] as $index) {
            $id = (string) $login->getArgument($index);
            if ($container->findDefinition($id)->getClass() !== RateLimiterFactory::class) {
                $of_symfony[] = substr($id, strlen('limiter.'));
            }
        }
        if (count($of_symfony) === 1) {
            throw new InvalidArgumentException(sprintf(
                'The option "token_bucket.left_to_symfony" names "%s", but not the other limiter of this login_throttling: name both, or none.',
                $of_symfony[0],
            ));
        }

        return $of_symfony === [];
    }
}
