<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use function TokenBucket\status;

/** Checks a file of limits as a worker would read it. */
final class Limits implements Command
{
    public static function options(): array
    {
        return [];
    }

    public static function notes(): string
    {
        return "Prints the limits of the file, or its first mistake.\nExit code 1: the file has a mistake, and no worker would take it.";
    }

    public function run(Arguments $arguments): int
    {
        [$action, $file] = $arguments->operands + ['', null];
        if ($action !== 'check' || $file === null || count($arguments->operands) > 2) {
            throw new UsageError('limits needs: check FILE');
        }
        $path = realpath($file);
        if ($path === false || !is_file($path)) {
            throw new CommandError('there is no file ' . Text::printable($file));
        }
        Restart::with(['token_bucket.limits' => $path]);
        $status = status();
        $error = $status['limits_file']['error'] ?? null;
        $limits = $status['named_limits'];
        if ($arguments->has('json')) {
            echo Text::json(['file' => $path, 'error' => $error, 'limits' => Text::map($error === null ? $limits : [], 'limited')]);
        } elseif ($error === null) {
            foreach ($limits as $name => $limit) {
                echo sprintf("%-24s %s\n", $name, self::describe($limit));
            }
        } else {
            fwrite(STDERR, Text::lines((string) preg_replace('~^token_bucket\.limits: ~', '', $error)) . "\n");
        }
        return $error === null ? Application::SUCCESS : Application::FAILURE;
    }

    /** @param array<string, mixed> $limit */
    private static function describe(array $limit): string
    {
        foreach (['all' => 'all of ', 'first' => 'the first that accepts of '] as $set => $words) {
            if (isset($limit[$set])) {
                return $words . implode(', ', $limit[$set]);
            }
        }
        return match (true) {
            isset($limit['lifetime']) => "$limit[limit] at once, each for " . Text::duration($limit['lifetime']) . ' at most',
            isset($limit['unit']) => "$limit[limit] in a $limit[unit] of $limit[timezone], $limit[algorithm]",
            default => "$limit[limit] in " . Text::duration($limit['interval']) . ", $limit[algorithm]",
        } . ($limit['enforce'] === false ? ', dry run' : '');
    }
}
