<?php

namespace TokenBucket;

/**
 * A permit of a ConcurrencyLimit. Only acquire() makes such objects.
 *
 * It goes back, once, by release(), when the object is destroyed, or at the end of the request at the latest: also after a
 * fatal error, exit(), a time-out, memory exhaustion, an exception, and when the client hangs up. After
 * fastcgi_finish_request() the script goes on, and so does the permit. A permit that was given back, or whose request has
 * ended, holds nothing: its methods do no harm. No permit ever frees another's.
 *
 * A process that forks keeps its permits: in the child the same object holds nothing, and neither its destruction nor the
 * child's end gives the permit back.
 *
 * Cannot be cloned or serialized.
 */
final class Permit
{
    /**
     * Gives the permit back. Does nothing if it was given back before, or if its lifetime has ended.
     *
     * If its server does not answer, the permit stays held until its lifetime ends.
     *
     * @throws StorageException if the storage fails and on_error is "throw"
     */
    public function release(): void {}

    /**
     * Lets the lifetime begin anew. Call it now and then in long work, and stop the work if it returns false.
     *
     * A permit that holds nothing by a dry run or on_error=open is always renewed.
     *
     * @param float|null $lifetime seconds from now: above 0, at most four years. Null: that of the ConcurrencyLimit
     *
     * @return bool|null whether the permit is still held. False if its lifetime has ended, if it was given back or reset, in a
     *     forked child, or if its file in shared memory was removed. Null if its server does not answer, so that this is not
     *     known (true by on_error=open): unless it was reset the permit is held until its lifetime ends, so try again before
     *
     * @throws \ValueError if the lifetime is out of range
     * @throws StorageException if the storage fails and on_error is "throw"
     */
    public function renew(?float $lifetime = null): ?bool {}

    private function __construct() {}
}
