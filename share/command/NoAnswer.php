<?php
declare(strict_types=1);

namespace TokenBucket\Command;

/** The server of a limit did not answer. */
final class NoAnswer extends CommandError
{
}
