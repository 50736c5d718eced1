<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** Makes a client's limit new, and lifts its block. */
final class Reset implements Command
{
    public static function options(): array
    {
        return Pool::options();
    }

    public static function notes(): string
    {
        return 'For a set, CLIENT is one for all of its limits, or one for each in their order.';
    }

    public function run(Arguments $arguments): int
    {
        Pool::enter($arguments);
        $named = new NamedLimit($arguments->operands);
        @$named->limiter->reset();
        $named->ask();
        echo $arguments->has('json') ? Text::json(['reset' => $named->text]) : "$named->text: reset\n";
        return Application::SUCCESS;
    }
}
