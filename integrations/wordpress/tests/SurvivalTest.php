<?php
declare(strict_types=1);

use PHPUnit\Framework\TestCase;

/** Without the extension, with a store that cannot be used, in a multisite, and from the command line. */
final class SurvivalTest extends TestCase
{
    protected function tearDown(): void
    {
        @unlink(Site::state('storage'));
    }

    public function testLoginsWorkWithoutTheExtensionAndANoticeTells(): void
    {
        if (getenv('STAND_IN')) {
            $this->markTestSkipped('The stand-in is on every PHP.');
        }
        $site = Site::withoutExtension();
        $this->assertSame(array_fill(0, 8, 200), $site->statuses(array_fill(0, 8, Site::form('user70', 'guess', '198.51.100.60'))));
        $admin = $site->session();
        foreach (['/wp-admin/index.php', '/wp-admin/plugins.php', '/wp-admin/options-general.php?page=token-bucket-login-guard'] as $path) {
            $page = $site->send(Site::get($path, $admin));
            $this->assertSame(200, $page->status, $path);
            $this->assertStringContainsString('Logins are not limited, because the PHP extension token_bucket is not loaded in this PHP (', $page->body);
        }
        $this->assertSame(200, $site->send(Site::rest('amy', (string) file_get_contents(Site::state('application-password')), '198.51.100.60'))->status);
        $this->assertStringContainsString('isAdmin', $site->send(Site::xmlRpc('198.51.100.60', 'wp.getUsersBlogs', 'joe', 'right'))->body);
    }

    public function testTheNoticeIsForAdministratorsOnly(): void
    {
        $site = Site::withoutExtension();
        $this->assertStringNotContainsString('Logins are not limited', $site->send(Site::get('/wp-admin/profile.php', $site->session('user71')))->body);
    }

    public function testLoginsWorkWithAStoreThatCannotBeUsedAndANoticeTells(): void
    {
        $site = Site::single();
        file_put_contents(Site::state('storage'), 'redsi://:secret-of-the-store@127.0.0.1');
        $admin = $site->session();
        $page = $site->send(Site::get('/wp-admin/options-general.php?page=token-bucket-login-guard', $admin));
        $this->assertSame(200, $page->status);
        $this->assertStringContainsString('Logins are not limited, because the store of the limits cannot be used: Unknown scheme &quot;redsi:&quot;', $page->body);
        $this->assertStringNotContainsString('secret-of-the-store', $page->body . Site::log());
        $this->assertStringContainsString('token-bucket-login-guard: cannot limit logins: Unknown scheme', Site::log());
    }

    public function testADryRunDeniesNobodyAlsoWhereTheDsnEnforces(): void
    {
        file_put_contents(Site::state('storage'), 'shm:other?enforce=1');
        $database = Site::database();
        $set = $database->prepare("UPDATE wp_options SET option_value = ? WHERE option_name = 'token_bucket_login_guard'");
        $set->execute([serialize(['trusted_proxies' => ['127.0.0.1'], 'dry_run' => true])]);
        $statuses = Site::single()->statuses(array_fill(0, 8, Site::form('user74', 'guess', '198.51.100.65')));
        $set->execute([serialize(['trusted_proxies' => ['127.0.0.1']])]);
        $this->assertSame(array_fill(0, 8, 200), $statuses);
    }

    public function testAStoreThatIsDownAnswersByOnError(): void
    {
        if (getenv('STAND_IN')) {
            $this->markTestSkipped('The stand-in has no servers.');
        }
        $site = Site::single();
        // Port 9 is closed: the limits of this host take over, as on_error=fallback says.
        file_put_contents(Site::state('storage'), 'redis://127.0.0.1:9');
        $counts = array_count_values($site->statuses(array_fill(0, 8, Site::form('user72', 'guess', '198.51.100.61'))));
        $this->assertSame([200 => 5, 429 => 3], $counts);
    }

    public function testSettingsThatAreNoneAreReplacedByTheDefaults(): void
    {
        $database = Site::database();
        $stored = $database->query("SELECT option_value FROM wp_options WHERE option_name = 'token_bucket_login_guard'")->fetch_row()[0];
        $set = $database->prepare("UPDATE wp_options SET option_value = ? WHERE option_name = 'token_bucket_login_guard'");
        $bad = [
            serialize('no list'),
            serialize(['trusted_proxies' => ['127.0.0.1/99', 7, ['x']], 'allowed' => 'nowhere', 'pair_tries' => 'five', 'first_block' => [], 'log' => 1]),
            serialize(['pair_tries' => -1, 'network_tries' => PHP_INT_MAX]),
        ];
        try {
            foreach ($bad as $value) {
                $set->execute([$value]);
                // Without a trusted proxy all come from the one address of the tests.
                $statuses = Site::single()->statuses(array_fill(0, 6, Site::form('user73', 'guess', '198.51.100.64')));
                $this->assertSame(429, end($statuses), $value);
                $this->assertContains($statuses[0], [200, 429]);
            }
        } finally {
            $set->execute([$stored]);
        }
    }

