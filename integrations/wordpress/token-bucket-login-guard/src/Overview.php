<?php
declare(strict_types=1);

namespace TokenBucket\WordPress;

/** What happens: who is blocked, who is denied most, and how much is counted. Everything that is shown is escaped here. */
final class Overview
{
    private readonly Limits $limits;

    public function __construct(private readonly Settings $settings)
    {
        $this->limits = new Limits($settings);
    }

    public function render(): void
    {
        $this->renderState();
        try {
            $this->renderBlocks();
        } finally {
            // It works also while the store cannot be read.
            self::renderUnblockForm();
        }
        $this->renderStatistics();
    }

    private function renderState(): void
    {
        if ($this->settings->isDryRun()) {
            self::notice(__('This is a dry run: attempts are counted and logged, and nobody is denied.', 'token-bucket-login-guard'));
        }
        $client = Client::ofRequest($this->settings);
        /* translators: %s: an address */
        echo '<p>', esc_html(sprintf(__('This plugin sees you at the address %s.', 'token-bucket-login-guard'), $client->address)), '</p>';
        if (Client::isBehindUnknownProxy($this->settings)) {
            /* translators: %s: an address */
            self::notice(sprintf(__('This request has a header X-Forwarded-For. If %s is a proxy of yours, write it below: without that all visitors share one limit.', 'token-bucket-login-guard'), (string) ($_SERVER['REMOTE_ADDR'] ?? '')));
        }
    }

    private function renderBlocks(): void
    {
        echo '<h2>', esc_html__('Blocked now', 'token-bucket-login-guard'), '</h2>';
        $rows = [];
        foreach (BlockList::all() as $block) {
            // The limit decides: a block may have been lifted elsewhere, or be gone since the host booted.
            $limiter = $block['account'] === '' ? $this->limits->network($block['network']) : $this->limits->pair($block['network'], $block['account']);
            if ($limiter->peek(0)->wouldDeny()) {
                $rows[] = [
                    $block['network'],
                    $block['account'] === '' ? __('all users', 'token-bucket-login-guard') : Account::describe($block['account']),
                    (string) wp_date('Y-m-d H:i:s', $block['until']),
                    (string) $block['nth'],
                    self::button($block['network'], $block['account']),
                ];
            }
        }
        self::table('token-bucket-blocked', [
            __('Network', 'token-bucket-login-guard'),
            __('User', 'token-bucket-login-guard'),
            __('Until', 'token-bucket-login-guard'),
            __('Block of the day', 'token-bucket-login-guard'),
            '',
        ], $rows, __('Nobody is blocked.', 'token-bucket-login-guard'));
    }

    /** For a client that is not in the lists. */
    private static function renderUnblockForm(): void
    {
        echo '<h2>', esc_html__('Unblock', 'token-bucket-login-guard'), '</h2><form method="post">', self::hiddenFields();
        printf('<label>%s <input name="address"></label> ', esc_html__('Address', 'token-bucket-login-guard'));
        printf('<label>%s <input name="user"></label> ', esc_html__('User name or e-mail address', 'token-bucket-login-guard'));
        printf('<button class="button">%s</button></form>', esc_html__('Unblock', 'token-bucket-login-guard'));
    }

