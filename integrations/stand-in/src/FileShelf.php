<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/**
 * A part of the states in two files: one that is locked, and one that is read and replaced as a whole. A process that is killed at any
 * instruction leaves the old states or the new ones, and the system frees its lock.
 *
 * A line is the hash of a key, when its state expires, and the state. The first line tells at which size the expired ones are removed.
 */
final class FileShelf implements Shelf
{
    private const FORM = 'token_bucket 1 ';
    private const SWEEP_AT = 4_096;

    private string $path = '';
    /** @var resource|null */
    private $lock = null;
    private string $states = '';
    private int $sweepAt = self::SWEEP_AT;

    public function __construct(private FileStore $store, private string $part) {}

    public function name(): string { return $this->store->folder() . "/$this->part"; }

    public function open(): void
    {
        if ($this->lock !== null) {
            throw new Doubt();
        }
        // Not kept open: a child that inherits the lock would keep it for its parent.
        $this->path = $this->name();
        $lock = fopen("$this->path.lock", 'ce');
        if ($lock === false) {
            $this->path = $this->store->folder(true) . "/$this->part";
            $lock = fopen("$this->path.lock", 'ce');
        }
        if ($lock === false || !$this->waitFor($lock)) {
            FileStore::fail("Cannot lock shared memory $this->path.lock: " . Transaction::$reason);
        }
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

    /** Signals end the wait; then it begins again. */
    private function waitFor($lock): bool
    {
        for ($times = 0; $times < 100; $times++) {
            if (flock($lock, LOCK_EX)) {
                return true;
            }
        }
        return false;
    }

    public function find(string $key): string
    {
        $at = strpos($this->states, "\n" . FileStore::hash($key) . ' ');
        $line = $at === false ? '' : substr($this->states, $at + 34, strpos($this->states, "\n", $at + 1) - $at - 34);
        return $line === '' ? '' : explode(' ', $line, 2)[1];
    }

    public function put(string $key, string $state, int $expiresAt): void
    {
        $hash = FileStore::hash($key);
        $line = "\n$hash $expiresAt $state\n";
        $at = strpos($this->states, "\n$hash ");
        $end = $at === false ? 0 : strpos($this->states, "\n", $at + 1);
        $this->states = substr_replace($this->states, $line, $at === false ? 0 : $at, $at === false ? 1 : $end - $at + 1);
    }

    public function prepare(int $now): void
    {
        if (strlen($this->states) > $this->sweepAt) {
            $this->sweep($now);
        }
        $text = self::FORM . $this->sweepAt . $this->states;
        if (file_put_contents("$this->path.new", $text) !== strlen($text)) {
            unlink("$this->path.new");
            throw new Doubt();
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

    public function publish(): void
    {
        if (!rename("$this->path.new", $this->path)) {
            throw new Doubt();
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

    public function hold(string $permit): mixed
    {
        $file = fopen($this->file($permit), 'xe');
        return $file !== false && flock($file, LOCK_EX | LOCK_NB) ? $file : throw new Doubt();
    }

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

    public function forget(string $permit): void { unlink($this->file($permit)); }
    public function tidy(): void
    {
        foreach (glob("$this->path.*.permit") ?: [] as $file) {
            $permit = explode('.', basename($file))[1];
            $this->isHeld($permit) || $this->forget($permit);
        }
    }

    private function file(string $permit): string { return "$this->path.$permit.permit"; }
}
