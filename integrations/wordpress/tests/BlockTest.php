<?php
declare(strict_types=1);

use PHPUnit\Framework\TestCase;

/** Blocks, who is shown as blocked, and how a block is lifted. */
final class BlockTest extends TestCase
{
    private const PAGE = '/wp-admin/options-general.php?page=token-bucket-login-guard';

    /** How long the next attempt is told to wait after some failures. */
    private static function waitAfter(int $failures, string $name, string $address): int
    {
        Site::single()->statuses(array_fill(0, $failures, Site::form($name, 'guess', $address)));
        return (int) Site::single()->send(Site::form($name, 'guess', $address))->header('retry-after');
    }

    private static function page(string $cookies): string
    {
        return Site::single()->send(Site::get(self::PAGE, $cookies))->body;
    }

    /** The fields of the form of a row of the list. */
    private static function rowForm(string $page, string $network): array
    {
        preg_match('~<td>' . preg_quote($network, '~') . '</td>(?:(?!</tr>).)*<form method="post">(.*?)</form>~s', $page, $form);
        preg_match_all('~name="(\w+)" value="([^"]*)"~', $form[1] ?? '', $fields);
        return array_combine($fields[1], array_map('html_entity_decode', $fields[2]));
    }

    public function testEachBlockOfADayLastsTwiceAsLongAsTheOneBefore(): void
    {
        $waits = [];
        foreach (range(1, 4) as $i) {
            $waits[] = $wait = self::waitAfter(5, 'leo', '198.51.100.30');
            Site::advance($wait / 2);
            // Attempts during a block do not lengthen it.
            $this->assertSame((int) ceil($wait / 2 / 60) * 60, self::waitAfter(20, 'leo', '198.51.100.30'));
            Site::advance($wait / 2 + 1);
        }
        $this->assertSame([300, 600, 1200, 2400], $waits);
        foreach (range(5, 8) as $i) {
            $wait = self::waitAfter(5, 'leo', '198.51.100.30');
            Site::advance($wait + 1);
        }
        $this->assertSame(300 * 2 ** 7, $wait);
        Site::advance(86400);
        $this->assertSame(300, self::waitAfter(5, 'leo', '198.51.100.30'), 'a day later');
    }

    public function testOnlyABlockedNetworkIsDeniedAndThePageListsIt(): void
    {
        self::waitAfter(5, 'mia', '198.51.100.31');
        $this->assertTrue(Site::single()->send(Site::form('mia', 'right', '198.51.100.32'))->isLoggedIn(), 'from elsewhere');
        $this->assertTrue(Site::single()->send(Site::form('ned', 'right', '198.51.100.31'))->isLoggedIn(), 'another user from there');
        $row = self::rowForm(self::page(Site::single()->session()), '198.51.100.31');
        $this->assertSame('token_bucket_unblock', $row['guard_action'] ?? null);
    }

    public function testUnblockingNeedsTheNonceAndTheRight(): void
    {
        $site = Site::single();
        $address = '198.51.100.33';
        self::waitAfter(5, 'pat', $address);
        $admin = $site->session();
        $fields = self::rowForm(self::page($admin), $address);
        $isDenied = fn (): bool => $site->send(Site::form('pat', 'right', $address))->status === 429;

        $this->assertSame(403, $site->send(Site::post(self::PAGE, ['_wpnonce' => ''] + $fields, $admin))->status);
        $this->assertSame(403, $site->send(Site::post(self::PAGE, ['_wpnonce' => '0123456789'] + $fields, $admin))->status);
        $this->assertSame(403, $site->send(Site::post(self::PAGE, $fields, $site->session('ann')))->status, 'a subscriber');
        $this->assertSame(302, $site->send(Site::post(self::PAGE, $fields))->status, 'nobody: sent to the login');
        $this->assertTrue($isDenied());

        $done = $site->send(Site::post(self::PAGE, $fields, $admin));
        $this->assertSame(302, $done->status);
        $this->assertStringContainsString('done=unblocked', $done->header('location'));
        $this->assertFalse($isDenied());
        $this->assertSame([], self::rowForm(self::page($admin), $address), 'the row is gone');
    }

    public function testUnblockingByAddressAndUserThatAnAdministratorWrites(): void
    {
        $site = Site::single();
        $admin = $site->session();
        $nonce = fn (): array => array_intersect_key(self::unblockForm($admin), ['_wpnonce' => 0, 'guard_action' => 0]);
        // The thirtieth failure blocks the network, also for users who have not failed.
        $site->statuses(array_map(fn (int $i): Request => Site::form("user$i", 'guess', "2001:db8:7::$i"), range(1, 30)));
        $this->assertSame(429, $site->send(Site::form('pat', 'right', '2001:db8:7::ffff'))->status);
        $this->assertStringContainsString('all users', self::page($admin));
        $site->send(Site::post(self::PAGE, $nonce() + ['address' => ' 2001:db8:7::abcd '], $admin));
        $this->assertTrue($site->send(Site::form('pat', 'right', '2001:db8:7::ffff'))->isLoggedIn());

        $bad = $site->send(Site::post(self::PAGE, $nonce() + ['address' => '<b>nowhere</b>'], $admin));
        $this->assertStringContainsString('The address must be an IPv4 or IPv6 address', $bad->body);
        $none = $site->send(Site::post(self::PAGE, $nonce() + ['address' => '', 'user' => ''], $admin));
        $this->assertStringContainsString('Write an address, a user, or both.', $none->body);

        self::waitAfter(5, 'user99', '198.51.100.34');
        $site->send(Site::post(self::PAGE, $nonce() + ['user' => 'USER99@example.org'], $admin));
        $this->assertTrue($site->send(Site::form('user99', 'right', '198.51.100.34'))->isLoggedIn(), 'unblocked by the name alone');
        self::waitAfter(5, 'user99@example.org', '198.51.100.35');
        $this->assertStringContainsString('<td>198.51.100.35</td><td>user99, by e-mail address</td>', self::page($admin));
        $site->send(Site::post(self::PAGE, $nonce() + ['user' => 'user99'], $admin));
        $this->assertTrue($site->send(Site::form('user99@example.org', 'right', '198.51.100.35'))->isLoggedIn(), 'as an address, too');
    }

    /** The form for a client that is in no list. */
    private static function unblockForm(string $cookies): array
    {
        preg_match('~<form method="post">((?:(?!</form>).)*name="address".*?)</form>~s', self::page($cookies), $form);
        preg_match_all('~name="(\w+)" value="([^"]*)"~', $form[1] ?? '', $fields);
        return array_combine($fields[1], $fields[2]);
    }
}
