<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use TokenBucket\Decision;

/** Tells whether a client's next call would be accepted. */
final class Peek implements Command
{
    public static function options(): array
    {
        return [
            new Option('limit', 'N', 'With --interval: the numbers of a limit in code'),
            new Option('interval', 'N', 'In which so many come back'),
            ...Target::options(),
        ];
    }

    public static function notes(): string
    {
        return "For a set, CLIENT is one for all of its limits, or one for each in their order.\n" . Target::NOTES
            . "\nWithout --limit it shows what is stored under ID.\nExit code 1: the next call would be denied, a limit in code is blocked, or the\nserver does not answer.";
    }

    public function run(Arguments $arguments): int
    {
        $limit = $arguments->has('limit') || $arguments->has('interval') ? $arguments->integer('limit', 0, 1, PHP_INT_MAX) : null;
        $interval = $arguments->value('interval');
        if ($limit !== null && !is_numeric($interval)) {
            throw new UsageError('--interval must be a number; it is "' . Text::printable((string) $interval) . '"');
        }
        Pool::enter($arguments);
        $target = Target::from($arguments, $arguments->operands);
        if ($target instanceof Identifier && $limit === null) {
            return self::showStates($target, $arguments);
        }
        $decision = $target instanceof Identifier ? $target->decision($limit, (float) $interval) : $target->ask();
        $others = $target->others();
        $terms = array_map(static fn (ClientTerms $of): string => $of->line(), $target->terms());
        $is_denied = $decision->wouldDeny();
        if ($arguments->has('json')) {
            echo Text::json($decision->jsonSerialize() + ['terms' => $terms, 'others' => $others]);
        } else {
            echo $target->text(), ': ', self::answer($decision), "\n", implode('', array_map(static fn (string $line): string => "$line\n", $terms)), State::warning($others);
        }
        if (!$decision->isExempt() && !$target->isStored()) {
            Elsewhere::warn($arguments);
        }
        return $is_denied || State::isAnyBlocked($others) ? Application::FAILURE : Application::SUCCESS;
    }

    private static function showStates(Identifier $identifier, Arguments $arguments): int
    {
        $states = $identifier->states();
        $permits = $identifier->heldPermits();
        if ($arguments->has('json')) {
            echo Text::json(['identifier' => $identifier->text(), 'states' => $states] + ($permits === null ? [] : ['permits' => $permits]));
        } elseif ($permits !== null) {
            echo $identifier->text(), ": $permits permits are held\n";
        } else {
            echo $states === [] ? $identifier->text() . ": nothing is stored, no call counts\n" : '',
                implode('', array_map(static fn (State $state): string => $state->text() . "\n", $states));
        }
        if ($states === [] && ($permits ?? 0) === 0) {
            Elsewhere::warn($arguments);
        }
        return State::isAnyBlocked($states) ? Application::FAILURE : Application::SUCCESS;
    }

    public static function answer(Decision $decision): string
    {
        return match (true) {
            $decision->isExempt() => 'exempt',
            !$decision->wouldDeny() => "{$decision->getRemainingTokens()} of {$decision->getLimit()} left",
            default => self::denial($decision) . ($decision->isAccepted() ? ' (dry run)' : ''),
        };
    }

    private static function denial(Decision $decision): string
    {
        $by = array_map([Text::class, 'printable'], $decision->getDeniedBy());
        $seconds = $decision->getRetryAfter();
        return 'denied' . ($by === [] ? '' : ' by ' . implode(', ', $by)) . ($seconds > 0 ? ', for ' . Text::duration($seconds) : '');
    }
}
