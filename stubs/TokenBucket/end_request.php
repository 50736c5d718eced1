<?php

namespace TokenBucket;

/**
 * Gives back the permits that this request holds, for a worker that serves many requests in one of PHP's: RoadRunner, an event loop. PHP does it by itself
 * at the end of a request, and so does FrankenPHP.
 *
 * Call it after each request. A frozen TestClock stays frozen: a test may send several requests in one process.
 */
function end_request(): void {}
