<?php

namespace TokenBucket;

/** What the exceptions of this extension have in common. */
interface Throwable extends \Throwable
{
}
