<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** Denies every call of a client for some time. */
final class Block implements Command
{
    public static function options(): array
    {
        return Pool::options();
    }

    public static function notes(): string
    {
        return "token-bucket reset NAME CLIENT lifts the block.\nA set blocks the client in each of its limits.";
    }

    public function run(Arguments $arguments): int
    {
        $words = $arguments->operands;
        $seconds = count($words) > 2 ? array_pop($words) : throw new UsageError('block needs NAME CLIENT SECONDS');
        if (!is_numeric($seconds)) {
            throw new UsageError('SECONDS must be a number; it is "' . Text::printable($seconds) . '"');
        }
        Pool::enter($arguments);
        $named = new NamedLimit($words);
        try {
            @$named->limiter->block((float) $seconds);
            $named->ask();
        } catch (\ValueError $error) {
            throw new UsageError(preg_replace('~^.*?\(\$seconds\) ~', 'SECONDS ', $error->getMessage()));
        }
        echo $arguments->has('json')
            ? Text::json(['blocked' => $named->text, 'seconds' => (float) $seconds])
            : "$named->text: blocked for " . Text::duration((float) $seconds) . "\n";
        return Application::SUCCESS;
    }
}
