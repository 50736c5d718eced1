<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\DependencyInjection;

use Symfony\Component\DependencyInjection\Argument\IteratorArgument;
use Symfony\Component\DependencyInjection\ChildDefinition;
use Symfony\Component\DependencyInjection\Compiler\CompilerPassInterface;
use Symfony\Component\DependencyInjection\ContainerBuilder;
use Symfony\Component\DependencyInjection\Definition;
use Symfony\Component\DependencyInjection\Exception\InvalidArgumentException;
use Symfony\Component\DependencyInjection\Reference;
use Symfony\Component\RateLimiter\CompoundRateLimiterFactory as SymfonyCompoundFactory;
use Symfony\Component\RateLimiter\RateLimiterFactory as SymfonyFactory;
use TokenBucket\ConfigurationException;
use TokenBucket\Symfony\CompoundRateLimiterFactory;
use TokenBucket\Symfony\LimiterFactory;
use TokenBucket\Symfony\RateLimiterFactory;
use TokenBucket\Symfony\WindowCannotReserveException;

/** Gives the services `limiter.NAME` of FrameworkBundle the factories of this package. */
final class ReplaceLimitersPass implements CompilerPassInterface
{
    private const PREFIX = 'limiter.';

    public function process(ContainerBuilder $container): void
    {
        /** @var array{storage: ?string, application: ?string, storages: array<string, string>, left_to_symfony: list<string>, except: list<string>} $options */
        $options = $container->getParameter(TokenBucketExtension::OPTIONS);
        $container->getParameterBag()->remove(TokenBucketExtension::OPTIONS);

        $names = $this->namesOfLimiters($container);
        $this->checkNames($names, $options);
        $this->checkStorage($container, 'storage', $options['storage']);
        foreach ($options['storages'] as $name => $storage) {
            $this->checkStorage($container, "storages.$name", $storage);
        }
        $this->checkExcept($container, $options['except']);
        $this->checkReservations($container, array_diff($names, $options['left_to_symfony']));
        foreach (array_diff($names, $options['left_to_symfony']) as $name) {
            $this->replace($container, $name, $options['storages'][$name] ?? $options['storage'], $options['application'], $options['except']);
        }
        $this->replaceCompounds($container, $options['left_to_symfony']);
    }

    /** @return list<string> */
    private function namesOfLimiters(ContainerBuilder $container): array
    {
        $names = [];
        foreach ($container->getDefinitions() as $id => $definition) {
            if ($definition instanceof ChildDefinition && $definition->getParent() === 'limiter') {
                $names[] = substr($id, strlen(self::PREFIX));
            }
        }

        return $names;
    }

    /**
     * @param list<string> $names
     * @param array{storages: array<string, string>, left_to_symfony: list<string>, ...} $options
     */
    private function checkNames(array $names, array $options): void
    {
        foreach (['storages' => array_keys($options['storages']), 'left_to_symfony' => $options['left_to_symfony']] as $option => $named) {
            foreach (array_diff($named, $names) as $name) {
                throw new InvalidArgumentException(sprintf(
                    'The option "token_bucket.%s" names "%s", but framework.rate_limiter has no such limiter. It has: %s.',
                    $option,
                    $name,
                    implode(', ', $names) ?: 'none',
                ));
            }
        }
    }

    /** @param list<string> $except */
    private function replace(ContainerBuilder $container, string $name, ?string $storage, ?string $application, array $except): void
    {
        $id = self::PREFIX . $name;
        $old = $container->getDefinition($id);
        $config = $old->getArgument(0);
        $this->check($container, $config);
        if ($application === null) {
            $secret = $container->hasParameter('kernel.secret') ? '%kernel.secret%' : '';
            $new = new Definition(RateLimiterFactory::class, [$config, $storage, $secret, $except]);
            $new->setFactory([RateLimiterFactory::class, 'withSecret']);
        } else {
            $new = new Definition(RateLimiterFactory::class, [$config, null, null, $storage, $application, $except]);
        }
        $container->setDefinition($id, $new->setTags($old->getTags()));
        $this->replaceTypes($container, $id);
        $container->registerAliasForArgument($id, RateLimiterFactory::class, $name . '.limiter');
        $container->registerAliasForArgument($id, LimiterFactory::class, $name . '.limiter');
    }

    /**
     * Finds mistakes when the container is built.
     *
     * @param array<string, mixed> $config
     */
    private function check(ContainerBuilder $container, array $config): void
    {
        $config = $this->valueIfKnown($container, $config);
        // The machine that builds the container may lack the extension.
        if ($config !== null && function_exists('TokenBucket\limiter')) {
            new RateLimiterFactory($config, null, null, 'array:');
        }
    }

