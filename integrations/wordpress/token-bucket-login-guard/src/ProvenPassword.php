<?php
declare(strict_types=1);

namespace TokenBucket\WordPress;

/**
 * A password that a client of XML-RPC or REST has logged in with during the last hour. To send it again is not a guess, so
 * it is not charged: such clients log in with every request, and with many at once. WordPress looks at it all the same.
 */
final class ProvenPassword
{
    private string $name;

    public function __construct(Account $account, #[\SensitiveParameter] string $password)
    {
        $this->name = 'tb_proven_' . Storage::keyedHash("password $account->id $password", 40);
    }

    public function isProven(): bool
    {
        return get_site_transient($this->name) === 'proven';
    }

    public function prove(): void
    {
        set_site_transient($this->name, 'proven', HOUR_IN_SECONDS);
    }
}
