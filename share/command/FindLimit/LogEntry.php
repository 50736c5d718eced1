<?php
declare(strict_types=1);

namespace TokenBucket\Command\FindLimit;

/** What a line of a log says, so far as find-limit needs it. */
final class LogEntry
{
    /**
     * @param int                  $milliseconds since 1970
     * @param string|null          $user         who had logged in
     * @param array<string, mixed> $fields       all of a JSON line
     */
    public function __construct(
        public readonly int $milliseconds,
        public readonly string $address,
        public readonly string $request,
        public readonly string $userAgent,
        public readonly ?string $user,
        public readonly array $fields = [],
    ) {
    }
}
