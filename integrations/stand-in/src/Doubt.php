<?php

declare(strict_types=1);

namespace TokenBucket\StandIn;

/** A call cannot be decided: the disk is full, or this process is in the middle of another call on the same states. */
final class Doubt extends \Exception {}
