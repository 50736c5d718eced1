<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use function TokenBucket\status;

/** Lists the clients that are denied most. */
final class Top implements Command
{
    /** `most_denied` cuts identifiers at so many bytes: one that long may name no client. */
    private const CUT_AT_BYTES = 96;

    public static function options(): array
    {
        return [
            new Option('count', 'N', 'How many to list (20)'),
            ...Pool::options(),
        ];
    }

    public static function notes(): string
    {
        return "NAME lists those of a limit or set. The counts are halved once an hour.\nA named limit on this host also tells for how long a client is limited now,\none in code, whose whole identifier is listed, for how long it is blocked.";
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
        $limits = $only === null ? $status['limits'] : array_intersect_key($status['limits'], array_flip(NamedLimit::counted($status, $only, $arguments)));
        $rows = [];
        foreach ($limits as $name => $limit) {
            foreach ($limit['most_denied'] as $identifier => $denied) {
                $rows[] = self::row($status, (string) $name, (string) $identifier, $denied);
            }
        }
        usort($rows, static fn (array $a, array $b): int => $b['denied'] <=> $a['denied']);
        $rows = array_slice($rows, 0, $count);
        if ($rows === []) {
            Prefixes::warn($arguments);
        }
        if ($arguments->has('json')) {
            echo Text::json($rows);
            return Application::SUCCESS;
        }
        if ($rows === []) {
            echo "No client was denied.\n";
        }
        foreach ($rows as $row) {
            $now = match (true) {
                $row['limited_seconds'] !== null => 'limited for ' . Text::duration($row['limited_seconds']),
                $row['blocked_seconds'] !== null => 'blocked for ' . Text::duration($row['blocked_seconds']),
                default => '',
            };
            echo rtrim(sprintf('%9d  %-16s %-40s %s', $row['denied'], Text::printable($row['limit'], 16), $row[$row['in_code'] ? 'identifier' : 'client'], $now)), "\n";
        }
        return Application::SUCCESS;
    }

    /**
     * @param array{named_limits: array<string, array{limited?: array<int|string, float>|null, ...}>, ...} $status
     *
     * @return array<string, mixed>
     */
    private static function row(array $status, string $name, string $identifier, int $denied): array
    {
        $client = str_starts_with($identifier, "$name:") ? substr($identifier, strlen($name) + 1) : $identifier;
        $limited = $status['named_limits'][$name]['limited'][$client] ?? null;
        // Nothing tells the numbers of a limit in code; that it is blocked needs none. A server would have to be asked for each.
        $can_ask = $limited === null && strlen($identifier) < self::CUT_AT_BYTES && str_starts_with(ini_get('token_bucket.storage') ?: 'shm:', 'shm:');
        $blocked = $can_ask ? (new Identifier($identifier))->blockedSeconds() : null;
        return [
            'limit' => Text::identifier($name),
            'client' => Text::identifier($client),
            'identifier' => Text::identifier($identifier),
            'in_code' => $blocked !== null || $client === $identifier || !NamedLimit::isCounted($status, $name),
            'denied' => $denied,
            'limited_seconds' => $limited,
            'blocked_seconds' => $blocked,
        ];
    }
}
