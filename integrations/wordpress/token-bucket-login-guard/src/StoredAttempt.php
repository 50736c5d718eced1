<?php
declare(strict_types=1);

namespace TokenBucket\WordPress;

use TokenBucket;
use TokenBucket\Compound;
use TokenBucket\Decision;

/** A guess that the limits in the store decide. */
final class StoredAttempt extends Attempt
{
    private readonly Limits $limits;
    private readonly Decision $decision;

    /** @var array<string, TokenBucket> what the guess was charged to, by name */
    private readonly array $limiters;

    public function __construct(Settings $settings, Client $client, Account $account, ?ProvenPassword $proof)
    {
        parent::__construct($settings, $client, $account, $proof);
        $this->limits = new Limits($settings);
        // The limit that most clients share comes last: in shared memory it is charged when the others have accepted.
        $this->limiters = array_filter([
            'pair' => $this->limits->pair($client->network, $this->accountId),
            'network' => $client->isCrossSite ? null : $this->limits->network($client->network),
            'user' => $this->browser === null ? $this->limits->user($client->limitOfAccount($account->id)) : $this->limits->browser($this->browser),
        ]);
        $this->decision = (new Compound(...array_values($this->limiters)))->attempt();
        if ($this->decision->wouldDeny()) {
            $denies = fn (TokenBucket $limiter): bool => $limiter->peek()->wouldDeny();
            $this->log->denied($client, $account, array_keys(array_filter($this->limiters, $denies)));
        }
    }

    public function isDenied(): bool
    {
        // A DSN or php_admin_value may enforce the limits all the same; in a dry run they deny nobody.
        return !$this->decision->isAccepted() && !$this->settings->isDryRun();
    }

    public function retryAfter(): int
    {
        return $this->decision->getRetryAfterSeconds() ?? DAY_IN_SECONDS;
    }

    protected function giveBack(): void
    {
        $this->decision->refund();
    }

    protected function forgetPair(): void
    {
        $this->limits->pair($this->client->network, $this->accountId)->reset();
        $this->limits->failuresOfPair($this->client->network, $this->accountId)->reset();
        $this->limits->refusalsOfPair($this->client->network, $this->accountId)->reset();
    }

    /**
     * As many refusals of a day as the pair has tries cost nothing. Further ones may be guesses at the second factor: they count for
     * the pair, and never for the network, from which others log in.
     */
    protected function countRefusal(): void
    {
        if (!$this->limits->refusalsOfPair($this->client->network, $this->accountId)->attempt()->wouldDeny()) {
            $this->decision->refund();
            return;
        }
        $this->decision->settle(array_map(fn (string $limit): int => $limit === 'network' ? 0 : 1, array_keys($this->limiters)));
        $this->countFailureOfPair();
    }

    /** As many failures as a limit has tries block its client: the first time of a day shortly, each further time for longer. */
    protected function countFailure(): void
    {
        $this->countFailureOfPair();
        if (!$this->client->isCrossSite) {
            $network = $this->limits->failuresOfNetwork($this->client->network);
            $this->block($this->limits->countFailure($network, 'network'), '');
        }
    }

    private function countFailureOfPair(): void
    {
        $pair = $this->limits->failuresOfPair($this->client->network, $this->accountId);
        $this->block($this->limits->countFailure($pair, 'pair'), $this->accountId);
    }

    /**
     * @param int $nth which block of the day; 0 for none
     * @param string $accountId '' if the whole network is blocked
     */
    private function block(int $nth, string $accountId): void
    {
        // A block that was set in a dry run would be in force after it.
        if ($nth === 0 || $this->settings->isDryRun()) {
            return;
        }
        $seconds = $this->limits->blockLength($nth);
        $network = $this->client->network;
        $limiter = $accountId === '' ? $this->limits->network($network) : $this->limits->pair($network, $accountId);
        $limiter->block($seconds);
        BlockList::add($network, $accountId, $nth, $seconds);
        $this->log->blocked($this->client, $accountId === $this->account->id ? $this->account : null, $seconds, $nth);
    }
}
