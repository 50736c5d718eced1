<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use TokenBucket\StorageException;

/** The command `token-bucket`: finds the sub-command, shows help, turns errors into messages and exit codes. */
final class Application
{
    public const SUCCESS = 0;
    public const FAILURE = 1;
    public const WRONG_USAGE = 2;

    /** @param array<string, array{class: class-string<Command>, summary: string, usage: string}> $commands */
    public function __construct(private array $commands)
    {
    }

    /** @param list<string> $words the command line without the program's name */
    public function run(array $words): int
    {
        $name = array_shift($words) ?? '';
        try {
            if ($name === 'help' && isset($words[0])) {
                [$name, $words] = [$words[0], ['--help']];
            }
            if (in_array($name, ['', 'help', '--help', '-h'], true)) {
                fwrite($name === '' ? STDERR : STDOUT, $this->overview());
                return $name === '' ? self::WRONG_USAGE : self::SUCCESS;
            }
            if ($name === '--version') {
                echo 'token-bucket ', phpversion('token_bucket') ?: throw new CommandError('the extension token_bucket, which has the version, is not loaded'), "\n";
                return self::SUCCESS;
            }
            if (!isset($this->commands[$name])) {
                throw new UsageError('unknown command ' . Text::printable($name) . Suggestion::among($name, array_keys($this->commands)));
            }
            return $this->runCommand($name, $words);
        } catch (UsageError $error) {
            $help = isset($this->commands[$name]) ? "token-bucket $name --help" : 'token-bucket --help';
            fwrite(STDERR, 'token-bucket: ' . Text::lines($error->getMessage()) . "\nSee: $help\n");
            return self::WRONG_USAGE;
        } catch (CommandError $error) {
            fwrite(STDERR, 'token-bucket: ' . Text::lines($error->getMessage()) . "\n");
            return self::FAILURE;
        }
    }

    /** @param list<string> $words */
    private function runCommand(string $name, array $words): int
    {
        $class = $this->commands[$name]['class'];
        $options = [...$class::options(), new Option('json', null, 'Print JSON, for scripts'), new Option('help', null, 'Show this help')];
        if (array_intersect($words, ['--help', '-h']) !== []) {
            echo $this->help($name, $options, $class::notes());
            return self::SUCCESS;
        }
        $arguments = Arguments::parse($words, $options);
        if (!extension_loaded('token_bucket')) {
            throw new CommandError("the extension token_bucket is not loaded. Enable it in php.ini, or name its file:\n"
                . '    php -d extension=/path/to/token_bucket.so ' . Text::printable($_SERVER['argv'][0]) . " $name ...");
        }
        try {
            return (new $class())->run($arguments);
        } catch (StorageException $error) {
            throw new CommandError($error->getMessage());
        }
    }

    private function overview(): string
    {
        $text = "Usage: token-bucket COMMAND [OPTION...]\n\n";
        foreach ($this->commands as $name => $command) {
            $text .= sprintf("  %-14s %s\n", $name, $command['summary']);
        }
        return $text . "\ntoken-bucket COMMAND --help explains one; --version shows the version.\n"
            . "The command reads the php.ini of the command line; PHPRC=/path names another\nfolder. --pool FILE adds the directives of php-fpm.\n"
            . "Exit codes: 0 it worked, 1 it failed or the answer is no, 2 wrong usage.\n";
    }

    /** @param list<Option> $options */
    private function help(string $name, array $options, string $notes): string
    {
        $text = "Usage: token-bucket {$this->commands[$name]['usage']}\n{$this->commands[$name]['summary']}.\n\n";
        $width = max(array_map(static fn (Option $option): int => strlen($option->synopsis()), $options));
        foreach ($options as $option) {
            $text .= sprintf("  %-{$width}s  %s\n", $option->synopsis(), $option->help);
        }
        return $text . ($notes === '' ? '' : "\n$notes\n");
    }
}
