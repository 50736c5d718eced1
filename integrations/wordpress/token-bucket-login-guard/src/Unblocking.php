<?php
declare(strict_types=1);

namespace TokenBucket\WordPress;

/** Gives clients a fresh start: their limits are full, their blocks are lifted, their failures forgotten. */
final class Unblocking
{
    private readonly Limits $limits;

    public function __construct(Settings $settings)
    {
        $this->limits = new Limits($settings);
    }

    /**
     * Resets a network, accounts, or both, with the blocks of pairs that the list knows of them.
     *
     * @param list<string> $accounts ids
     */
    public function unblock(?string $network, array $accounts): void
    {
        // First, for this works while the store does not.
        DatabaseCounts::forget($network, $accounts);
        if ($network !== null) {
            $this->limits->network($network)->reset();
            $this->limits->failuresOfNetwork($network)->reset();
            BlockList::remove($network, '');
        }
        foreach ($accounts as $account) {
            $this->limits->user($account)->reset();
            $this->limits->user(Client::basicAccount($account))->reset();
            if ($network !== null) {
                $this->unblockPair($network, $account);
            } else {
                $this->unblockPairs(BlockList::ofAccount($account));
            }
        }
        if ($network !== null && $accounts === []) {
            $this->unblockPairs(BlockList::ofNetwork($network));
        }
    }

    /** @param list<array{network: string, account: string, nth: int, until: int}> $blocks */
    private function unblockPairs(array $blocks): void
    {
        foreach ($blocks as $block) {
            if ($block['account'] !== '') {
                $this->unblockPair($block['network'], $block['account']);
            }
        }
    }

    private function unblockPair(string $network, string $account): void
    {
        $this->limits->pair($network, $account)->reset();
        $this->limits->failuresOfPair($network, $account)->reset();
        $this->limits->refusalsOfPair($network, $account)->reset();
        BlockList::remove($network, $account);
    }
}
