<?php
declare(strict_types=1);

namespace TokenBucket\WordPress;

use IXR_Error;
use TokenBucket;
use WP_Error;
use WP_REST_Response;
use WP_User;

/**
 * Stands before the places where WordPress looks at a password: the filter `authenticate` (wp-login.php, XML-RPC, and whatever
 * else calls wp_signon() or wp_authenticate()), and application passwords sent by HTTP Basic authentication.
 */
final class Guard
{
    private const DENIED = 'too_many_attempts';

    /** What WordPress says of a wrong password and of an unknown user; they tell one from the other. */
    private const WRONG = ['incorrect_password', 'invalid_username', 'invalid_email', 'application_passwords_disabled_for_user'];

    /** @var list<?Attempt> the guesses under way through `authenticate`; null for one that is not limited */
    private array $underway = [];

    /** The guess of this request's Basic authentication, at which WordPress may look several times. */
    private ?Attempt $basic = null;
    private bool $isBasicKnown = false;

    public function register(): void
    {
        add_filter('authenticate', [$this, 'beforePassword'], PHP_INT_MIN, 3);
        add_filter('authenticate', [$this, 'afterPassword'], PHP_INT_MAX, 3);
        add_filter('check_password', [$this, 'passwordWasCompared'], PHP_INT_MAX, 3);
        add_action('shutdown', [$this, 'settleRightPasswords']);
        add_filter('application_password_is_api_request', [$this, 'beforeApplicationPassword'], PHP_INT_MAX);
        add_action('application_password_did_authenticate', [$this, 'applicationPasswordIsRight']);
        add_action('application_password_failed_authentication', [$this, 'applicationPasswordIsWrong'], 0);
        // Behind WordPress's own callback for application passwords.
        add_filter('rest_authentication_errors', [$this, 'answerRest'], 95);
        add_filter('rest_request_after_callbacks', [$this, 'answerRest'], PHP_INT_MAX);
        add_filter('xmlrpc_login_error', [$this, 'answerXmlRpc'], 10, 2);
        add_filter('shake_error_codes', fn (array $codes): array => [...$codes, self::DENIED]);
        add_action('wp_login', [$this, 'afterLogin'], 10, 2);
    }

