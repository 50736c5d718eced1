<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use function TokenBucket\status;

/** Lifts the block of a client. */
final class Unblock implements Command
{
    public static function options(): array
    {
        return Target::options();
    }

    public static function notes(): string
    {
        return "A blocked limit is full again; a client that is not blocked keeps its counts.\n"
            . "For a set, CLIENT is one for all of its limits, or one for each in their order.\n" . Target::NOTES;
    }

    public function run(Arguments $arguments): int
    {
        Pool::enter($arguments);
        $target = Target::from($arguments, $arguments->operands);
        $seconds = $target->unblock();
        $others = $target->others();
        $denied = $seconds === null ? $target->deniedSeconds() : 0.0;
        if ($arguments->has('json')) {
            echo Text::json(['unblocked' => $target->text(), 'was_blocked' => $seconds !== null, 'seconds' => $seconds, 'others' => $others]);
        } else {
            $answer = match (true) {
                $seconds !== null => 'unblocked, ' . Text::duration($seconds) . " before the block's end",
                $denied > 0 => 'was not blocked, but is denied for ' . Text::duration($denied) . ': token-bucket reset forgets its calls',
                default => 'was not blocked',
            };
            echo "{$target->text()}: $answer\n", State::warning($others);
        }
        $still = array_intersect($target->identifiers(), array_column(status()['blocked'], 'identifier'));
        if ($still !== [] && $others === []) {
            fwrite(STDERR, 'token-bucket: ' . Text::identifier(reset($still)) . " is blocked by a limit in code, on another storage: name it by --identifier and --storage\n");
        }
        if ($seconds === null) {
            Elsewhere::warn($arguments);
        }
        return Application::SUCCESS;
    }
}
