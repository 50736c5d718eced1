<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** What a Permit carries. The end of the process gives it back, for its file is locked no more then. */
final class PermitValue extends Value
{
    /** @var array<int, \WeakReference<self>> those of this process, by their numbers */
    private static array $all = [];
    private int $process;
    private bool $isOver = false;

    /** @param string|null $id null: the call goes on without a permit */
    public function __construct(
        private PermitsValue $permits,
        private ?string $id,
        private mixed $file,
        private string $identifier,
        private int $lifetime,
    ) {
        parent::__construct();
        $this->process = getmypid();
        self::$all[spl_object_id($this)] = \WeakReference::create($this);
    }

    public function shown(): array { return ['identifier' => $this->identifier, 'lifetime' => (float) ($this->lifetime / Limit::SECOND)]; }

    /** A child that was forked holds nothing. */
    public function release(): void
    {
        $isHeld = !$this->isOver && $this->process === getmypid();
        $this->isOver = true;
        unset(self::$all[spl_object_id($this)]);
        if ($isHeld && $this->id !== null) {
            $this->permits->release($this->id, $this->file);
        }
    }

    public function renew(?int $lifetime): bool
    {
        if ($this->isOver || $this->process !== getmypid()) {
            return false;
        }
        return $this->id === null || $this->permits->renew($this->id, $lifetime ?? $this->lifetime);
    }

    /** Gives back all permits of this process. */
    public static function releaseAll(): void
    {
        foreach (self::$all as $permit) {
            $permit->get()?->release();
        }
    }
}
