<?php
declare(strict_types=1);

namespace TokenBucket\WordPress;

use WP_User;

/** One guess: charged before WordPress looks at the password, given back if the password is right. */
abstract class Attempt
{
    protected readonly SecurityLog $log;

    /** The account, or what stands in its place in the limit of the network and one user. */
    protected readonly string $accountId;

    /** What the guess is charged to in place of the user's limit, if the user has logged in with this browser before. */
    protected readonly ?string $browser;
    private bool $isPasswordRight = false;
    private bool $isSettled = false;

    /** @param ?ProvenPassword $proof of a client that logs in with every request; null for a form */
    public function __construct(
        protected readonly Settings $settings,
        protected readonly Client $client,
        protected readonly Account $account,
        private readonly ?ProvenPassword $proof,
    ) {
        $this->log = new SecurityLog($settings);
        // A page of another site could otherwise have its visitors' browsers use up the tries of their own networks.
        $this->accountId = $client->isCrossSite ? Account::CROSS_SITE : $account->id;
        $user = $account->onlyUser();
        $this->browser = $user ? KnownBrowser::of($user) : null;
    }

    abstract public function isDenied(): bool;

    /** How long a denied client has to wait, in seconds. */
    abstract public function retryAfter(): int;

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
        $this->giveBack();
        // Failures at another user of the name stay.
        if ($this->account->onlyUser()?->ID !== $user->ID) {
            return;
        }
        $this->proof?->prove();
        // Whoever knows the password has mistyped it before. The network keeps its failures, and so do pages of other sites, or
        // an attacker with an account could log in now and then, and guess on.
        if (!$this->client->isCrossSite) {
            $this->forgetPair();
        }
    }

    abstract protected function giveBack(): void;

    /** Forgets the failures of the network and this user. */
    abstract protected function forgetPair(): void;

    /** The password was right, and another plugin refused the user: it asks for a second factor, or that was wrong. */
    abstract protected function countRefusal(): void;

    abstract protected function countFailure(): void;
}
