<?php

declare(strict_types=1);

namespace TokenBucket\Symfony\DependencyInjection;

use Symfony\Component\Config\Definition\Builder\TreeBuilder;
use Symfony\Component\Config\Definition\ConfigurationInterface;

/** The options of the bundle, all of which may be left out. */
final class Configuration implements ConfigurationInterface
{
    /** @return TreeBuilder<'array'> */
    public function getConfigTreeBuilder(): TreeBuilder
    {
        $tree = new TreeBuilder('token_bucket');
        $root = $tree->getRootNode();
        $root->children()
            ->scalarNode('storage')
                ->info('The DSN of the storage, such as redis://10.0.0.5. Null: the directive token_bucket.storage of php.ini')
                ->defaultNull();
        $root->children()
            ->scalarNode('application')
                ->info('Keeps limits apart from those of other applications in the same storage. Null: made of framework.secret')
                ->defaultNull();
        $root->children()
            ->arrayNode('storages')
                ->info('A DSN for some limiters, by their names')
                ->useAttributeAsKey('name')
                ->normalizeKeys(false)
                ->scalarPrototype();
        $root->children()
            ->arrayNode('left_to_symfony')
                ->info('The names of limiters of framework.rate_limiter that Symfony shall decide as before')
                ->scalarPrototype();
        $root->children()
            ->arrayNode('except')
                ->info('Networks and addresses of clients that no limiter of this package limits, such as 10.0.0.0/8')
                ->scalarPrototype();

        return $tree;
    }
}
