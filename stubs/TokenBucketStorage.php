<?php

/**
 * A place where buckets live. Any class may implement this interface, which is the contract of the published PHP classes.
 *
 * It measures in seconds instead of tokens, so a storage need not know a bucket's rate: a token counts as the time in which
 * it refills. The methods have no types, so that classes without types can implement them.
 */
interface TokenBucketStorage
{
    /**
     * Makes the storage ready for use, for example creates a table.
     *
     * Applications call it; a TokenBucket never does.
     */
    public function prepare();

    /**
     * Makes the record of a bucket.
     *
     * @param string $identifier names the bucket
     * @param float  $microtime  when the bucket was empty, or would have been: seconds, as microtime(true)
     */
    public function bootstrap($identifier, $microtime);

    /**
     * Takes tokens if the bucket has them, in one atomic step.
     *
     * @param string        $identifier        names the bucket
     * @param float         $microtime         the time in which the tokens refill, in seconds
     * @param float         $full_microtime    the time in which an empty bucket refills, in seconds
     * @param callable|null $bootstrap_closure calls bootstrap() for a bucket without a record; consume() then returns the
     *                                         closure's result
     *
     * @return bool whether the call is accepted
     */
    public function consume($identifier, $microtime, $full_microtime, $bootstrap_closure);
}
