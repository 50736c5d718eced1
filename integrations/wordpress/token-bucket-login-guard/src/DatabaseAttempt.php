<?php
declare(strict_types=1);

namespace TokenBucket\WordPress;

/**
 * A guess while the store cannot be used. WordPress's database decides it: another user of this host can take the store's folder,
 * or fill its disk. The numbers are those of the settings, in fixed windows, and nobody is blocked for longer.
 */
final class DatabaseAttempt extends Attempt
{
    /** @var list<string> the rows that were charged */
    private array $charged = [];

    /** The limit that denies; null if none does. */
    private ?string $denier = null;

    public function __construct(Settings $settings, Client $client, Account $account, ?ProvenPassword $proof)
    {
        parent::__construct($settings, $client, $account, $proof);
        $limits = array_filter([
            'pair' => [$client->network, $this->accountId],
            'network' => $client->isCrossSite ? null : [$client->network, ''],
            'user' => ['', $this->browser ?? $client->limitOfAccount($account->id)],
        ]);
        foreach ($limits as $limit => [$network, $accountId]) {
            if (!DatabaseCounts::take($network, $accountId, $settings->number("{$limit}_tries"), $settings->number("{$limit}_seconds"))) {
                $this->denier = $limit;
                $this->giveBack();
                $this->log->denied($client, $account, [$limit]);
                return;
            }
            $this->charged[] = DatabaseCounts::id($network, $accountId);
        }
    }

    public function isDenied(): bool
    {
        return $this->denier !== null && !$this->settings->isDryRun();
    }

    public function retryAfter(): int
    {
        return $this->denier === null ? 0 : $this->settings->number("{$this->denier}_seconds");
    }

    protected function giveBack(): void
    {
        DatabaseCounts::giveBack($this->charged);
        $this->charged = [];
    }

    protected function forgetPair(): void
    {
        DatabaseCounts::giveBackAll(DatabaseCounts::id($this->client->network, $this->accountId));
    }

    /** The pair keeps the charge: the client may be guessing at the second factor. */
    protected function countRefusal(): void
    {
        DatabaseCounts::giveBack(array_slice($this->charged, 1));
    }

    protected function countFailure(): void
    {
    }
}
