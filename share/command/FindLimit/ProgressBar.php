<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** A line on standard error that grows; nothing if that is no terminal. */
final class ProgressBar
{
    private const WIDTH = 40;
    private const SECONDS_BETWEEN = 0.1;

    private bool $isShown;
    private float $drawnAt = 0.0;

    public function __construct()
    {
        $this->isShown = stream_isatty(STDERR);
    }

    /** @param int|null $total null if it is not known */
    public function show(string $what, int $done, ?int $total): void
    {
        if (!$this->isShown || microtime(true) - $this->drawnAt < self::SECONDS_BETWEEN) {
            return;
        }
        $this->drawnAt = microtime(true);
        if ($total === null || $total <= 0) {
            fwrite(STDERR, sprintf("\r\x1b[K%s: %d MB", $what, $done / 1e6));
            return;
        }
        $share = min(1, $done / $total);
        $filled = (int) ($share * self::WIDTH);
        fwrite(STDERR, sprintf("\r\x1b[K%-18s [%s%s] %3d %%", $what, str_repeat('#', $filled), str_repeat('.', self::WIDTH - $filled), (int) ($share * 100)));
    }

    public function clear(): void
    {
        if ($this->isShown && $this->drawnAt > 0) {
            fwrite(STDERR, "\r\x1b[K");
        }
    }
}
