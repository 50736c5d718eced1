<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use function TokenBucket\status;

/** Shows what the workers of this host count and share. */
final class Status implements Command
{
    /** How many blocks are shown. */
    private const MOST_BLOCKS = 20;

    public static function options(): array
    {
        return Pool::options();
    }

    public static function notes(): string
    {
        return "What needs attention comes first. Exit code 1: shared memory cannot be used, a\nserver does not answer, or the file of limits has a mistake.";
    }

    public function run(Arguments $arguments): int
    {
        if ($arguments->operands !== []) {
            throw new UsageError('status takes no ' . Text::printable($arguments->operands[0]));
        }
        Pool::enter($arguments);
        $status = status();
        $error = $status['limits_file']['error'] ?? null;
        $is_well = $error === null && $status['shared_memory_errors'] === [] && !in_array(false, array_column($status['servers'], 'up'), true);
        if ($arguments->has('json')) {
            $maps = ['limits' => Text::map($status['limits'], 'most_denied'), 'named_limits' => Text::map($status['named_limits'], 'limited')];
            echo Text::json(array_replace($status, $maps));
        } else {
            echo self::attention($status), self::limits($status), self::blocks($status), self::tables($status), self::servers($status);
        }
        if ($status['limits'] === []) {
            Elsewhere::warn($arguments);
        }
        return $is_well ? Application::SUCCESS : Application::FAILURE;
    }

    /** @param array<string, mixed> $status */
    private static function attention(array $status): string
    {
        $lines = array_map(static fn (string $sentence): string => Text::printable($sentence, 1000) . "\n", Attention::of($status));
        return $lines === [] ? '' : implode($lines) . "\n";
    }

    /**
     * @param array{
     *     limits: array<string, array{checked: int, denied: int, would_deny: int, degraded: int, exempt: int, ...}>,
     *     named_limits: array<string, array<string, mixed>>,
     *     ...
     * } $status
     */
    private static function limits(array $status): string
    {
        $width = max([24, ...array_map(static fn (int|string $name): int => strlen(NamedLimit::label((string) $name)), array_keys($status['limits']))]);
        $text = sprintf("%-{$width}s %12s %12s %12s %10s %10s\n", 'limit', 'checked', 'denied', 'would deny', 'degraded', 'exempt');
        foreach ($status['limits'] as $name => $limit) {
            $is_in_code = $status['named_limits'] !== [] && !NamedLimit::isCounted($status, (string) $name);
            $text .= sprintf(
                "%-{$width}s %12s %12s %12s %10s %10s",
                NamedLimit::label((string) $name),
                ...array_map('number_format', [$limit['checked'], $limit['denied'], $limit['would_deny'], $limit['degraded'], $limit['exempt']]),
            ) . ($is_in_code ? "  in code\n" : "\n");
        }
        return $text . ($status['limits'] === [] ? "(nothing was counted yet)\n" : '');
    }

    /**
     * @param array{
     *     blocked: list<array{name: string, identifier: string|null, algorithm: string, enforced: bool, seconds: float}>,
     *     named_limits: array<string, array<string, mixed>>,
     *     ...
     * } $status
     */
    private static function blocks(array $status): string
    {
        $blocks = Blocks::of($status);
        $text = $blocks === [] ? '' : "\nblocked\n";
        foreach (array_slice($blocks, 0, self::MOST_BLOCKS) as $block) {
            $identifier = $block['identifier'] === null ? '(not kept)' : Text::identifier($block['identifier']);
            $terms = $block['in_code'] ? null : ClientTerms::of($block['limit'], substr((string) $block['identifier'], strlen($block['limit']) + 1));
            $text .= sprintf("%-24s %-40s for %s%s\n", NamedLimit::label($block['limit']), $identifier, Text::duration($block['seconds']), $terms === null ? '' : ", {$terms->text()}");
        }
        $more = count($blocks) - self::MOST_BLOCKS;
        return $text . ($more > 0 ? "and $more more: --json has all\n" : '');
    }

    /** @param array{tables: list<array{name: string, holds: string, slots: int, used: int, evictions: int, denied_newcomers: int, ...}>, ...} $status */
    private static function tables(array $status): string
    {
        $text = $status['tables'] === [] ? '' : sprintf("\n%-24s %12s %12s %12s %17s\n", 'table', 'used', 'of', 'evictions', 'newcomers denied');
        foreach ($status['tables'] as $table) {
            $name = $table['name'] . ($table['holds'] === 'permits' ? ', permits' : '');
            $text .= sprintf("%-24s %12s %12s %12s %17s\n", $name, ...array_map('number_format', [$table['used'], $table['slots'], $table['evictions'], $table['denied_newcomers']]));
        }
        return $text;
    }

    /** @param array{servers: list<array{name: string, up: bool, since: float, outages: int, last_failure: string|null, round_trip: float|null, clock_behind: float|null}>, ...} $status */
    private static function servers(array $status): string
    {
        $text = $status['servers'] === [] ? '' : "\nservers\n";
        foreach ($status['servers'] as $server) {
            $reason = $server['up'] ? '' : ': ' . Text::printable((string) $server['last_failure'], 1000);
            $trip = $server['round_trip'] === null ? '' : sprintf(', round trip: %.1f ms', 1_000 * $server['round_trip']);
            $clock = $server['clock_behind'] === null ? '' : sprintf('; this host\'s clock is %.1f s behind another\'s', $server['clock_behind']);
            $text .= sprintf("%-5s for %s, outages: %d%s; %s%s%s\n", $server['up'] ? 'up' : 'DOWN', Text::age($server['since']), $server['outages'], $trip, Text::printable($server['name']), $reason, $clock);
        }
        return $text;
    }
}
