<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** An option of a sub-command. */
final class Option
{
    /**
     * @param string      $name       without the two dashes
     * @param string|null $value      what its value is called in the help; null: it takes none
     * @param string      $help       one line
     * @param bool        $repeatable whether it may be given several times
     */
    public function __construct(
        public readonly string $name,
        public readonly ?string $value,
        public readonly string $help,
        public readonly bool $repeatable = false,
    ) {
    }

    /** How the help shows it: "--match PATTERN". */
    public function synopsis(): string
    {
        return "--$this->name" . ($this->value === null ? '' : " $this->value");
    }
}
