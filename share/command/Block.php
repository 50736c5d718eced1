<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** Denies every call of a client for some time. */
final class Block implements Command
{
    public static function options(): array
    {
        return Target::options();
    }

    public static function notes(): string
    {
        return "TIME is in seconds, or with a unit: 30s, 15m, 2h, 1d.\nA set blocks the client in each of its limits. token-bucket unblock lifts it.\nExit code 1: the file of limits exempts the client.\n" . Target::NOTES;
    }

    public function run(Arguments $arguments): int
    {
        $words = $arguments->operands;
        $missing = array_slice($arguments->has('identifier') ? ['TIME'] : ['NAME', 'CLIENT', 'TIME'], count($words));
        if ($missing !== []) {
            $after = $words === [] ? '' : ' after "' . Text::printable(implode(' ', $words)) . '"';
            throw new UsageError(Text::listed($missing, 'and') . (isset($missing[1]) ? ' are' : ' is') . " missing$after: block needs NAME CLIENT TIME, or --identifier ID TIME");
        }
        $seconds = Duration::seconds((string) array_pop($words));
        Pool::enter($arguments);
        $target = Target::from($arguments, $words);
        $ignored = implode(', ', $target->exemptions());
        try {
            $was_stored = $target->block($seconds);
        } catch (\ValueError $error) {
            throw new UsageError((string) preg_replace('~^.*?\(\$seconds\) ~', 'TIME ', $error->getMessage()));
        }
        echo $arguments->has('json')
            ? Text::json(['blocked' => $target->text(), 'seconds' => $seconds, 'others' => $target->others()])
            : "{$target->text()}: blocked for " . Text::duration($seconds) . "\n" . State::warning($target->others());
        if ($ignored !== '') {
            fwrite(STDERR, "token-bucket: the client stays exempt, $ignored\n");
        }
        foreach ($target->clients() as $client) {
            $doubt = Client::doubt($client, $arguments->has('network'));
            fwrite(STDERR, $doubt === null ? '' : "token-bucket: $doubt\n");
        }
        if (!$was_stored) {
            Elsewhere::warn($arguments);
        }
        return Application::SUCCESS;
    }
}
