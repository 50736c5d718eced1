<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** A failure that its message explains to the user: exit code 1. */
class CommandError extends \RuntimeException
{
}
