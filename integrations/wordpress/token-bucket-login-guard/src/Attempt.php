<?php
declare(strict_types=1);

namespace TokenBucket\WordPress;

use TokenBucket;
use TokenBucket\Compound;
use TokenBucket\Decision;
use WP_User;

/** One guess: charged before WordPress looks at the password, given back if the password is right. */
final class Attempt
{
    private readonly Limits $limits;
    private readonly SecurityLog $log;
    private readonly Decision $decision;

    /** @var array<string, TokenBucket> what the guess was charged to, by name */
    private readonly array $limiters;

    /** The account, or what stands in its place in the limit of the network and one user. */
    private readonly string $accountId;
    private bool $isPasswordRight = false;
    private bool $isSettled = false;

    /** @param ?ProvenPassword $proof of a client that logs in with every request; null for a form */
    public function __construct(
        private readonly Settings $settings,
        private readonly Client $client,
        private readonly Account $account,
        private readonly ?ProvenPassword $proof,
    ) {
        $this->limits = new Limits($settings);
        $this->log = new SecurityLog($settings);
        // A page of another site could otherwise have its visitors' browsers use up the tries of their own networks.
        $this->accountId = $client->isCrossSite ? Account::CROSS_SITE : $account->id;
        $user = $account->onlyUser();
        $browser = $user ? KnownBrowser::of($user) : null;
        // The limit that most clients share comes last: in shared memory it is charged when the others have accepted.
        $this->limiters = array_filter([
            'pair' => $this->limits->pair($client->network, $this->accountId),
            'network' => $client->isCrossSite ? null : $this->limits->network($client->network),
            'user' => $browser === null ? $this->limits->user($account->id) : $this->limits->browser($browser),
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

    /** How long a denied client has to wait, in seconds. */
    public function retryAfter(): int
    {
        return $this->decision->getRetryAfterSeconds() ?? DAY_IN_SECONDS;
    }

    public function isAccountKnown(): bool
    {
        return $this->account->firstUser() !== null;
    }

    /** Called when WordPress, or a plugin in its place, has found that a password fits a hash. */
    public function passwordFits(string $hash): void
    {
        // A plugin may compare the password with others, such as those the user had before.
        $this->isPasswordRight = $this->isPasswordRight || $hash === $this->account->firstUser()?->user_pass;
    }

    public function isPasswordRight(): bool
    {
        return $this->isPasswordRight;
    }

    /**
     * Gives the charge back, or counts a failure. Further calls do nothing: WordPress may look at one password twice.
     *
     * @param ?WP_User $user who got in
     */
    public function settle(?WP_User $user): void
    {
        if ($this->isSettled) {
            return;
        }
        $this->isSettled = true;
        $first = $this->account->firstUser() ?? $user;
        // If the second user of a name got in, the password was wrong for the first.
        match (true) {
            $user !== null && $first?->ID === $user->ID => $this->forgive($user),
            $this->isPasswordRight => $this->countRefusal(),
            default => $this->countFailure(),
        };
    }

    private function forgive(WP_User $user): void
    {
        $this->decision->refund();
        // Failures at another user of the name stay.
        if ($this->account->onlyUser()?->ID !== $user->ID) {
            return;
        }
        $this->proof?->prove();
        // Whoever knows the password has mistyped it before. The network keeps its failures, and so do pages of other sites, or
        // an attacker with an account could log in now and then, and guess on.
        if (!$this->client->isCrossSite) {
            $this->limits->pair($this->client->network, $this->accountId)->reset();
            $this->limits->failuresOfPair($this->client->network, $this->accountId)->reset();
            $this->limits->refusalsOfPair($this->client->network, $this->accountId)->reset();
        }
    }

    /**
     * The password was right, and another plugin refused the user: it asks for a second factor, or that was wrong. As many of a day
     * as the pair has tries cost nothing. Further ones may be guesses at the second factor: they count for the pair, and never for
     * the network, from which others log in.
     */
    private function countRefusal(): void
    {
        if (!$this->limits->refusalsOfPair($this->client->network, $this->accountId)->attempt()->wouldDeny()) {
            $this->decision->refund();
            return;
        }
        $this->decision->settle(array_map(fn (string $limit): int => $limit === 'network' ? 0 : 1, array_keys($this->limiters)));
        $this->countFailureOfPair();
    }

    /** As many failures as a limit has tries block its client: the first time of a day shortly, each further time for longer. */
    private function countFailure(): void
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
