<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** The php-fpm pool whose limits a command is about: its user, whose shared memory it is, and its directives, also those of php-fpm's php.ini. */
final class Pool
{
    private const DIRECTIVE_PREFIX = 'token_bucket.';
    /** Directives that only php.ini or a pool may set. */
    private const OF_PHP_INI = ['token_bucket.limits', 'token_bucket.shm_path', 'token_bucket.shm_size', 'token_bucket.test_clock'];

    /**
     * @param string                $file       '': none
     * @param array<string, string> $directives
     * @param array<string, string> $origins    the file of each directive
     */
    private function __construct(
        public readonly string $file,
        public readonly string $name,
        public readonly ?string $user,
        public readonly array $directives,
        private array $origins,
    ) {
    }

    /** @return list<Option> */
    public static function options(): array
    {
        return [
            new Option('pool', 'FILE', "Take user and directives from a php-fpm pool, and php.ini"),
            new Option('user', 'NAME', 'Or the user alone, of a pool without directives'),
        ];
    }

    /**
     * Makes this process one of the pool's user, with the pool's directives.
     *
     * @throws UsageError if an option is wrong, or root names no user
     * @throws CommandError if the file cannot be read, or this process may not become the user
     */
    public static function enter(Arguments $arguments): void
    {
        $file = $arguments->value('pool');
        $pool = $file === null ? new self('', '', null, [], []) : self::read($file);
        Restart::with(array_intersect_key($pool->directives, array_flip(self::OF_PHP_INI)));
        foreach (array_diff_key($pool->directives, array_flip(self::OF_PHP_INI)) as $name => $value) {
            self::set($pool->origins[$name], $name, $value);
        }
        self::become($arguments->value('user') ?? $pool->user);
    }

    /** @throws CommandError with what PHP says of a misspelt name or a value that is not valid */
    private static function set(string $file, string $name, string $value): void
    {
        error_clear_last();
        if (@ini_set($name, $value) !== false) {
            return;
        }
        $known = array_map(static fn (string $known): string => substr($known, strlen(self::DIRECTIVE_PREFIX)), array_keys(ini_get_all('token_bucket') ?: []));
        $mistake = ini_get($name) === false
            ? "$name is not a directive and has no effect" . Suggestion::among(substr($name, strlen(self::DIRECTIVE_PREFIX)), $known, self::DIRECTIVE_PREFIX)
            : preg_replace('~^ini_set\(\): ~', '', error_get_last()['message'] ?? "$name has no valid value");
        throw new CommandError(Text::printable($file) . ": $mistake");
    }

    private static function read(string $file): self
    {
        $pools = self::in($file);
        if ($pools === null) {
            throw new CommandError('--pool must name a readable file such as /etc/php/8.2/fpm/pool.d/www.conf; this one is not: ' . Text::printable($file));
        }
        if (count($pools) !== 1) {
            $names = Text::printable(implode(', ', array_column($pools, 'name')));
            throw new CommandError('--pool must name a file with one pool; ' . Text::printable($file) . ($pools === [] ? ' has none' : " has $names"));
        }
        return $pools[0];
    }

    /**
     * The pools of the php-fpm masters on this host, as their files are now.
     *
     * @return list<self>
     */
    public static function running(): array
    {
        $pools = $match = $includes = [];
        foreach (glob('/proc/[0-9]*/cmdline') ?: [] as $process) {
            // Anybody can call a process so. What this command recommends to root must be root's.
            if (preg_match('~^php-fpm: master process \((/.+?)\)~', (string) @file_get_contents($process), $match) !== 1 || !self::isTrusted(dirname($process))) {
                continue;
            }
            preg_match_all('~^\s*include\s*=\s*"?(/[^";\r\n]+)~m', (string) IniFile::read($match[1]), $includes);
            foreach ([$match[1], ...array_merge(...array_map(static fn (string $files): array => glob(trim($files)) ?: [], $includes[1]))] as $file) {
                try {
                    $in_file = self::in($file) ?? [];
                } catch (CommandError) {
                    // --pool names the mistake in php-fpm's php.ini.
                    continue;
                }
                // --pool takes a file with one pool.
                array_push($pools, ...(count($in_file) === 1 ? $in_file : []));
            }
        }
        return $pools;
    }

