<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use function TokenBucket\denials;
use function TokenBucket\status;

/** Tells which calls were denied lately, and why. */
final class Denials implements Command
{
    private const REASONS = ['empty' => 'used up', 'blocked' => 'blocked', 'no_room' => 'no slot was free', 'outage' => 'denied by on_error'];
    private const DECIDERS = [
        'store' => '',
        'deny_cache' => ', remembered from an earlier denial',
        'fallback' => ', decided by this host because the server failed',
        'on_error' => ' because the server failed',
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
        return "The latest first. NAME is a limit or a set, and may be left out. CLIENT is an\n"
            . "identifier, or its part after the first colon, or the beginning of either up to\n"
            . "a space or a colon: 192.0.2.1 also finds \"login:192.0.2.1 anna\".\n"
            . "A line is of one client and cause, until ten minutes pass without a denial.";
    }

    public function run(Arguments $arguments): int
    {
        $count = $arguments->integer('count', 20, 1, 10_000);
        if (count($arguments->operands) > 2) {
            throw new UsageError('denials takes a NAME, a CLIENT, a NAME and a CLIENT, or none');
        }
        Pool::enter($arguments);
        [$names, $client] = self::sought($arguments);
        $denials = self::of($names, $client);
        if ($denials === []) {
            Elsewhere::warn($arguments);
        }
        if ($arguments->has('json')) {
            echo Text::json(array_slice($denials, 0, $count));
            return Application::SUCCESS;
        }
        foreach (array_slice($denials, 0, $count) as $denial) {
            echo self::line($denial), "\n";
        }
        echo $denials === [] ? self::nothing($names, $client) : '';
        return Application::SUCCESS;
    }

    /**
     * A word alone is a client if no limit has that name.
     *
     * @return array{list<string>|null, string|null} the limits' names and the client, null: all
     */
    private static function sought(Arguments $arguments): array
    {
        [$word, $client] = $arguments->operands + [null, null];
        if ($word === null) {
            return [null, null];
        }
        $status = status();
        if ($client === null && !NamedLimit::isKnown($status, $word)) {
            $client = Client::read($word, 'CLIENT', true);
            if (($suggestion = Suggestion::nearest($word, NamedLimit::names($status))) !== null && self::of(null, $client) === []) {
                throw new CommandError('no limit and no denied client is ' . Text::printable($word) . "; did you mean $suggestion?");
            }
            return [null, $client];
        }
        return [NamedLimit::counted($status, $word, $arguments), $client === null ? null : Client::read($client, 'CLIENT', true)];
    }

    /**
     * @param list<string>|null $names
     *
     * @return list<array<string, mixed>> the latest first
     */
    private static function of(?array $names, ?string $client): array
    {
        $denials = [];
        foreach ($names ?? [null] as $name) {
            // denials() looks behind the limit's own name. The application may begin identifiers with another word.
            $others = $client === null ? [] : array_filter(denials($name), static fn (array $denial): bool => Client::isOf((string) $denial['identifier'], $client));
            foreach ([...denials($name, $client), ...$others] as $denial) {
                $denials[serialize($denial)] = $denial;
            }
        }
        usort($denials, static fn (array $a, array $b): int => $b['last_at'] <=> $a['last_at']);
        return $denials;
    }

    /**
     * Says what was searched.
     *
     * @param list<string>|null $names
     */
    private static function nothing(?array $names, ?string $client): string
    {
        $all = denials();
        $limits = $names === null ? '' : ' by ' . implode(' or ', array_map([Text::class, 'printable'], $names));
        $of = $client === null ? '' : ' of ' . Text::identifier($client);
        $log = $all === [] ? 'the log is empty' : 'the log has ' . (count($all) === 1 ? 'one entry' : number_format(count($all)) . ' entries')
            . ' since ' . gmdate('Y-m-d H:i:s', (int) min(array_column($all, 'first_at'))) . ' UTC';
        $elsewhere = $client === null || $names === null ? [] : array_unique(array_column(self::of(null, $client), 'name'));
        $unknown = $client === null || $names !== null || filter_var($client, FILTER_VALIDATE_IP) !== false ? '' : 'No limit is called ' . Text::identifier($client) . '. ';
        return "{$unknown}No call$of was denied$limits: under the prefix \"" . Text::printable((string) ini_get('token_bucket.prefix')) . "\" $log.\n"
            . ($elsewhere === [] ? '' : 'Other limits have denied the client: ' . implode(', ', array_map([Text::class, 'printable'], $elsewhere)) . ".\n");
    }

    /** @param array<string, mixed> $denial */
    private static function line(array $denial): string
    {
        return sprintf(
            '%s UTC  %-16s %-40s %s%s: %s%s',
            gmdate('Y-m-d H:i:s', (int) $denial['last_at']),
            NamedLimit::label($denial['name']),
            $denial['identifier'] === null ? '(not kept)' : Text::identifier($denial['identifier']),
            $denial['count'] === 1 ? 'once' : number_format($denial['count']) . ' times',
            self::since($denial),
            self::cause($denial),
            $denial['enforced'] ? '' : '; accepted because it is a dry run',
        );
    }

    /**
     * When the first one was, of several.
     *
     * @param array<string, mixed> $denial
     */
    public static function since(array $denial): string
    {
        [$first, $last] = [(int) $denial['first_at'], (int) $denial['last_at']];
        return $denial['count'] === 1 ? '' : ' since ' . gmdate(intdiv($first, 86_400) === intdiv($last, 86_400) ? 'H:i:s' : 'Y-m-d H:i:s', $first);
    }

    /**
     * The limit, and why it denies.
     *
     * @param array<string, mixed> $denial
     */
    public static function cause(array $denial): string
    {
        return number_format($denial['limit']) . ($denial['interval'] === null ? ' at once' : ' in ' . Text::duration($denial['interval']))
            . ', ' . self::REASONS[$denial['reason']] . self::DECIDERS[$denial['decided_by']];
    }
}
