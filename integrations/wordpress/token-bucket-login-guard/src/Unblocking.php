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

    /** Resets a network, an account, or both, with the blocks of pairs that the list knows of them. */
    public function unblock(?string $network, ?string $account): void
    {
        if ($network !== null) {
            $this->limits->network($network)->reset();
            $this->limits->failuresOfNetwork($network)->reset();
            BlockList::remove($network, '');
        }
        if ($account !== null) {
            $this->limits->user($account)->reset();
        }
        if ($network !== null && $account !== null) {
            $this->unblockPair($network, $account);
            return;
        }
        $blocks = $network !== null ? BlockList::ofNetwork($network) : BlockList::ofAccount((string) $account);
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
        BlockList::remove($network, $account);
    }
}
