<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** States in the memory of this process. It is its one shelf, with the methods of a FileShelf. */
final class ArrayStore
{
    private const SWEEP_AT = 1_024;

    /** @var array<string, array{string, int}> states, and when they expire */
    private array $states = [];
    private int $sweepAt = self::SWEEP_AT;
    private bool $isOpen = false;

    public function shelf(string $key): self { return $this; }
    public function name(): string { return spl_object_hash($this); }
    public function open(int $deadline): void { $this->isOpen = $this->isOpen ? throw new Doubt(Doubt::INSIDE) : true; }
    public function close(): void { $this->isOpen = false; }
    public function find(string $key): string { return $this->states[$key][0] ?? ''; }
    public function put(string $key, string $state, int $expiresAt): void { $this->states[$key] = [$state, $expiresAt]; }

    public function prepare(int $now = 0): void
    {
        if (count($this->states) > $this->sweepAt) {
            $this->states = array_filter($this->states, static fn(array $state): bool => $state[1] > $now);
            $this->sweepAt = max(self::SWEEP_AT, 2 * count($this->states));
        }
    }

    public function publish(): void {}

    public function hold(string $permit): mixed { return null; }
    public function isHeld(string $permit): bool { return true; }

    public function forget(string $permit): void {}
    public function tidy(): void {}
}

/** States in files of a folder of the user's own, which all of the user's processes on this host share. */
final class FileStore
{
    /** @var array<string, FileShelf> those that this process has used, by their first two letters */
    private array $shelves = [];
    private string $folder = '';
    private const NEEDS = ['fopen', 'flock', 'fstat', 'lstat', 'mkdir', 'rename', 'unlink', 'file_get_contents', 'file_put_contents'];

    public function __construct(private string $name) {}

    public function shelf(string $key): FileShelf
    {
        if (Clock::$frozen !== null && Settings::get('shm_path') === '' && Mistake::claim('frozen clock')) {
            Mistake::log('a frozen TokenBucket\TestClock limits by files that outlive the test: the next run finds its tokens used. '
                . "Tests need array:, as by TokenBucket\StandIn\configure(['storage' => 'array:']), or a token_bucket.shm_path of their own");
        }
        $part = substr(self::hash($key), 0, 2);
        return $this->shelves[$part] ??= new FileShelf($this, $part);
    }

    /** What stands for a key in the files. */
    public static function hash(string $key): string { return substr(hash('sha256', $key), 0, 32); }

    /** The folder of the files, which is made and checked at its first use and `again`, if it may be gone. */
    public function folder(bool $again = false): string
    {
        if ($again || $this->folder === '') {
            [$own, $user] = self::ownFolder();
            $this->folder = self::folderOf("$own/$this->name", $user);
        }
        return $this->folder;
    }

    /** The folder of this user below token_bucket.shm_path, and the user. */
    public static function ownFolder(): array
    {
        $disabled = disabled(...self::NEEDS);
        $disabled === '' || self::fail("Cannot use shared memory: $disabled");
        $base = Settings::get('shm_path');
        // In memory, and empty after a boot, where there is such a folder.
        $base = $base !== '' ? $base : (is_dir('/dev/shm') && is_writable('/dev/shm') ? '/dev/shm' : sys_get_temp_dir());
        Transaction::$reason = '';
        if (!is_dir($base)) {
            $reason = Transaction::$reason ?: 'No such file or directory';
            $which = Transaction::$reason === '' ? 'exists' : 'it allows, in php.ini or by TokenBucket\StandIn\configure()';
            self::fail("Cannot open the directory $base for shared memory: $reason; set token_bucket.shm_path to one that $which");
        }
        $user = self::user($base);
        self::expectBaseOf($base, $user);
        return [self::folderOf("$base/token_bucket.$user.stand-in", $user), $user];
    }

    /** The user of this process: the owner of what it makes. */
    private static function user(string $base): int
    {
        if (function_exists('posix_geteuid')) {
            return posix_geteuid();
        }
        $path = "$base/token_bucket." . bin2hex(random_bytes(8));
        $file = fopen($path, 'xe');
        $file !== false || self::fail("Cannot make shared memory in $base: " . Transaction::$reason);
        $user = fstat($file)['uid'];
        fclose($file);
        unlink($path);
        return $user;
    }

