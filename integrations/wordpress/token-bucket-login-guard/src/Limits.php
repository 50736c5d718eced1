<?php
declare(strict_types=1);

namespace TokenBucket\WordPress;

use TokenBucket;
use TokenBucket\FixedWindow;

/** Makes the limiters. Their identifiers begin with the limit's name, which statistics() counts by. */
final class Limits
{
    public const NETWORK = 'wp_login_network';
    public const PAIR = 'wp_login_pair';
    public const USER = 'wp_login_user';
    public const BROWSER = 'wp_login_browser';

    /** The first blocks of a day last twice as long as the one before, further ones as long as the last of them. */
    private const LONGER_BLOCKS = 8;

    /** Of a day. Blocks make it unlikely that anyone reaches it. */
    private const COUNTED_BLOCKS = 1000;
    private const MOST_HITS_OF_A_WINDOW = 16_777_214;

    private string $site;

    public function __construct(private readonly Settings $settings)
    {
        $this->site = Storage::site();
    }

    public function network(string $network): TokenBucket
    {
        return $this->bucket(self::NETWORK, $network, 'network');
    }

    public function pair(string $network, string $account): TokenBucket
    {
        return $this->bucket(self::PAIR, "$network $account", 'pair');
    }

    public function user(string $account): TokenBucket
    {
        return $this->bucket(self::USER, $account, 'user');
    }

    public function browser(string $browser): TokenBucket
    {
        return $this->bucket(self::BROWSER, $browser, 'user');
    }

    public function failuresOfNetwork(string $network): FixedWindow
    {
        return $this->failures(self::NETWORK, $network, 'network');
    }

    public function failuresOfPair(string $network, string $account): FixedWindow
    {
        return $this->failures(self::PAIR, "$network $account", 'pair');
    }

    /** Counts the right passwords of a day after which another plugin refused the user: as many as the pair has tries. */
    public function refusalsOfPair(string $network, string $account): FixedWindow
    {
        $identifier = self::PAIR . "_refusals:$this->site $network $account";
        return new FixedWindow(Storage::dsn(), $identifier, $this->settings->number('pair_tries'), TokenBucket::DAY);
    }

    /** @param list<string> $accounts ids of the user that has logged in */
    public function forgetRefusals(string $network, array $accounts): void
    {
        foreach ($accounts as $account) {
            $this->refusalsOfPair($network, $account)->reset();
        }
    }

    /**
     * Counts a failure.
     *
     * @param string $limit "network" or "pair"
     *
     * @return int which block of the day it causes, from 1; 0 for none
     */
    public function countFailure(FixedWindow $failures, string $limit): int
    {
        $tries = $this->settings->number("{$limit}_tries");
        $decision = $failures->attempt();
        if (!$decision->isAccepted()) {
            // Not counted, perhaps because the table is full: that is no reason to block anyone.
            return 0;
        }
        $nth = $decision->getUsedTokens();
        return $nth % $tries === 0 ? intdiv($nth, $tries) : 0;
    }

    /** The length of the n-th block of a day in seconds. */
    public function blockLength(int $nth): int
    {
        return (int) min(DAY_IN_SECONDS, $this->settings->number('first_block') * 2 ** min($nth - 1, self::LONGER_BLOCKS - 1));
    }

    /** What statistics() shows of an identifier of this site; null for others. */
    public function clientIn(string $limit, string $identifier): ?string
    {
        $beginning = "$limit:$this->site ";
        return str_starts_with($identifier, $beginning) ? substr($identifier, strlen($beginning)) : null;
    }

    private function bucket(string $name, string $client, string $numbers): TokenBucket
    {
        $tries = $this->settings->number("{$numbers}_tries");
        $seconds = $this->settings->number("{$numbers}_seconds");
        $make = fn (): TokenBucket => TokenBucket::per(Storage::dsn(), "$name:$this->site $client", $tries, $seconds);
        return $this->settings->isDryRun() ? Storage::inDryRun($make) : $make();
    }

    private function failures(string $name, string $client, string $numbers): FixedWindow
    {
        $most = min(self::MOST_HITS_OF_A_WINDOW, $this->settings->number("{$numbers}_tries") * self::COUNTED_BLOCKS);
        return new FixedWindow(Storage::dsn(), "{$name}_failures:$this->site $client", $most, TokenBucket::DAY);
    }
}
