<?php
declare(strict_types=1);

namespace TokenBucket\WordPress;

/**
 * Writes the lines that fail2ban reads: fail2ban/filter.d/token-bucket-login-guard.conf has their pattern. They hold no text
 * that a client wrote: the user is a number, and a name without an account is "-".
 */
final class SecurityLog
{
    private const IDENT = 'token-bucket-login-guard';

    public function __construct(private readonly Settings $settings)
    {
    }

    /** @param list<string> $limits the names of the limits that deny */
    public function denied(Client $client, Account $account, array $limits): void
    {
        $verb = $this->settings->isDryRun() ? 'would deny' : 'denied';
        $this->write("$verb " . self::client($client) . ' limits=' . implode(',', $limits) . self::user($account));
    }

    public function blocked(Client $client, ?Account $account, int $seconds, int $nth): void
    {
        $this->write('blocked ' . self::client($client) . " seconds=$seconds nth=$nth" . ($account ? self::user($account) : ''));
    }

    public function failed(\Throwable $exception): void
    {
        $what = $exception instanceof \TokenBucket\ConfigurationException ? 'cannot limit logins' : "limits logins in WordPress's database";
        $this->write("$what: " . sanitize_text_field($exception->getMessage()));
    }

    /** The filter for fail2ban does not match what a page of another site does to a network. */
    private static function client(Client $client): string
    {
        return ($client->isCrossSite ? 'cross-site ' : '') . $client->network;
    }

    private static function user(Account $account): string
    {
        return ' user=' . ($account->firstUser()->ID ?? '-');
    }

    private function write(string $line): void
    {
        if ($this->settings->log() === 'syslog') {
            openlog(self::IDENT, LOG_PID, LOG_AUTH);
            syslog(LOG_NOTICE, $line);
            closelog();
        } else {
            error_log(self::IDENT . ": $line");
        }
    }
}