    /** Fails if other users can replace what is in the folder, or lead its path elsewhere: looks at each name, and follows links. */
    private static function expectBaseOf(string $base, int $user): void
    {
        // On Windows, and in WebAssembly, there are no other users.
        if (DIRECTORY_SEPARATOR !== '/' || function_exists('php_uname') && php_uname('s') === 'Emscripten') {
            return;
        }
        clearstatcache();
        [$way, $names] = [str_starts_with($base, '/') ? '/' : '.', explode('/', $base)];
        for ($links = 0; $names !== []; $way = $entry) {
            $entry = "$way/" . array_shift($names);
            // Above a folder of open_basedir nothing can be seen.
            $stat = @lstat($entry);
            if ($stat === false) {
                continue;
            }
            $it = $names === [] && $links === 0 ? 'it' : preg_replace('~/+~', '/', $entry);
            $isLink = ($stat['mode'] & 0170000) === 0120000;
            $isLink || ($stat['mode'] & 0022) === 0 || ($stat['mode'] & 01000) !== 0
                || self::fail("Cannot open the directory $base for shared memory: other users may write to $it; chmod go-w, or +t if they need to");
            in_array($stat['uid'], [0, $user], true) || self::fail("Cannot open the directory $base for shared memory: $it belongs to user $stat[uid], who "
                . "may replace what is in it; set token_bucket.shm_path to a directory of root's or of user $user's own");
            if ($isLink) {
                $target = ++$links > 40 ? false : readlink($entry);
                $target !== false || self::fail("Cannot open the directory $base for shared memory: $it is a link that leads nowhere");
                array_unshift($names, ...explode('/', $target));
                $entry = str_starts_with($target, '/') ? '/' : $way;
            }
        }
    }

    /** Makes a folder, which must belong to this user and be closed to others. */
    private static function folderOf(string $path, int $user): string
    {
        $isNew = mkdir($path, 0700);
        $reason = Transaction::$reason;
        clearstatcache(true, $path);
        $found = lstat($path);
        if ($found === false) {
            self::fail("Cannot make shared memory $path: $reason");
        }
        if (($found['mode'] & 0170000) !== 0040000) {
            self::fail("Shared memory $path is not a directory; remove it");
        }
        // Windows has neither such users nor such modes: there the folder is in the user's own folder for temporary files.
        if (DIRECTORY_SEPARATOR === '/' && $found['uid'] !== $user) {
            self::fail("Shared memory $path belongs to user {$found['uid']}; remove it");
        }
        if (DIRECTORY_SEPARATOR === '/' && ($found['mode'] & 0077) !== 0) {
            self::fail("Shared memory $path is open to other users; its mode must be 0700");
        }
        if (DIRECTORY_SEPARATOR === '/' && ($found['mode'] & 0700) !== 0700) {
            chmod($path, 0700);
        }
        if ($isNew && str_ends_with($path, '.stand-in')) {
            Mistake::log("the stand-in in plain PHP limits here, by files in $path: exact, but slower than the extension, and "
                . 'it counts and logs nothing');
        }
        return $path;
    }

    public static function failToWrite(Doubt $doubt): never { self::fail("Shared memory cannot be written: {$doubt->getMessage()}"); }
    public static function fail(string $message): never { throw Thrown::at(new \TokenBucket\StorageException(Text::path($message))); }
}

/**
 * A part of the states in two files: one that is locked, and one that is read and replaced as a whole. A process that is killed at any
 * instruction leaves the old states or the new ones, and the system frees its lock.
 *
 * A line is the hash of a key, when its state expires, and the state. The first line tells at which size the expired ones are removed.
 */
final class FileShelf
{
    private const FORM = 'token_bucket 2 ';
    private const SWEEP_AT = 4_096;

    private string $path = '';
    /** @var resource|null */
    private $lock = null;
    private string $states = '';
    private int $sweepAt = self::SWEEP_AT;

    public function __construct(private FileStore $store, private string $part) {}

