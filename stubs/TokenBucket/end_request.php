<?php

namespace TokenBucket;

/**
 * Gives back all permits that this process or thread holds, for a worker that serves one request after another in one of PHP's, as RoadRunner's
 * do. PHP does it by itself at the end of a request, and so does FrankenPHP. In an event loop, which serves many at a time, use Permit::release().
 *
 * Call it after each request. A frozen TestClock stays frozen: a test may send several requests in one process.
 */
function end_request(): void {}
