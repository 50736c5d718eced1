<?php
declare(strict_types=1);

namespace TokenBucket\Command;

use TokenBucket\ConfigurationException;

use function TokenBucket\status;

/** Checks a file of limits as a worker would read it. */
final class Limits implements Command
{
    public static function options(): array
    {
        return [new Option('as-is', null, 'The client is no address, though it looks like one')];
    }

    public static function notes(): string
    {
        return "Prints the limits of the file, or its first mistake; with NAME and CLIENT\nwhich line is about that client alone, in it or in a file of clients.\nWarns if others may change or replace it, or all may read its passwords.\nExit code 1: the file has a mistake, and no worker would take it.";
    }

    public function run(Arguments $arguments): int
    {
        [$action, $file] = $arguments->operands + ['', null];
        if ($action !== 'check' || $file === null || !in_array(count($arguments->operands), [2, 4], true)) {
            throw new UsageError('limits needs: check FILE, or check FILE NAME CLIENT');
        }
        $path = realpath($file);
        if ($path === false || !is_file($path)) {
            throw new CommandError('no such file: ' . Text::printable($file));
        }
        Restart::with(['token_bucket.limits' => $path]);
        $status = status();
        $error = $status['limits_file']['error'] ?? null;
        $limits = $status['named_limits'];
        if ($error === null && count($arguments->operands) === 4) {
            $client = Client::read($arguments->operands[3], 'CLIENT', true);
            $mistake = $arguments->has('as-is') ? null : MistypedAddress::describeForm($client);
            if ($mistake !== null) {
                throw new UsageError("$mistake. " . MistypedAddress::ADVICE);
            }
            return self::showTerms($arguments->operands[2], $client, $arguments->has('json'));
        }
        if ($arguments->has('json')) {
            echo Text::json(['file' => $path, 'error' => $error, 'limits' => Text::map($error === null ? $limits : [], 'limited')]);
        } elseif ($error === null) {
            foreach ($limits as $name => $limit) {
                echo sprintf("%-24s %s\n", $name, self::rule($limit) . (($limit['enforce'] ?? true) ? '' : ', dry run'));
            }
        } else {
            fwrite(STDERR, Text::lines((string) preg_replace('~^token_bucket\.limits: ~', '', $error)) . "\n");
        }
        $files = [$file => $path];
        foreach ($limits as $limit) {
            if (isset($limit['clients'])) {
                $files[$limit['clients']['path']] = $limit['clients']['path'];
            }
        }
        foreach ($files as $named => $checked) {
            foreach (self::risks($checked, (string) $named) as $risk) {
                fwrite(STDERR, Text::printable($checked) . " $risk\n");
            }
        }
        foreach (self::singleAddresses($path) as $address => $network) {
            fwrite(STDERR, Text::printable($path) . " exempts $address, one address: clients that are counted by network, as IPv6 is, are $network\n");
        }
        return $error === null ? Application::SUCCESS : Application::FAILURE;
    }

    /** @return array<string, string> the addresses of IPv6 that `except` names one by one, each with its network */
    private static function singleAddresses(string $path): array
    {
        preg_match_all('~^\s*except\s*=([^;\n]*)~mi', (string) @file_get_contents($path), $lists);
        $clients = preg_split('~[\s,"]+~', implode(' ', $lists[1]), -1, PREG_SPLIT_NO_EMPTY) ?: [];
        $networks = array_map(Network::parse(...), array_combine($clients, $clients));
        $single = array_filter($networks, static fn (?Network $it): bool => $it?->bits === 128);
        return array_map(static fn (Network $it): string => $it->shortened(64)->text(), $single);
    }

    private static function showTerms(string $name, string $client, bool $is_json): int
    {
        $rule = status()['named_limits'][$name] ?? [];
        $lines = [];
        try {
            foreach ($rule['all'] ?? $rule['first'] ?? [$name] as $limit) {
                $lines[$limit] = ClientTerms::of($limit, $client)?->text();
            }
        } catch (ConfigurationException $error) {
            throw new CommandError($error->getMessage());
        }
        if ($is_json) {
            echo Text::json(Text::map($lines));
        } else {
            foreach ($lines as $limit => $line) {
                echo Text::identifier((string) $limit), ' ', Text::identifier($client), ': ', $line ?? 'no line of its own', "\n";
            }
        }
        return Application::SUCCESS;
    }

    /**
     * @param string $path  of the file
     * @param string $named the path that leads to it, perhaps by links
     *
     * @return list<string> who may set the limits, or read a password, by owners and modes
     */
    private static function risks(string $path, string $named): array
    {
        [$mode, $owner] = [(int) fileperms($path), (int) fileowner($path)];
        $has_password = preg_match('~^\s*storage\s*=.*(://[^/\s"]*:[^\s"]*@|[?&]sentinel_password=)~mi', (string) @file_get_contents($path)) === 1;
        $name = function_exists('posix_getpwuid') ? posix_getpwuid($owner)['name'] ?? $owner : $owner;
        $is_own = $owner === 0 || !function_exists('posix_geteuid') || $owner === posix_geteuid();
        // Whoever may write to a folder on the way may put another file there.
        $weakness = FileTrust::weakness($named, [0, function_exists('posix_geteuid') ? posix_geteuid() : $owner]);
        $is_replaceable = $weakness !== null && (is_link($weakness['entry']) || is_dir($weakness['entry']));
        return array_keys(array_filter([
            "belongs to $name, whose programs may change the limits: chown root" => !$is_own,
            'may be written to by others, who set the limits then: chmod go-w' => ($mode & 0o022) !== 0,
            'may be replaced by others, who set the limits then: ' . Text::printable($weakness['entry'] ?? '', 1000) . ' ' . ($weakness['reason'] ?? '') => $is_replaceable,
            'has a password and may be read by every user: chmod o-r' => $has_password && ($mode & 0o004) !== 0,
        ]));
    }

    /** @param array{except?: int|null, clients?: array{path: string, count: int}|null, ...} $limit */
    private static function exceptions(array $limit): string
    {
        $except = isset($limit['except']) ? ", except $limit[except]" : '';
        return $except . (!isset($limit['clients']) ? '' : ', ' . number_format($limit['clients']['count']) . ($limit['clients']['count'] === 1 ? ' client by ' : ' clients by ') . Text::printable($limit['clients']['path'], 1000));
    }

    /**
     * A limit or a set of the file, but for its dry run and its storage.
     *
     * @param array{except?: int|null, clients?: array{path: string, count: int}|null, ...} $limit
     */
    public static function rule(array $limit): string
    {
        foreach (['all' => 'all of ', 'first' => 'the first that accepts of '] as $set => $words) {
            if (isset($limit[$set])) {
                return $words . implode(', ', $limit[$set]);
            }
        }
        $number = number_format($limit['limit']);
        return match (true) {
            isset($limit['lifetime']) => "$number at once, each for " . Text::duration($limit['lifetime']) . ' at most',
            isset($limit['unit']) => "$number in a $limit[unit] of $limit[timezone], $limit[algorithm]",
            default => "$number in " . Text::duration($limit['interval']) . ", $limit[algorithm]",
        } . ($limit['leave'] === 0 ? '' : ", leaves $limit[leave]") . self::exceptions($limit);
    }
}