    /** Names the shelf among all: in the order of the names a call opens them, so that no two calls wait for each other. */
    public function name(): string { return $this->store->folder() . "/$this->part"; }

    /** Waits until no other process has the shelf open, but not beyond the deadline, and reads it. */
    public function open(int $deadline): void
    {
        if ($this->lock !== null) {
            throw new Doubt(Doubt::INSIDE);
        }
        // Not kept open: a child that inherits the lock would keep it for its parent.
        $this->path = $this->name();
        $lock = fopen("$this->path.lock", 'ce');
        if ($lock === false) {
            $this->path = $this->store->folder(true) . "/$this->part";
            $lock = fopen("$this->path.lock", 'ce');
        }
        if ($lock === false) {
            FileStore::fail("Cannot open shared memory $this->path.lock: " . Transaction::$reason);
        }
        $this->waitFor($lock, $deadline);
        $this->lock = $lock;
        $text = file_exists($this->path) ? file_get_contents($this->path) : '';
        if ($text === false) {
            FileStore::fail("Cannot read shared memory $this->path: " . Transaction::$reason);
        }
        // One that the system has lost when it stopped is as one that was never there.
        $isWhole = str_starts_with($text, self::FORM) && str_ends_with($text, "\n");
        $this->states = $isWhole ? strstr($text, "\n") : "\n";
        $this->sweepAt = $isWhole ? (int) substr($text, strlen(self::FORM), 20) : self::SWEEP_AT;
    }

    /** Not by a blocking flock(), which has no deadline: a process that was stopped would stop all others. */
    private function waitFor($lock, int $deadline): void
    {
        for ($pause = 50; !flock($lock, LOCK_EX | LOCK_NB, $isHeld); $pause = min(2 * $pause, 1_000)) {
            if ($isHeld !== 1) {
                // PHP tells no reason.
                FileStore::fail("Cannot lock shared memory $this->path.lock: flock() fails; token_bucket.shm_path must be on a file system with locks");
            }
            if (hrtime(true) > $deadline) {
                $reason = "another process has held $this->path.lock for a second";
                Mistake::log("the call is denied, for $reason; is it stopped?");
                throw new Doubt($reason);
            }
            usleep($pause);
        }
    }

    /** Where the line of a key begins, and its length; both 0 if there is none. */
    private function place(string $hash): array
    {
        $at = strpos($this->states, "\n$hash ");
        return $at === false ? [0, 0] : [$at, strpos($this->states, "\n", $at + 1) - $at];
    }

    /** The state of a key, '' if there is none. */
    public function find(string $key): string
    {
        [$at, $length] = $this->place(FileStore::hash($key));
        return $length === 0 ? '' : explode(' ', substr($this->states, $at, $length), 3)[2];
    }

    /** Changes the state of a key. It may be forgotten from `expiresAt` on. */
    public function put(string $key, string $state, int $expiresAt): void
    {
        $hash = FileStore::hash($key);
        $this->states = substr_replace($this->states, "\n$hash $expiresAt $state", ...$this->place($hash));
    }

    /** Writes what was changed beside the shelf. */
    public function prepare(int $now): void
    {
        if (strlen($this->states) > $this->sweepAt) {
            $this->sweep($now);
        }
        $text = self::FORM . $this->sweepAt . $this->states;
        if (file_put_contents("$this->path.new", $text) !== strlen($text)) {
            $reason = Transaction::$reason;
            unlink("$this->path.new");
            throw new Doubt($reason);
        }
    }

    /** Removes the states that have expired. */
    private function sweep(int $now): void
    {
        $isInForce = static fn(string $line): bool => $line !== '' && (int) explode(' ', $line, 3)[1] > $now;
        $lines = array_filter(explode("\n", $this->states), $isInForce);
        $this->states = "\n" . implode("\n", $lines) . ($lines === [] ? '' : "\n");
        $this->sweepAt = max(self::SWEEP_AT, 2 * strlen($this->states));
    }

    /** Puts what was written in its place. */
    public function publish(): void
    {
        if (!rename("$this->path.new", $this->path)) {
            throw new Doubt(Transaction::$reason);
        }
    }

