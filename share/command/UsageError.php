<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** A mistake in the arguments: exit code 2. Its message names the argument and what is right. */
final class UsageError extends \RuntimeException
{
}
