<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** The php-fpm pool whose limits a command is about: its user, whose shared memory it is, and its directives, also those of php-fpm's php.ini. */
final class Pool
{
    private const DIRECTIVE_PREFIX = 'token_bucket.';
    /** Directives that only php.ini or a pool may set. */
    private const OF_PHP_INI = ['token_bucket.limits', 'token_bucket.shm_path', 'token_bucket.shm_size', 'token_bucket.test_clock'];

    /** How many files are read for the pools of running masters. */
    private const MOST_FILES = 1_000;

    /** Whether this process was root's before it became the pool's user. */
    private static bool $was_root = false;

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
     * Makes this process one of the pool's user, with the pool's directives. It must execute nothing afterwards: a program that a process of
     * that user has begun can be traced by that user, and would have root's environment and terminal.
     *
     * @throws UsageError if an option is wrong, or root names no user
     * @throws CommandError if the file cannot be read, or this process may not become the user
     */
    public static function enter(Arguments $arguments): void
    {
        self::withDirectives($arguments)->become();
    }

    /**
     * Gives this process the pool's directives, and leaves its user as it is.
     *
     * @param array<string, string> $replaced directives that have other values than the pool's
     *
     * @throws UsageError if an option is wrong
     * @throws CommandError if the file cannot be read, or has a wrong directive
     */
    public static function withDirectives(Arguments $arguments, array $replaced = []): self
    {
        [$file, $user] = [$arguments->value('pool'), $arguments->value('user')];
        if (($file ?? $user) !== null && !extension_loaded('posix')) {
            throw self::withoutPosix();
        }
        self::$was_root = function_exists('posix_geteuid') && posix_geteuid() === 0;
        $pool = $file === null ? new self('', '', $user, [], []) : self::read($file, $user);
        $directives = array_replace($pool->directives, $replaced);
        foreach (array_diff_key($pool->directives, $replaced) as $name => $value) {
            if (str_contains($value, '${')) {
                throw new CommandError(Text::printable($pool->origins[$name]) . ": $name has a variable of php-fpm's environment, \${...}, which this command does not know: write its value");
            }
        }
        Restart::with(array_intersect_key($directives, array_flip(self::OF_PHP_INI)));
        foreach (array_diff_key($directives, array_flip(self::OF_PHP_INI)) as $name => $value) {
            self::set($pool->origins[$name] ?? '', $name, $value);
        }
        return $pool;
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

    private static function read(string $file, ?string $user): self
    {
        $pools = self::in($file, self::$was_root ? [0] : null);
        if ($pools === null) {
            throw new CommandError('--pool must name a readable file such as /etc/php/8.2/fpm/pool.d/www.conf; this one is not: ' . Text::printable($file));
        }
        if (count($pools) !== 1) {
            $names = Text::printable(implode(', ', array_column($pools, 'name')));
            throw new CommandError('--pool must name a file with one pool; ' . Text::printable($file) . ($pools === [] ? ' has none' : " has $names"));
        }
        return new self($file, $pools[0]->name, $user ?? $pools[0]->user, $pools[0]->directives, $pools[0]->origins);
    }

    /**
     * The pools of the php-fpm masters on this host, as their files are now.
     *
     * @return list<self>
     */
    public static function running(): array
    {
        // What this command recommends to root must be root's, also when it has become the pool's user.
        $owners = self::$was_root ? [0] : [0, posix_geteuid()];
        $pools = [];
        foreach (array_slice(self::filesOfMasters($owners), 0, self::MOST_FILES) as $file) {
            try {
                $in_file = self::in($file, $owners) ?? [];
            } catch (CommandError) {
                // --pool names the mistake in php-fpm's php.ini, and tells who may change a file.
                continue;
            }
            // --pool takes a file with one pool.
            array_push($pools, ...(count($in_file) === 1 ? $in_file : []));
        }
        return $pools;
    }

    /**
     * @param list<int> $owners
     *
     * @return list<string> the files of the running masters, and those that they include
     */
    private static function filesOfMasters(array $owners): array
    {
        $files = $match = $includes = [];
        foreach (glob('/proc/[0-9]*', GLOB_NOSORT) ?: [] as $process) {
            if (!self::isProcessOf($process, $owners) || preg_match('~^php-fpm: master process \((/.+?)\)~', (string) @file_get_contents("$process/cmdline", length: 8_192), $match) !== 1 || isset($files[$match[1]])) {
                continue;
            }
            $files[$match[1]] = true;
            try {
                preg_match_all('~^\s*include\s*=\s*"?(/[^";\r\n]+)~m', (string) IniFile::read($match[1], $owners), $includes);
            } catch (CommandError) {
                continue;
            }
            foreach ($includes[1] as $pattern) {
                $files += array_fill_keys(array_slice(glob(trim($pattern)) ?: [], 0, self::MOST_FILES), true);
            }
            if (count($files) > self::MOST_FILES) {
                break;
            }
        }
        return array_map(strval(...), array_keys($files));
    }

    /**
     * Whether all user ids of a process are of these users. Anybody can call a process php-fpm, and a set-user-id program begins with its
     * owner's as effective one.
     *
     * @param list<int> $owners
     */
    private static function isProcessOf(string $process, array $owners): bool
    {
        // The owner of its files in /proc says less: it is root's for every process that cannot be dumped.
        $is_told = preg_match('~^Uid:\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)$~m', (string) @file_get_contents("$process/status"), $ids) === 1;
        return $is_told && array_diff(array_map(intval(...), array_slice($ids, 1)), $owners) === [];
    }

    /**
     * @param list<int>|null $owners the users who may change what is read; null: it does not matter
     *
     * @return list<self>|null the pools of a file; null if it cannot be read
     *
     * @throws CommandError if php-fpm's php.ini cannot be read, or other users may change a file
     */
    private static function in(string $file, ?array $owners): ?array
    {
        $text = IniFile::read($file, $owners);
        $sections = $text === null ? false : @parse_ini_string($text, true, INI_SCANNER_RAW);
        if ($sections === false) {
            return null;
        }
        $pools = array_diff_key(array_filter($sections, 'is_array'), ['global' => true]);
        $of_php_ini = $pools === [] ? [] : PhpIni::ofPool($file, self::DIRECTIVE_PREFIX, $owners);
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

    /**
     * Makes this process one of the pool's user: see enter().
     *
     * @throws UsageError if root names no user, or there is no such user
     * @throws CommandError if this process may not become the user
     */
    public function become(): void
    {
        if (!extension_loaded('posix')) {
            throw self::withoutPosix();
        }
        $name = $this->user;
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
        Classes::load();
        if (!posix_initgroups($name, $user['gid']) || !posix_setgid($user['gid']) || !posix_setuid($user['uid'])) {
            throw new CommandError("cannot run as $name: " . posix_strerror(posix_get_last_error()));
        }
    }

    private static function withoutPosix(): CommandError
    {
        return new CommandError("this command needs PHP's extension posix");
    }
}