    /** The first callback of `authenticate`: charges the guess. */
    public function beforePassword(mixed $user, mixed $name, #[\SensitiveParameter] mixed $password): mixed
    {
        $isApi = defined('XMLRPC_REQUEST') && constant('XMLRPC_REQUEST');
        $attempt = $this->attempt((string) $name, (string) $password, $isApi);
        if (!$attempt?->isDenied()) {
            $this->underway[] = $attempt;
            return $user;
        }
        // An error alone would not keep WordPress from looking at the password. No one logs in with a password during the rest
        // of this request.
        remove_all_filters('authenticate');
        return $this->denial($attempt);
    }

    /** The last callback of `authenticate`: gives the charge back, or counts a failure. */
    public function afterPassword(mixed $user, mixed $name, #[\SensitiveParameter] mixed $password): mixed
    {
        $attempt = array_pop($this->underway);
        $this->settle($attempt, $user);
        if (!is_wp_error($user) || !array_intersect($user->get_error_codes(), self::WRONG)) {
            return $user;
        }
        if ($attempt && !$attempt->isAccountKnown()) {
            // An unknown user takes as long as a known one.
            wp_hash_password((string) $password);
        }
        return $this->wrongPassword();
    }

    /** Sees that a password is right, whatever another plugin makes of it: it may want a second factor, too. */
    public function passwordWasCompared(mixed $isRight, #[\SensitiveParameter] mixed $password = null, #[\SensitiveParameter] mixed $hash = null): mixed
    {
        if ($isRight && is_string($hash)) {
            (end($this->underway) ?: null)?->passwordFits($hash);
        }
        return $isRight;
    }

    /** A plugin that asks for a second factor may end the request: behind a right password afterPassword() was not called then. */
    public function settleRightPasswords(): void
    {
        foreach ($this->underway as $attempt) {
            if ($attempt?->isPasswordRight()) {
                $this->settle($attempt, null);
            }
        }
    }

    /** Called where WordPress is about to look at an application password; false keeps it from that. */
    public function beforeApplicationPassword(mixed $isApiRequest): mixed
    {
        $name = $_SERVER['PHP_AUTH_USER'] ?? null;
        $password = $_SERVER['PHP_AUTH_PW'] ?? null;
        if (!$isApiRequest || !self::isBasicAuthentication() || !is_string($name) || !is_string($password)) {
            return $isApiRequest;
        }
        if (!$this->isBasicKnown) {
            $this->isBasicKnown = true;
            $this->basic = $this->attempt($name, $password, true, true);
        }
        if (!$this->basic?->isDenied()) {
            return $isApiRequest;
        }
        /** This action is documented in wp-includes/user.php */
        do_action('application_password_failed_authentication', $this->denied($this->basic));
        return false;
    }

    public function applicationPasswordIsRight(mixed $user = null): void
    {
        if (self::isBasicAuthentication()) {
            $this->settle($this->basic, $user);
        }
    }

    public function applicationPasswordIsWrong(mixed $error): void
    {
        if (!is_wp_error($error) || !self::isBasicAuthentication() || $error->get_error_code() === self::DENIED) {
            return;
        }
        $this->settle($this->basic, null);
        foreach (array_intersect($error->get_error_codes(), self::WRONG) as $code) {
            $error->remove($code);
            $error->merge_from($this->wrongPassword());
        }
    }

    /** A second factor may log the user in by a request without a password. Other plugins may fire `wp_login` without a user. */
    public function afterLogin(mixed $login, mixed $user = null): void
    {
        if ($user instanceof WP_User) {
            KnownBrowser::remember($user);
            $this->forgetRefusals($user);
        }
    }

    /**
     * A denied client is nobody. What nobody may do is answered with 429, and what everybody may do as without this plugin: the
     * credentials may be meant for something else, such as a proxy.
     */
    public function answerRest(mixed $response): mixed
    {
        $status = match (true) {
            is_wp_error($response) => ((array) $response->get_error_data())['status'] ?? 0,
            $response instanceof WP_REST_Response => $response->get_status(),
            default => 0,
        };
        return $this->basic?->isDenied() && in_array($status, [401, 403, 429], true) ? $this->denial($this->basic) : $response;
    }

    public function answerXmlRpc(mixed $answer, mixed $error = null): mixed
    {
        $isDenied = is_wp_error($error) && $error->get_error_code() === self::DENIED;
        return $isDenied ? new IXR_Error(429, $error->get_error_message()) : $answer;
    }

    /** Whether WordPress looks at an application password of Basic authentication; within `authenticate` the guess is charged there. */
    private static function isBasicAuthentication(): bool
    {
        $filters = array_intersect($GLOBALS['wp_current_filter'] ?? [], ['determine_current_user', 'authenticate']);
        return end($filters) === 'determine_current_user';
    }

    /** Charges a guess. Null if it is not limited. */
    private function attempt(string $name, #[\SensitiveParameter] string $password, bool $isApi, bool $isBasic = false): ?Attempt
    {
        // Without both, WordPress looks at no password: it shows wp-login.php, or reads a cookie.
        if ($name === '' || $password === '' || self::hasNoClient()) {
            return null;
        }
        $settings = Settings::load();
        $client = Client::ofRequest($settings);
        if ($client->isIn($settings->list('allowed'))) {
            return null;
        }
        $client = $isBasic ? $client->withApplicationPassword() : $client;
        $account = Account::named($name);
        $proof = $isApi ? new ProvenPassword($account, $password) : null;
        if ($proof?->isProven()) {
            return null;
        }
        try {
            return new StoredAttempt($settings, $client, $account, $proof);
        } catch (TokenBucket\ConfigurationException $exception) {
            // An owner who mistyped a DSN has to be able to log in. The page and the notice tell.
            (new SecurityLog($settings))->failed($exception);
            return null;
        } catch (TokenBucket\TokenBucketException $exception) {
            // Another user of this host may have brought that about: guesses are limited all the same.
            (new SecurityLog($settings))->failed($exception);
            return new DatabaseAttempt($settings, $client, $account, $proof);
        }
    }

    /** @param mixed $user who got in, if it is a user */
    private function settle(?Attempt $attempt, mixed $user): void
    {
        try {
            $attempt?->settle($user instanceof WP_User ? $user : null);
        } catch (TokenBucket\TokenBucketException $exception) {
            (new SecurityLog(Settings::load()))->failed($exception);
        }
    }

    private function forgetRefusals(WP_User $user): void
    {
        if (self::hasNoClient()) {
            return;
        }
        $settings = Settings::load();
        try {
            (new Limits($settings))->forgetRefusals(Client::ofRequest($settings)->network, Account::idsOfUsersNamed($user->user_login));
        } catch (TokenBucket\TokenBucketException $exception) {
            (new SecurityLog($settings))->failed($exception);
        }
    }

    /** Whether this is a script on the command line. */
    private static function hasNoClient(): bool
    {
        return PHP_SAPI === 'cli' && !isset($_SERVER['REMOTE_ADDR']);
    }

    /** The answer to a denied client. */
    private function denial(Attempt $attempt): WP_Error
    {
        if (!headers_sent()) {
            header('Retry-After: ' . self::minutes($attempt) * MINUTE_IN_SECONDS);
            // A fault of XML-RPC comes with status 200.
            if (!defined('XMLRPC_REQUEST')) {
                status_header(429);
            }
        }
        return $this->denied($attempt);
    }

    private function denied(Attempt $attempt): WP_Error
    {
        $minutes = self::minutes($attempt);
        /* translators: %s: number of minutes */
        $message = _n('Too many failed attempts. Please try again in %s minute.', 'Too many failed attempts. Please try again in %s minutes.', $minutes, 'token-bucket-login-guard');
        return new WP_Error(self::DENIED, sprintf($message, number_format_i18n($minutes)), ['status' => 429]);
    }

    private static function minutes(Attempt $attempt): int
    {
        return (int) ceil($attempt->retryAfter() / MINUTE_IN_SECONDS);
    }

    private function wrongPassword(): WP_Error
    {
        return new WP_Error('incorrect_password', __('The user name or the password is not right.', 'token-bucket-login-guard'));
    }
}
