<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** Starts this command again with other values of directives that no script can set. */
final class Restart
{
    private const MARK = 'TOKEN_BUCKET_RESTARTED';

    /**
     * Returns where they have these values already.
     *
     * @param array<string, string> $directives no secrets: others see them in the list of processes
     *
     * @throws CommandError if PHP cannot be started again
     */
    public static function with(array $directives): void
    {
        $missing = array_filter($directives, static fn (string $value, string $name): bool => ini_get($name) !== $value, ARRAY_FILTER_USE_BOTH);
        $was_restarted = getenv(self::MARK) !== false;
        putenv(self::MARK);
        if ($missing === []) {
            return;
        }
        $options = self::options($directives);
        if (!$was_restarted && PHP_BINARY !== '' && function_exists('pcntl_exec')) {
            // The last of two -d counts, so these stand right before the script.
            pcntl_exec(PHP_BINARY, [...self::phpWords(), ...$options, ...$_SERVER['argv']], [...getenv(), self::MARK => '1']);
        }
        throw new CommandError("cannot start PHP again with other directives; start it so:\n    php " . implode(' ', array_map('escapeshellarg', $options))
            . ' ' . Text::printable($_SERVER['argv'][0]) . ' ...');
    }

    /**
     * @param array<string, string> $directives
     *
     * @return list<string> the words that give a PHP these directives
     *
     * @throws CommandError if a value would end its line: what follows would be another directive; or if PHP would put a variable in
     */
    public static function options(array $directives): array
    {
        $options = [];
        foreach ($directives as $name => $value) {
            if (preg_match('~[\x00-\x1f\x7f]|\$\{~', $value) === 1) {
                throw new CommandError("$name must not have control characters or \${; it is \"" . Text::printable($value) . '"');
            }
            array_push($options, '-d', $name . '="' . addcslashes($value, '"\\') . '"');
        }
        return $options;
    }

    /** @return list<string> the words of this process that are PHP's, such as -d extension=...; $argv has those of the script */
    public static function phpWords(): array
    {
        $words = explode("\0", substr((string) @file_get_contents('/proc/self/cmdline'), 0, -1));
        return array_slice($words, 1, -count($_SERVER['argv']));
    }
}
