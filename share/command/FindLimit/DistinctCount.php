<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/**
 * About how many different texts there are, in bounded memory: it keeps the hashes that end in so many zero bits that few do
 * (adaptive sampling; P. Flajolet, 1990).
 */
final class DistinctCount
{
    private const MOST = 1024;

    /** @var array<int, true> */
    private array $hashes = [];
    private int $mask = 0;

    public function add(string $text): void
    {
        $hash = crc32($text) * 1_540_483_477 >> 16 & 0xffff_ffff;
        if (($hash & $this->mask) === 0) {
            $this->hashes[$hash] = true;
            while (count($this->hashes) > self::MOST) {
                $this->mask = 2 * $this->mask + 1;
                $this->hashes = array_filter($this->hashes, fn (int $kept): bool => ($kept & $this->mask) === 0, ARRAY_FILTER_USE_KEY);
            }
        }
    }

    public function estimate(): int
    {
        return count($this->hashes) * ($this->mask + 1);
    }
}