    public function close(): void
    {
        if ($this->lock !== null) {
            flock($this->lock, LOCK_UN);
            fclose($this->lock);
        }
        [$this->lock, $this->states] = [null, ''];
    }

    /** What shows, while it lives, that this process holds a permit; null if nothing has to. */
    public function hold(string $permit): mixed
    {
        $file = fopen($this->file($permit), 'xe');
        return $file !== false && flock($file, LOCK_EX | LOCK_NB) ? $file : throw new Doubt(Transaction::$reason);
    }

    /** Whether the process that took a permit still holds it, as far as can be told. */
    public function isHeld(string $permit): bool
    {
        $file = file_exists($this->file($permit)) ? fopen($this->file($permit), 'r+e') : false;
        if ($file === false) {
            // Where files cannot be opened at the moment, nothing is known.
            return file_exists($this->file($permit));
        }
        $isFree = flock($file, LOCK_EX | LOCK_NB);
        fclose($file);
        return !$isFree;
    }

    /** Removes what has shown that a permit is held. */
    public function forget(string $permit): void { unlink($this->file($permit)); }

    /** Removes what killed processes have left of their permits. */
    public function tidy(): void
    {
        foreach (glob("$this->path.*.permit") ?: [] as $file) {
            $permit = explode('.', basename($file))[1];
            $this->isHeld($permit) || $this->forget($permit);
        }
    }

    private function file(string $permit): string { return "$this->path.$permit.permit"; }
}

/** Changes the states of some keys in one step: no other process sees or changes them meanwhile. */
final class Transaction
{
    /** How long a call waits for other processes, in nanoseconds. */
    private const MOST_WAIT = 1_000_000_000;

    /** What PHP has last said of a file in this step. */
    public static string $reason = '';

    /**
     * @param list<array{ArrayStore|FileStore, string}> $places stores and keys
     * @param callable(list<string>, int, list<ArrayStore|FileShelf>): array{mixed, list<array{string, int}|null>} $decide gets the states and the time;
     *     returns the result, and for each place its new state and when that expires, or null if it stays as it is
     */
    public static function run(array $places, callable $decide): mixed
    {
        return self::undisturbed(static function () use ($places, $decide): mixed {
            $shelves = $named = $opened = [];
            $deadline = hrtime(true) + self::MOST_WAIT;
            try {
                foreach ($places as $i => [$store, $key]) {
                    $shelves[$i] = $store->shelf($key);
                    $named[$shelves[$i]->name()] = $shelves[$i];
                }
                ksort($named);
                foreach ($named as $shelf) {
                    $shelf->open($deadline);
                    $opened[] = $shelf;
                }
                return self::change($places, $shelves, $decide);
            } finally {
                foreach ($opened as $shelf) {
                    $shelf->close();
                }
            }
        });
    }

    /** Calls a function. No code of the application runs in between: neither its handler of errors nor one of signals. */
    public static function undisturbed(callable $step): mixed
    {
        $hasSignals = function_exists('pcntl_async_signals') && pcntl_async_signals(false);
        self::$reason = '';
        set_error_handler(static function (int $level, string $message): bool {
            self::$reason = str_contains($message, 'open_basedir') ? 'open_basedir does not allow it' : preg_replace('/^.*: /s', '', $message);
            return true;
        });
        try {
            return $step();
        } finally {
            restore_error_handler();
            if ($hasSignals) {
                pcntl_async_signals(true);
                pcntl_signal_dispatch();
            }
        }
    }

    private static function change(array $places, array $shelves, callable $decide): mixed
    {
        $now = Clock::now();
        $states = [];
        foreach ($places as $i => [, $key]) {
            $states[$i] = $shelves[$i]->find($key);
        }
        [$result, $changes] = $decide($states, $now, $shelves);
        $changed = [];
        foreach (array_filter($changes) as $i => [$state, $expiresAt]) {
            $shelves[$i]->put($places[$i][1], $state, $expiresAt);
            $changed[$shelves[$i]->name()] = $shelves[$i];
        }
        foreach ($changed as $shelf) {
            $shelf->prepare($now);
        }
        foreach ($changed as $shelf) {
            $shelf->publish();
        }
        return $result;
    }
}
