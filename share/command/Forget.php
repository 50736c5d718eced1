<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use function TokenBucket\forget_server;
use function TokenBucket\status;

/** Leaves a server out of the status until a call needs it. */
final class Forget implements Command
{
    public static function options(): array
    {
        return Pool::options();
    }

    public static function notes(): string
    {
        return "SERVER is its name in token-bucket status, such as Redis at 10.0.0.1:6379.\nA server that is still in use comes back with the next call.";
    }

    public function run(Arguments $arguments): int
    {
        // The names have spaces.
        $server = $arguments->operands === [] ? throw new UsageError('forget needs SERVER') : implode(' ', $arguments->operands);
        Pool::enter($arguments);
        if (!forget_server($server)) {
            throw new CommandError('there is no server ' . Text::printable($server) . Suggestion::among($server, array_column(status()['servers'], 'name')));
        }
        echo $arguments->has('json') ? Text::json(['forgot' => $server]) : Text::printable($server) . ": forgotten\n";
        return Application::SUCCESS;
    }
}