    public function testANetworkOfSitesIsLimitedAndHasItsPageAmongTheNetworksSettings(): void
    {
        $site = Site::network();
        $counts = array_count_values($site->statuses(array_fill(0, 8, Site::form('ann', 'guess', '198.51.100.62'))));
        $this->assertSame([200 => 5, 429 => 3], $counts);
        $admin = $site->session();
        $page = $site->send(Site::get('/wp-admin/network/settings.php?page=token-bucket-login-guard', $admin));
        $this->assertSame(200, $page->status);
        $this->assertStringContainsString('<td>198.51.100.62</td><td>ann</td>', $page->body);
        // An administrator of one site does not see it.
        $this->assertSame(403, $site->send(Site::get('/wp-admin/network/settings.php?page=token-bucket-login-guard', $site->session('ann')))->status);
        $this->assertSame(403, $site->send(Site::get('/wp-admin/options-general.php?page=token-bucket-login-guard', $site->session('ann')))->status);
    }

    public function testASingleSiteThatBecomesAMultisiteKeepsItsSettings(): void
    {
        $database = Site::database();
        $of = "WHERE meta_key = 'token_bucket_login_guard'";
        $stored = $database->query("SELECT meta_value FROM net_sitemeta $of")->fetch_row()[0];
        $settings = serialize(['trusted_proxies' => ['127.0.0.1'], 'pair_tries' => 3, 'allowed' => ['192.0.2.77']]);
        $insert = fn (string $table, string $columns, mixed ...$values) => $database->execute_query("INSERT INTO $table ($columns) VALUES (" . implode(', ', array_fill(0, count($values), '?')) . ')', $values);
        $database->query("DELETE FROM net_sitemeta $of");
        $insert('net_options', 'option_name, option_value', 'token_bucket_login_guard', $settings);
        try {
            foreach (['198.51.100.66' => [200 => 3, 429 => 2], '198.51.100.67' => [200 => 3, 429 => 2], '192.0.2.77' => [200 => 5]] as $address => $counts) {
                $this->assertSame($counts, array_count_values(Site::network()->statuses(array_fill(0, 5, Site::form('ann', 'guess', $address)))), $address);
            }
        } finally {
            $insert('net_sitemeta', 'site_id, meta_key, meta_value', 1, 'token_bucket_login_guard', $stored);
        }
        // What is saved for the network counts from then on.
        $this->assertSame([200 => 5], array_count_values(Site::network()->statuses(array_fill(0, 5, Site::form('ann', 'guess', '198.51.100.68')))));
    }

    public function testTheSitesOfOnePhpUserDoNotShareLimits(): void
    {
        Site::single()->statuses(array_fill(0, 6, Site::form('admin', 'guess', '198.51.100.63')));
        $this->assertTrue(Site::network()->send(Site::form('admin', 'right', '198.51.100.63'))->isLoggedIn());
        $this->assertSame(429, Site::single()->send(Site::form('admin', 'right', '198.51.100.63'))->status);
    }

    public function testUninstallingRemovesWhatThePluginKeeps(): void
    {
        $database = Site::database();
        $left = "SELECT (SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'wordpress' AND table_name = 'net_token_bucket_blocks')"
            . " + (SELECT COUNT(*) FROM net_sitemeta WHERE meta_key = 'token_bucket_login_guard')"
            . " + (SELECT COUNT(*) FROM net_options WHERE option_name = 'token_bucket_login_guard')";
        $this->assertSame(3, (int) $database->query($left)->fetch_row()[0]);
        exec('TEST_SITE=network HTTP_HOST=' . escapeshellarg(getenv('TEST_NETWORK')) . ' ' . escapeshellarg(PHP_BINARY) . ' '
            . escapeshellarg(__DIR__ . '/uninstall.php') . ' ' . escapeshellarg(getenv('TEST_FOLDER') . '/wordpress') . ' 2>&1', $output, $status);
        $this->assertSame(0, $status, implode("\n", $output));
        $this->assertSame(0, (int) $database->query($left)->fetch_row()[0]);
    }

    public function testNothingWarnsInTheLogs(): void
    {
        foreach (['single', 'network', 'without'] as $site) {
            // The extension warns when a server is down; that test has run.
            preg_match_all('~PHP (?:Fatal|Warning|Notice|Deprecated)(?!:  TokenBucket.*cannot connect)[^\n]*/token-bucket-login-guard/[^\n]*~', Site::log($site), $lines);
            $this->assertSame([], $lines[0]);
        }
    }
}