    private function renderStatistics(): void
    {
        if (!extension_loaded('token_bucket')) {
            echo '<p>', esc_html__('The stand-in in plain PHP counts nothing. Denials and blocks are in the log.', 'token-bucket-login-guard'), '</p>';
            return;
        }
        $statistics = \TokenBucket\statistics();
        $counts = $denied = [];
        foreach (self::names() as $limit => $label) {
            $of = $statistics[$limit] ?? null;
            if ($of === null) {
                continue;
            }
            $counts[] = [$label, ...array_map(fn (string $key): string => number_format_i18n($of[$key]), ['checked', 'accepted', 'denied', 'would_deny', 'errors', 'degraded', 'evictions'])];
            foreach ($of['most_denied'] as $identifier => $times) {
                $row = $this->deniedClient($limit, (string) $identifier);
                if ($row !== null) {
                    $denied[] = [$label, ...$row, number_format_i18n($times)];
                }
            }
        }
        echo '<h2>', esc_html__('Counted since this host booted', 'token-bucket-login-guard'), '</h2>';
        self::table('token-bucket-counts', [
            __('Limit', 'token-bucket-login-guard'), __('Checked', 'token-bucket-login-guard'), __('Accepted', 'token-bucket-login-guard'),
            __('Denied', 'token-bucket-login-guard'), __('Would deny', 'token-bucket-login-guard'), __('Errors', 'token-bucket-login-guard'),
            __('Degraded', 'token-bucket-login-guard'), __('Evictions', 'token-bucket-login-guard'),
        ], $counts, __('Nothing was counted yet.', 'token-bucket-login-guard'));
        echo '<h2>', esc_html__('Denied most', 'token-bucket-login-guard'), '</h2>';
        self::table('token-bucket-denied', [
            __('Limit', 'token-bucket-login-guard'), __('Network', 'token-bucket-login-guard'), __('User', 'token-bucket-login-guard'),
            __('About how often', 'token-bucket-login-guard'),
        ], $denied, __('Nobody was denied yet.', 'token-bucket-login-guard'));
    }

    /** @return array{string, string}|null the network and the user; null for a client of another site */
    private function deniedClient(string $limit, string $identifier): ?array
    {
        $client = $this->limits->clientIn($limit, $identifier);
        if ($client === null) {
            return null;
        }
        // The account stands behind the last space.
        preg_match('/^(?:(.*) )?(.*)$/Ds', $client, $parts);
        [$network, $account] = $limit === Limits::NETWORK ? [$client, ''] : [$parts[1], $parts[2]];
        return [$network, Account::isId($account) ? Account::describe($account) : ''];
    }

    /** @return array<string, string> */
    private static function names(): array
    {
        return [
            Limits::NETWORK => __('A network', 'token-bucket-login-guard'),
            Limits::PAIR => __('A network and one user', 'token-bucket-login-guard'),
            Limits::USER => __('A user, from unknown browsers', 'token-bucket-login-guard'),
            Limits::BROWSER => __('A known browser', 'token-bucket-login-guard'),
        ];
    }

    /** @return array{html: string} */
    private static function button(string $network, string $account): array
    {
        return ['html' => sprintf(
            '<form method="post">%s<input type="hidden" name="network" value="%s"><input type="hidden" name="account" value="%s"><button class="button">%s</button></form>',
            self::hiddenFields(),
            esc_attr($network),
            esc_attr($account),
            esc_html__('Unblock', 'token-bucket-login-guard'),
        )];
    }

    private static function hiddenFields(): string
    {
        return wp_nonce_field(SettingsPage::UNBLOCK, '_wpnonce', true, false)
            . '<input type="hidden" name="guard_action" value="' . esc_attr(SettingsPage::UNBLOCK) . '">';
    }

    private static function notice(string $text): void
    {
        echo '<div class="notice notice-warning inline"><p>', esc_html($text), '</p></div>';
    }

    /**
     * @param list<string> $head
     * @param list<list<string|array{html: string}>> $rows texts, or HTML that is escaped already
     */
    private static function table(string $id, array $head, array $rows, string $empty): void
    {
        if ($rows === []) {
            echo '<p id="', esc_attr($id), '">', esc_html($empty), '</p>';
            return;
        }
        echo '<table class="widefat striped" id="', esc_attr($id), '"><thead><tr>';
        foreach ($head as $cell) {
            echo '<th>', esc_html($cell), '</th>';
        }
        echo '</tr></thead><tbody>';
        foreach ($rows as $row) {
            echo '<tr>';
            foreach ($row as $cell) {
                echo '<td>', is_array($cell) ? $cell['html'] : esc_html($cell), '</td>';
            }
            echo '</tr>';
        }
        echo '</tbody></table>';
    }
}
