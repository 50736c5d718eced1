<?php
declare(strict_types=1);

namespace TokenBucket\WordPress;

/** What the administrator has set; the defaults where nothing is. In a multisite the whole network has one. */
final class Settings
{
    public const OPTION = 'token_bucket_login_guard';

    /** The default, the least and the most of each number. */
    public const NUMBERS = [
        'network_tries' => [30, 1, 1_000_000],
        'network_seconds' => [300, 1, 604_800],
        'pair_tries' => [5, 1, 1_000_000],
        'pair_seconds' => [300, 1, 604_800],
        'user_tries' => [100, 1, 1_000_000],
        'user_seconds' => [3600, 1, 604_800],
        'first_block' => [300, 1, 86_400],
    ];

    /** What an entry of each list is. */
    public const LISTS = ['allowed' => [Client::class, 'isNetwork'], 'trusted_proxies' => [Client::class, 'isProxy']];
    public const LOGS = ['error_log', 'syslog'];

    /** @param array<string, mixed> $values */
    private function __construct(private readonly array $values)
    {
    }

    public static function load(): self
    {
        $stored = get_site_option(self::OPTION, null);
        if ($stored === null && is_multisite()) {
            // A single site that became a multisite has them where they were, until they are saved again.
            $stored = get_blog_option(get_main_site_id(), self::OPTION, []);
        }
        return new self(is_array($stored) ? $stored : []);
    }

    /** @param array<string, mixed> $values checked by SettingsForm */
    public static function save(array $values): void
    {
        update_site_option(self::OPTION, $values);
    }

    public static function delete(): void
    {
        delete_site_option(self::OPTION);
        if (is_multisite()) {
            delete_blog_option(get_main_site_id(), self::OPTION);
        }
    }

    public function number(string $name): int
    {
        [$default, $least, $most] = self::NUMBERS[$name];
        $value = $this->values[$name] ?? null;
        return is_int($value) ? max($least, min($most, $value)) : $default;
    }

    /** @return list<string> addresses and networks; what is none was not written on the page, and is left out */
    public function list(string $name): array
    {
        return array_values(array_filter((array) ($this->values[$name] ?? []), self::LISTS[$name]));
    }

    public function log(): string
    {
        $log = $this->values['log'] ?? null;
        return in_array($log, self::LOGS, true) ? $log : self::LOGS[0];
    }

    public function isDryRunChosen(): bool
    {
        return !empty($this->values['dry_run']);
    }

    /** Whether everything is counted and nothing denied: by the switch on the page, or by token_bucket.enforce. */
    public function isDryRun(): bool
    {
        return $this->isDryRunChosen() || !Storage::isEnforced();
    }
}
