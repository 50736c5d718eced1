<?php

declare(strict_types=1);

namespace TokenBucket\Laravel;

use Illuminate\Console\Command;

/** `php artisan token-bucket:unblock IDENTIFIER` */
final class UnblockCommand extends Command
{
    /** @var string */
    protected $signature = 'token-bucket:unblock
        {identifier : As TokenBucket\statistics() and the status page list it, such as shop_throttle:api:192.0.2.1, or a key of the RateLimiter facade}';

    /** @var string */
    protected $description = 'Give a client all attempts at a rate limit, and lift its block';

    public function handle(RateLimiter $limiter): int
    {
        $before = $limiter->unblock((string) $this->argument('identifier'));
        if ($before === null) {
            $this->error('The storage does not answer, so nothing was changed.');

            return self::FAILURE;
        }
        $hits = $before->getUsedTokens();
        if ($hits === 0) {
            $this->error('This identifier has no hits and no block: see TokenBucket\statistics() for those that are denied most.');

            return self::FAILURE;
        }
        $this->info($before->wouldDeny() ? 'Unblocked.' : "Unblocked: it had $hits " . ($hits === 1 ? 'hit.' : 'hits.'));

        return self::SUCCESS;
    }
}