    private function checkStorage(ContainerBuilder $container, string $option, ?string $storage): void
    {
        $storage = $this->valueIfKnown($container, $storage);
        if ($storage === null || !function_exists('TokenBucket\limiter')) {
            return;
        }
        try {
            // This opens no storage.
            new \TokenBucket($storage, 'example', 1, 1.0);
        } catch (ConfigurationException $error) {
            throw new InvalidArgumentException("The option \"token_bucket.$option\": {$error->getMessage()}.", 0, $error);
        }
    }

    /** @param list<string> $except */
    private function checkExcept(ContainerBuilder $container, array $except): void
    {
        $except = $this->valueIfKnown($container, $except);
        if ($except === null || !function_exists('TokenBucket\in_network')) {
            return;
        }
        try {
            \TokenBucket\in_network('', $except);
        } catch (\ValueError $error) {
            throw new InvalidArgumentException('The option "token_bucket.except" ' . (string) preg_replace('~^.*?\(\$networks\) ~', '', $error->getMessage()) . '.', 0, $error);
        }
    }

    /** A value with its parameters; null if it has environment variables, whose values the built container reads. */
    private function valueIfKnown(ContainerBuilder $container, mixed $value): mixed
    {
        $value = $container->getParameterBag()->resolveValue($value);
        $variables = [];
        $container->resolveEnvPlaceholders($value, null, $variables);

        return $variables === [] ? $value : null;
    }

    /**
     * Finds windows that FrameworkBundle gives to services which reserve.
     *
     * @param array<string> $names of the limiters that this package decides
     */
    private function checkReservations(ContainerBuilder $container, array $names): void
    {
        $reserving = [];
        if ($container->hasDefinition('messenger.rate_limiter_locator')) {
            /** @var array<string, Reference> $limiters */
            $limiters = $container->getDefinition('messenger.rate_limiter_locator')->getArgument(0);
            foreach ($limiters as $transport => $limiter) {
                $reserving["The Messenger transport \"$transport\""] = (string) $limiter;
            }
        }
        foreach ($container->getDefinitions() as $id => $definition) {
            $factory = str_ends_with($id, '.throttling.limiter') ? $definition->getFactory() : null;
            if (is_array($factory) && $factory[0] instanceof Reference) {
                $reserving['The HTTP client "' . substr($id, 0, -strlen('.throttling.limiter')) . '"'] = (string) $factory[0];
            }
        }
        foreach ($reserving as $service => $id) {
            $name = substr($id, strlen(self::PREFIX));
            $policy = in_array($name, $names, true) ? $this->valueIfKnown($container, $container->getDefinition($id)->getArgument(0)['policy']) : null;
            if (in_array($policy, ['fixed_window', 'sliding_window'], true)) {
                throw new InvalidArgumentException("$service reserves. " . WindowCannotReserveException::reasonFor($name, $policy));
            }
        }
    }

    /** Symfony's factory is final: an argument of its type cannot have this package's. Says so when the container is built. */
    private function replaceTypes(ContainerBuilder $container, string $id): void
    {
        foreach ($container->getAliases() as $alias => $target) {
            if ((string) $target === $id && str_starts_with(ltrim($alias, '.'), SymfonyFactory::class . ' ')) {
                $container->removeAlias($alias);
                $container->setDefinition($alias, (new Definition(SymfonyFactory::class))->addError(sprintf(
                    'token_bucket decides the limiter "%s", so an argument cannot have the type %s. Write %s instead.',
                    substr($id, strlen(self::PREFIX)),
                    SymfonyFactory::class,
                    interface_exists(\Symfony\Component\RateLimiter\RateLimiterFactoryInterface::class)
                        ? \Symfony\Component\RateLimiter\RateLimiterFactoryInterface::class
                        : RateLimiterFactory::class,
                )));
            }
        }
    }

    /** @param list<string> $names of limiters that Symfony decides */
    private function replaceCompounds(ContainerBuilder $container, array $names): void
    {
        foreach ($container->getDefinitions() as $definition) {
            if ($definition->getClass() === SymfonyCompoundFactory::class && !$this->hasAny($definition, $names)) {
                $definition->setClass(CompoundRateLimiterFactory::class);
            }
        }
    }

    /** @param list<string> $names */
    private function hasAny(Definition $compound, array $names): bool
    {
        $factories = $compound->getArgument(0);
        foreach ($factories instanceof IteratorArgument ? $factories->getValues() : [] as $factory) {
            if ($factory instanceof Reference && in_array(substr((string) $factory, strlen(self::PREFIX)), $names, true)) {
                return true;
            }
        }

        return false;
    }
}
