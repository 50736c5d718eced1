<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use function TokenBucket\status;

/** Lists the clients that are denied most. */
final class Top implements Command
{
    public static function options(): array
    {
        return [
            new Option('count', 'N', 'How many to list (20)'),
            ...Pool::options(),
        ];
    }

    public static function notes(): string
    {
        return "NAME lists the clients of one limit or set. The first column says how often the\n"
            . "client was denied. This count is halved for each hour since the last denial.\n"
            . "Clients that this host has blocked follow, also if they were never denied.\n"
            . "For a named limit in shared memory, the list says how long a client is limited\n"
            . "now. For a limit in code, it has the whole identifier.";
    }

    public function run(Arguments $arguments): int
    {
        $count = $arguments->integer('count', 20, 1, 10_000);
        if (count($arguments->operands) > 1) {
            throw new UsageError('top takes one NAME, or none');
        }
        $only = $arguments->operands[0] ?? null;
        Pool::enter($arguments);
        $status = status();
        $names = $only === null ? null : NamedLimit::counted($status, $only, $arguments);
        $is_wanted = static fn (string $name): bool => $names === null || in_array($name, $names, true);
        $blocks = [];
        foreach (Blocks::of($status) as $block) {
            if ($is_wanted($block['limit']) && $block['identifier'] !== null) {
                $blocks[Blocks::key($block['limit'], $block['identifier'])] = $block;
            }
        }
        $rows = [];
        foreach ($status['limits'] as $name => $limit) {
            foreach ($is_wanted((string) $name) ? $limit['most_denied'] : [] as $identifier => $denied) {
                $key = Blocks::key((string) $name, (string) $identifier);
                $rows[$key] = self::row($status, (string) $name, (string) $identifier, $denied, $blocks[$key] ?? null);
            }
        }
        uasort($rows, static fn (array $a, array $b): int => $b['denied'] <=> $a['denied']);
        $rows = array_slice($rows, 0, $count, true);
        foreach (array_slice(array_diff_key($blocks, $rows), 0, $count) as $key => $block) {
            $denied = $status['limits'][$block['limit']]['most_denied'][$block['identifier']] ?? 0;
            $rows[$key] = self::row($status, $block['limit'], $block['identifier'], $denied, $block);
        }
        $rows = array_values($rows);
        if ($rows === []) {
            Elsewhere::warn($arguments);
        }
        if ($arguments->has('json')) {
            echo Text::json($rows);
            return Application::SUCCESS;
        }
        if ($rows === []) {
            echo "No client was denied, and none is blocked.\n";
        }
        foreach ($rows as $row) {
            $now = match (true) {
                $row['blocked_seconds'] !== null => 'blocked for ' . Text::duration($row['blocked_seconds']),
                $row['limited_seconds'] !== null => 'limited for ' . Text::duration($row['limited_seconds']),
                default => '',
            };
            $now .= $row['terms'] === null ? '' : ($now === '' ? '' : ', ') . $row['terms'];
            echo rtrim(sprintf('%9d  %-16s %-40s %s', $row['denied'], $row['limit'], $row[$row['in_code'] ? 'identifier' : 'client'], $now)), "\n";
        }
        return Application::SUCCESS;
    }

    /**
     * @param array{named_limits: array<string, array{limited?: array<int|string, float>|null, ...}>, ...} $status
     * @param array{in_code: bool, seconds: float, ...}|null $block
     *
     * @return array<string, mixed>
     */
    private static function row(array $status, string $name, string $identifier, int $denied, ?array $block): array
    {
        $client = str_starts_with($identifier, "$name:") ? substr($identifier, strlen($name) + 1) : $identifier;
        $in_code = $block['in_code'] ?? ($client === $identifier || !NamedLimit::isCounted($status, $name));
        return [
            'limit' => Text::identifier($name),
            'client' => Text::identifier($client),
            'identifier' => Text::identifier($identifier),
            'in_code' => $in_code,
            'denied' => $denied,
            'limited_seconds' => $status['named_limits'][$name]['limited'][$client] ?? null,
            'blocked_seconds' => $block['seconds'] ?? null,
            'terms' => $in_code ? null : ClientTerms::of($name, $client)?->text(),
        ];
    }
}
