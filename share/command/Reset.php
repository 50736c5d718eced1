<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** Forgets the calls of a client, and lifts its block. */
final class Reset implements Command
{
    public static function options(): array
    {
        return Target::options();
    }

    public static function notes(): string
    {
        return "For a set, CLIENT is one for all of its limits, or one for each in their order.\n" . Target::NOTES
            . "\n--algorithm concurrency frees the permits of a ConcurrencyLimit, also held ones.";
    }

    public function run(Arguments $arguments): int
    {
        Pool::enter($arguments);
        $target = Target::from($arguments, $arguments->operands);
        $was_stored = $target->reset();
        echo $arguments->has('json')
            ? Text::json(['reset' => $target->text(), 'stored' => $was_stored, 'others' => $target->others()])
            : $target->text() . ($was_stored ? ": reset\n" : ": nothing was stored\n") . State::warning($target->others());
        if (!$was_stored) {
            Elsewhere::warn($arguments);
        }
        return Application::SUCCESS;
    }
}
