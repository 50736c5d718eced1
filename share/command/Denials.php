<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use function TokenBucket\denials;
use function TokenBucket\status;

/** Tells which calls were denied lately, and why. */
final class Denials implements Command
{
    private const REASONS = ['empty' => 'used up', 'blocked' => 'blocked', 'no_room' => 'no slot was free', 'outage' => 'on_error denied'];
    private const DECIDERS = [
        'store' => '',
        'deny_cache' => ', as this host remembered',
        'fallback' => ', by this host in place of the server',
        'on_error' => ', for the server failed',
    ];

    public static function options(): array
    {
        return [
            new Option('count', 'N', 'How many to list (20)'),
            ...Pool::options(),
        ];
    }

    public static function notes(): string
    {
        return "The latest first. NAME is a limit or a set. CLIENT is an identifier, or what\n"
            . "stands in it behind NAME and a colon. A line is of one client and one cause,\nuntil ten minutes pass without a denial.";
    }

    public function run(Arguments $arguments): int
    {
        $count = $arguments->integer('count', 20, 1, 10_000);
        if (count($arguments->operands) > 2) {
            throw new UsageError('denials takes a NAME, a NAME and a CLIENT, or none');
        }
        Pool::enter($arguments);
        [$name, $client] = $arguments->operands + [null, null];
        $client = $client === null ? null : Client::read($client, 'CLIENT', true);
        $names = $name === null ? [null] : NamedLimit::counted(status(), $name, $arguments);
        $denials = array_merge(...array_map(static fn (?string $name): array => denials($name, $client), $names));
        usort($denials, static fn (array $a, array $b): int => $b['last_at'] <=> $a['last_at']);
        $denials = array_slice($denials, 0, $count);
        if ($denials === []) {
            Prefixes::warn($arguments);
        }
        if ($arguments->has('json')) {
            echo Text::json($denials);
            return Application::SUCCESS;
        }
        if ($denials === []) {
            echo "No such call was denied, as far as the log reaches.\n";
        }
        foreach ($denials as $denial) {
            echo self::line($denial), "\n";
        }
        return Application::SUCCESS;
    }

    /** @param array<string, mixed> $denial */
    private static function line(array $denial): string
    {
        [$first, $last] = [(int) $denial['first_at'], (int) $denial['last_at']];
        $since = $denial['count'] === 1 ? '' : ' since ' . gmdate(intdiv($first, 86_400) === intdiv($last, 86_400) ? 'H:i:s' : 'Y-m-d H:i:s', $first);
        $seconds = $denial['interval'] === null ? ' at once' : ' in ' . Text::duration($denial['interval']);
        return sprintf(
            '%s UTC  %-16s %-40s %s%s: %d%s, %s%s%s',
            gmdate('Y-m-d H:i:s', $last),
            Text::printable($denial['name'], 16),
            Text::printable($denial['identifier'] ?? '(not kept)', 40),
            $denial['count'] === 1 ? 'once' : number_format($denial['count']) . ' times',
            $since,
            $denial['limit'],
            $seconds,
            self::REASONS[$denial['reason']],
            self::DECIDERS[$denial['decided_by']],
            $denial['enforced'] ? '' : '; accepted, for it is a dry run',
        );
    }
}
