<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** What is blocked, as this host has seen it: each identifier once, however many limits are blocked under it. */
final class Blocks
{
    /**
     * @param array{
     *     blocked: list<array{name: string, identifier: string|null, algorithm: string, enforced: bool, seconds: float}>,
     *     named_limits: array<int|string, array<string, mixed>>,
     *     ...
     * } $status
     *
     * @return list<array{limit: string, identifier: string|null, in_code: bool, enforced: bool, seconds: float}> the block that ends last first
     */
    public static function of(array $status): array
    {
        $blocks = [];
        foreach ($status['blocked'] as $block) {
            $key = self::key($block['name'], $block['identifier'] ?? "\0" . count($blocks));
            $blocks[$key] ??= ['limit' => $block['name'], 'identifier' => $block['identifier'], 'in_code' => true, 'enforced' => false, 'seconds' => $block['seconds']];
            $blocks[$key]['enforced'] = $blocks[$key]['enforced'] || $block['enforced'];
            $blocks[$key]['in_code'] = $blocks[$key]['in_code'] && !self::isOfNamedLimit($status, $block);
        }
        return array_values($blocks);
    }

    /** The same for one identifier of one limit. */
    public static function key(string $limit, string $identifier): string
    {
        return "$limit\0$identifier";
    }

    /**
     * Whether the block is one of a limit of the file. A limit in code may have its name, under another algorithm.
     *
     * @param array{named_limits: array<int|string, array<string, mixed>>, ...} $status
     * @param array{name: string, identifier: string|null, algorithm: string, ...} $block
     */
    private static function isOfNamedLimit(array $status, array $block): bool
    {
        $algorithm = $status['named_limits'][$block['name']]['algorithm'] ?? '';
        return Identifier::withState($algorithm) === $block['algorithm'] && str_starts_with($block['identifier'] ?? '', "$block[name]:");
    }
}
