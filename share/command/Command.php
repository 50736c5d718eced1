<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** A sub-command. Its name, summary and usage are in commands.php. */
interface Command
{
    /**
     * The options it takes besides --json and --help, which every sub-command has.
     *
     * @return list<Option>
     */
    public static function options(): array;

    /** What `--help` says below the options; may be empty. Usage, options and notes fit 80 x 24 together. */
    public static function notes(): string;

    /**
     * Prints its answer to standard output.
     *
     * @return int Application::SUCCESS, or Application::FAILURE where the answer is no
     *
     * @throws UsageError for a mistake in the arguments
     * @throws CommandError for any other failure that a user can understand
     */
    public function run(Arguments $arguments): int;
}
