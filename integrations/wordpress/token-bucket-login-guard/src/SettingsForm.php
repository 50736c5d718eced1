<?php
declare(strict_types=1);

namespace TokenBucket\WordPress;

/** The form with the limits: shows it, and checks what is sent. */
final class SettingsForm
{
    /** @var list<string> what is wrong with what was sent */
    private array $errors = [];

    /** @param array<string, mixed>|null $sent the fields as they were sent, without slashes; null if none were */
    public function __construct(private readonly Settings $settings, private readonly ?array $sent = null)
    {
    }

    /** Stores what was sent, unless anything is wrong with it. */
    public function save(): bool
    {
        $values = ['dry_run' => !empty($this->sent['dry_run'])];
        foreach (Settings::NUMBERS as $name => [, $least, $most]) {
            $number = filter_var($this->field($name), FILTER_VALIDATE_INT);
            $values[$name] = $number;
            if ($number === false || $number < $least || $number > $most) {
                /* translators: 1: name of a field, 2: smallest number, 3: largest number */
                $this->errors[] = sprintf(__('%1$s must be a whole number from %2$s to %3$s.', 'token-bucket-login-guard'), self::label($name), $least, $most);
            }
        }
        foreach (Settings::LISTS as $name => $isEntry) {
            $values[$name] = preg_split('/[\s,]+/', $this->field($name), -1, PREG_SPLIT_NO_EMPTY) ?: [];
            foreach ($values[$name] as $entry) {
                if (!$isEntry($entry)) {
                    /* translators: 1: name of a field, 2: what was written */
                    $this->errors[] = sprintf(__('%1$s must be addresses and networks such as 192.0.2.1, 10.0.0.0/8 or 2001:db8::/32, one a line; "%2$s" is not one.', 'token-bucket-login-guard'), self::label($name), $entry);
                }
            }
        }
        $values['log'] = $this->field('log');
        if (!in_array($values['log'], Settings::LOGS, true)) {
            $this->errors[] = __('The log must be one of those in the list.', 'token-bucket-login-guard');
        }
        if ($this->errors !== []) {
            return false;
        }
        Settings::save($values);
        return true;
    }

    public function render(): void
    {
        foreach ($this->errors as $error) {
            echo '<div class="notice notice-error"><p>', esc_html($error), '</p></div>';
        }
        echo '<h2>', esc_html__('Limits', 'token-bucket-login-guard'), '</h2><form method="post">';
        wp_nonce_field(SettingsPage::SAVE);
        echo '<input type="hidden" name="guard_action" value="', esc_attr(SettingsPage::SAVE), '"><table class="form-table" role="presentation">';
        $isOn = $this->sent === null ? $this->settings->isDryRunChosen() : !empty($this->sent['dry_run']);
        self::row('dry_run', '<label><input type="checkbox" id="dry_run" name="dry_run" value="1"' . checked($isOn, true, false) . '> '
            . esc_html__('Count and log, but deny nobody', 'token-bucket-login-guard') . '</label>');
        foreach (Settings::NUMBERS as $name => [, $least, $most]) {
            $input = '<input type="number" id="%1$s" name="%1$s" value="%2$s" min="%3$d" max="%4$d">';
            self::row($name, sprintf($input, esc_attr($name), esc_attr($this->field($name)), $least, $most));
        }
        foreach (array_keys(Settings::LISTS) as $name) {
            self::row($name, sprintf('<textarea id="%1$s" name="%1$s" rows="4" cols="45" class="code">%2$s</textarea>', esc_attr($name), esc_textarea($this->field($name))));
        }
        $options = '';
        foreach (Settings::LOGS as $log) {
            $options .= sprintf('<option value="%1$s"%2$s>%1$s</option>', esc_attr($log), selected($this->field('log'), $log, false));
        }
        self::row('log', '<select id="log" name="log">' . $options . '</select>');
        echo '</table>';
        submit_button();
        echo '</form>';
    }

    /** What was sent, or else what is in force. */
    private function field(string $name): string
    {
        if ($this->sent !== null) {
            $field = $this->sent[$name] ?? '';
            return is_string($field) ? trim($field) : '';
        }
        return match (true) {
            isset(Settings::NUMBERS[$name]) => (string) $this->settings->number($name),
            isset(Settings::LISTS[$name]) => implode("\n", $this->settings->list($name)),
            default => $this->settings->log(),
        };
    }

    /** @param string $html escaped */
    private static function row(string $name, string $html): void
    {
        echo '<tr><th scope="row"><label for="', esc_attr($name), '">', esc_html(self::label($name)), '</label></th><td>', $html, '</td></tr>';
    }

    private static function label(string $name): string
    {
        return [
            'dry_run' => __('Dry run', 'token-bucket-login-guard'),
            'network_tries' => __('A network: failed attempts', 'token-bucket-login-guard'),
            'network_seconds' => __('A network: in so many seconds', 'token-bucket-login-guard'),
            'pair_tries' => __('A network and one user: failed attempts', 'token-bucket-login-guard'),
            'pair_seconds' => __('A network and one user: in so many seconds', 'token-bucket-login-guard'),
            'user_tries' => __('A user, from unknown browsers: failed attempts', 'token-bucket-login-guard'),
            'user_seconds' => __('A user, from unknown browsers: in so many seconds', 'token-bucket-login-guard'),
            'first_block' => __('First block of a day, in seconds (each further one lasts twice as long)', 'token-bucket-login-guard'),
            'allowed' => __('Networks that are never limited', 'token-bucket-login-guard'),
            'trusted_proxies' => __('Trusted proxies, whose X-Forwarded-For is believed', 'token-bucket-login-guard'),
            'log' => __('Log', 'token-bucket-login-guard'),
        ][$name];
    }
}
