<?php
declare(strict_types=1);

namespace TokenBucket\WordPress;

/** Tells administrators when logins are not limited, on every page of the administration. */
final class Notices
{
    public function register(): void
    {
        add_action('admin_notices', [$this, 'show']);
        add_action('network_admin_notices', [$this, 'show']);
    }

    public function show(): void
    {
        $problem = current_user_can(SettingsPage::capability()) ? self::problem() : null;
        if ($problem !== null) {
            echo '<div class="notice notice-error"><p><strong>Token Bucket Login Guard:</strong> ', esc_html($problem), '</p></div>';
        }
    }

    private static function problem(): ?string
    {
        if (!Storage::isExtensionLoaded()) {
            /* translators: 1: version of PHP, 2: how PHP runs, such as fpm-fcgi */
            $text = __('Logins are not limited, because the PHP extension token_bucket is not loaded in this PHP (%1$s, %2$s). Logins work as they do without the plugin. Install the extension, restart PHP, and this notice goes away.', 'token-bucket-login-guard');
            return sprintf($text, PHP_VERSION, PHP_SAPI);
        }
        return Storage::problem();
    }
}
