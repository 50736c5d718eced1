<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use TokenBucket\Decision;

/** Tells whether a client's next call would be accepted. */
final class Peek implements Command
{
    public static function options(): array
    {
        return Pool::options();
    }

    public static function notes(): string
    {
        return "For a set, CLIENT is one for all of its limits, or one for each in their order.\nExit code 1: the next call would be denied.";
    }

    public function run(Arguments $arguments): int
    {
        Pool::enter($arguments);
        $named = new NamedLimit($arguments->operands);
        $decision = $named->ask();
        $is_denied = $decision->wouldDeny();
        if ($arguments->has('json')) {
            echo Text::json($decision);
        } else {
            echo "$named->text: ", $is_denied ? self::denial($decision) : "{$decision->getRemainingTokens()} of {$decision->getLimit()} left",
                $is_denied && $decision->isAccepted() ? ' (dry run)' : '', "\n";
        }
        return $is_denied ? Application::FAILURE : Application::SUCCESS;
    }

    private static function denial(Decision $decision): string
    {
        $by = $decision->getDeniedBy();
        $seconds = $decision->getRetryAfter();
        return 'denied' . ($by === [] ? '' : ' by ' . implode(', ', $by)) . ($seconds > 0 ? ', for ' . Text::duration($seconds) : '');
    }
}
