<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** What a line of a log says, so far as find-limit needs it. */
final class LogEntry
{
    /**
     * @param int                  $milliseconds since 1970
     * @param string               $address      as the log has it; ClientAddress reads it
     * @param string|null          $user         who had logged in
     * @param string               $forwarded    X-Forwarded-For, if the log has it beside the address
     * @param array<string, mixed> $fields       all of a JSON line
     */
    public function __construct(
        public readonly int $milliseconds,
        public readonly string $address,
        public readonly string $request,
        public readonly string $userAgent,
        public readonly ?string $user,
        public readonly string $forwarded = '',
        public readonly array $fields = [],
    ) {
    }

    /** Whether it can be what a log says of a request: it has a time of the last years, and an address if clients are addresses. */
    public function isPlausible(ClientKey $key): bool
    {
        return LogTime::isPlausible($this->milliseconds) && (!$key->isAddress() || $key->of($this) !== null);
    }
}
