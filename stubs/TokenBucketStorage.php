<?php

/**
 * Where buckets live, in the classic contract: any class may implement it.
 *
 * It speaks of time instead of tokens, so a storage need not know a bucket's rate. Nothing is
 * typed, so that classes written for the contract, which type nothing, load.
 */
interface TokenBucketStorage
{
    /**
     * Makes the storage ready for use, for example creates a table.
     *
     * Called by applications; a TokenBucket never calls it.
     */
    public function prepare();

    /**
     * Makes the record of a bucket.
     *
     * @param string $identifier whose bucket it is
     * @param float  $microtime  when the bucket was, or would have been, empty; in seconds, as microtime(true)
     */
    public function bootstrap($identifier, $microtime);

    /**
     * Takes the worth of some tokens in seconds, in one atomic step.
     *
     * @param string        $identifier        whose bucket it is
     * @param float         $microtime         what the tokens are worth, in seconds
     * @param float         $full_microtime    what a full bucket is worth, in seconds
     * @param callable|null $bootstrap_closure makes the record where there is none, by bootstrap(); its result is the
     *                                         answer then
     *
     * @return bool whether they were there
     */
    public function consume($identifier, $microtime, $full_microtime, $bootstrap_closure);
}