    /** Whether a process is root's, or of this user. */
    private static function isTrusted(string $process): bool
    {
        // The owner of its files in /proc says less: it is root's for every process that cannot be dumped.
        $is_told = preg_match('~^Uid:\s+\d+\s+(\d+)~m', (string) @file_get_contents("$process/status"), $match) === 1;
        return $is_told && in_array((int) $match[1], [0, posix_geteuid()], true);
    }

    /**
     * @return list<self>|null the pools of a file; null if it cannot be read
     *
     * @throws CommandError if php-fpm's php.ini cannot be read
     */
    private static function in(string $file): ?array
    {
        $text = IniFile::read($file);
        $sections = $text === null ? false : @parse_ini_string($text, true, INI_SCANNER_RAW);
        if ($sections === false) {
            return null;
        }
        $pools = array_diff_key(array_filter($sections, 'is_array'), ['global' => true]);
        $of_php_ini = $pools === [] ? [] : PhpIni::ofPool($file, self::DIRECTIVE_PREFIX);
        return array_map(static fn (int|string $name, array $pool): self => self::of($file, (string) $name, $pool, $of_php_ini), array_keys($pools), $pools);
    }

    /**
     * @param array<string, mixed>                 $pool
     * @param array<string, array<string, string>> $of_php_ini the directives that the pool's own override, by their files
     */
    private static function of(string $file, string $name, array $pool, array $of_php_ini): self
    {
        // php-fpm puts the pool's name in the place of $pool in every value.
        $expand = static fn (mixed $value): string => is_string($value) ? str_replace('$pool', $name, $value) : '';
        $own = [];
        foreach (['php_value', 'php_flag', 'php_admin_value', 'php_admin_flag'] as $key) {
            foreach (is_array($pool[$key] ?? null) ? $pool[$key] : [] as $directive => $value) {
                if (str_starts_with((string) $directive, self::DIRECTIVE_PREFIX)) {
                    $own[$directive] = $expand($value);
                }
            }
        }
        $directives = $origins = [];
        foreach ([...$of_php_ini, $file => $own] as $origin => $values) {
            $directives = array_replace($directives, $values);
            $origins = array_replace($origins, array_fill_keys(array_keys($values), (string) $origin));
        }
        return new self($file, $name, isset($pool['user']) ? $expand($pool['user']) : null, $directives, $origins);
    }

    private static function become(?string $name): void
    {
        if (!extension_loaded('posix')) {
            throw new CommandError("this command needs PHP's extension posix");
        }
        $own = posix_getpwuid(posix_geteuid());
        if ($name === null) {
            if (posix_geteuid() === 0) {
                throw new UsageError("this command runs as root, but the limits belong to the user that PHP runs as: name the pool's file, as in --pool /etc/php/8.2/fpm/pool.d/www.conf,\n"
                    . "or the user, as in --user www-data. If PHP runs as root, write --user root");
            }
            return;
        }
        if ($own !== false && $own['name'] === $name) {
            return;
        }
        $user = posix_getpwnam($name);
        if ($user === false) {
            throw new UsageError('--user must name a user of this system; there is no ' . Text::printable($name));
        }
        if (posix_geteuid() !== 0) {
            throw new CommandError("only root may run as $name: sudo token-bucket ...");
        }
        if (!posix_initgroups($name, $user['gid']) || !posix_setgid($user['gid']) || !posix_setuid($user['uid'])) {
            throw new CommandError("cannot run as $name: " . posix_strerror(posix_get_last_error()));
        }
    }
}
