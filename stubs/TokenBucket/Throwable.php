<?php

namespace TokenBucket;

/** Implemented by all exception classes of this extension. */
interface Throwable extends \Throwable
{
}
