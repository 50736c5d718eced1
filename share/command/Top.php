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
        return "NAME lists those of one limit. The counts are halved once an hour.\nA named limit on this host also tells for how long a client is limited now.";
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
        if ($only !== null && !isset($status['limits'][$only])) {
            throw new CommandError('no call was counted for ' . Text::printable($only) . Suggestion::among($only, array_map('strval', array_keys($status['limits']))));
        }
        $rows = [];
        foreach ($only === null ? $status['limits'] : [$only => $status['limits'][$only]] as $name => $limit) {
            foreach ($limit['most_denied'] as $identifier => $denied) {
                $client = str_starts_with((string) $identifier, "$name:") ? substr((string) $identifier, strlen((string) $name) + 1) : (string) $identifier;
                $rows[] = [
                    'limit' => (string) $name,
                    'client' => $client,
                    'denied' => $denied,
                    'limited_seconds' => $status['named_limits'][$name]['limited'][$client] ?? null,
                ];
            }
        }
        usort($rows, static fn (array $a, array $b): int => $b['denied'] <=> $a['denied']);
        $rows = array_slice($rows, 0, $count);
        if ($arguments->has('json')) {
            echo Text::json($rows);
            return Application::SUCCESS;
        }
        if ($rows === []) {
            echo "No client was denied.\n";
        }
        foreach ($rows as $row) {
            $now = $row['limited_seconds'] === null ? '' : 'limited for ' . Text::duration($row['limited_seconds']);
            echo rtrim(sprintf('%9d  %-16s %-40s %s', $row['denied'], Text::printable($row['limit'], 16), Text::printable($row['client'], 40), $now)), "\n";
        }
        return Application::SUCCESS;
    }
}
