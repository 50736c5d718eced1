<?php
declare(strict_types=1);

namespace TokenBucket\WordPress;

use TokenBucket;

/** The page under Settings; in a multisite under those of the network. */
final class SettingsPage
{
    public const SAVE = 'token_bucket_save';
    public const UNBLOCK = 'token_bucket_unblock';
    private const SLUG = 'token-bucket-login-guard';

    private ?SettingsForm $form = null;
    private string $error = '';

    public static function capability(): string
    {
        return is_multisite() ? 'manage_network_options' : 'manage_options';
    }

    public function register(): void
    {
        $prefix = is_multisite() ? 'network_admin_' : '';
        add_action(is_multisite() ? 'network_admin_menu' : 'admin_menu', [$this, 'add']);
        add_filter("{$prefix}plugin_action_links_" . plugin_basename(dirname(__DIR__) . '/token-bucket-login-guard.php'), [$this, 'addLink']);
    }

    /** Links the page beside the plugin in the list of plugins. */
    public function addLink(array $links): array
    {
        $url = self_admin_url(self::parent() . '?page=' . self::SLUG);
        return ['settings' => '<a href="' . esc_url($url) . '">' . esc_html__('Settings', 'token-bucket-login-guard') . '</a>', ...$links];
    }

    private static function parent(): string
    {
        return is_multisite() ? 'settings.php' : 'options-general.php';
    }

    public function add(): void
    {
        $title = __('Login Guard', 'token-bucket-login-guard');
        $hook = add_submenu_page(self::parent(), $title, $title, self::capability(), self::SLUG, [$this, 'render']);
        if ($hook !== false) {
            add_action("load-$hook", [$this, 'handlePost']);
        }
    }

    /** Runs before the page is shown. */
    public function handlePost(): void
    {
        $action = $_POST['guard_action'] ?? null;
        if (!in_array($action, [self::SAVE, self::UNBLOCK], true) || !Storage::isExtensionLoaded()) {
            return;
        }
        check_admin_referer($action);
        if (!current_user_can(self::capability())) {
            wp_die(esc_html__('You may not change this.', 'token-bucket-login-guard'), 403);
        }
        $sent = wp_unslash($_POST);
        $settings = Settings::load();
        if ($action === self::SAVE) {
            $this->form = new SettingsForm($settings, $sent);
            if ($this->form->save()) {
                $this->reload('saved');
            }
            return;
        }
        try {
            $this->error = self::unblock($settings, $sent);
            if ($this->error === '') {
                $this->reload('unblocked');
            }
        } catch (TokenBucket\TokenBucketException $exception) {
            $this->error = $exception->getMessage();
        }
    }

    public function render(): void
    {
        echo '<div class="wrap"><h1>', esc_html__('Login Guard', 'token-bucket-login-guard'), '</h1>';
        if (!Storage::isExtensionLoaded()) {
            echo '<p>', esc_html__('Without the PHP extension token_bucket there is nothing to set.', 'token-bucket-login-guard'), '</p></div>';
            return;
        }
        $done = [
            'saved' => __('The settings are saved.', 'token-bucket-login-guard'),
            'unblocked' => __('Nothing blocks this client any more.', 'token-bucket-login-guard'),
        ][(string) filter_input(INPUT_GET, 'done')] ?? '';
        if ($this->error !== '') {
            echo '<div class="notice notice-error"><p>', esc_html($this->error), '</p></div>';
        } elseif ($done !== '') {
            echo '<div class="notice notice-success"><p>', esc_html($done), '</p></div>';
        }
        $settings = Settings::load();
        try {
            (new Overview($settings))->render();
        } catch (TokenBucket\TokenBucketException $exception) {
            echo '<p>', esc_html($exception->getMessage()), '</p>';
        }
        ($this->form ?? new SettingsForm($settings))->render();
        echo '</div>';
    }

    /**
     * @param array<string, mixed> $sent
     *
     * @return string what is wrong; '' if the client is unblocked
     */
    private static function unblock(Settings $settings, array $sent): string
    {
        $field = fn (string $name): string => is_string($sent[$name] ?? null) ? trim($sent[$name]) : '';
        // A row of the list sends network and account as they are kept, the form what an administrator wrote.
        $networks = $field('network') === '' ? [] : [substr($field('network'), 0, 64)];
        $accounts = Account::isId($field('account')) ? [$field('account')] : [];
        if ($field('address') !== '') {
            $network = Client::at($field('address'))->network;
            $networks = [$network, Client::basicNetwork($network)];
            if ($network === 'unknown') {
                return __('The address must be an IPv4 or IPv6 address, such as 192.0.2.1 or 2001:db8::1.', 'token-bucket-login-guard');
            }
        }
        if ($field('user') !== '') {
            $accounts = Account::idsOfUsersNamed($field('user'));
        }
        if ($networks === [] && $accounts === []) {
            return __('Write an address, a user, or both.', 'token-bucket-login-guard');
        }
        foreach ($networks ?: [null] as $network) {
            (new Unblocking($settings))->unblock($network, $accounts);
        }
        return '';
    }

    private function reload(string $done): never
    {
        $parent = is_multisite() ? network_admin_url('settings.php') : admin_url('options-general.php');
        wp_safe_redirect(add_query_arg(['page' => self::SLUG, 'done' => $done], $parent));
        exit;
    }
}
