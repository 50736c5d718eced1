<?php
declare(strict_types=1);

use PHPUnit\Framework\TestCase;

/** The page under Settings, and what its fields do. */
final class SettingsTest extends TestCase
{
    private const PAGE = '/wp-admin/options-general.php?page=token-bucket-login-guard';

    private string $admin;

    protected function setUp(): void
    {
        $this->admin = Site::single()->session();
    }

    protected function tearDown(): void
    {
        $this->save([]);
    }

    private function page(): string
    {
        return Site::single()->send(Site::get(self::PAGE, $this->admin))->body;
    }

    /** Sends the form with some fields changed; the rest has the defaults, and the tests' proxy. */
    private function save(array $changes): Answer
    {
        preg_match('~name="_wpnonce" value="(\w+)"(?:(?!</form>).)*value="token_bucket_save"~s', $this->page(), $nonce);
        return Site::single()->send(Site::post(self::PAGE, $changes + [
            '_wpnonce' => $nonce[1] ?? '', 'guard_action' => 'token_bucket_save',
            'network_tries' => '30', 'network_seconds' => '300', 'pair_tries' => '5', 'pair_seconds' => '300',
            'user_tries' => '100', 'user_seconds' => '3600', 'first_block' => '300',
            'allowed' => '', 'trusted_proxies' => '127.0.0.1', 'log' => 'error_log',
        ], $this->admin));
    }

    /** @return array<int, int> how many of some guesses were answered with each status */
    private static function guess(int $times, string $name, string $address): array
    {
        return array_count_values(Site::single()->statuses(array_fill(0, $times, Site::form($name, 'guess', $address))));
    }

    public function testTheListOfPluginsLinksThePage(): void
    {
        $site = Site::single();
        $plugins = $site->send(Site::get('/wp-admin/plugins.php', $site->session()))->body;
        $this->assertMatchesRegularExpression('~<a href="[^"]*' . preg_quote(self::PAGE) . '">Settings</a>~', $plugins);
    }

    public function testLimitsChangeAtTheNextAttempt(): void
    {
        $this->assertSame(302, $this->save(['pair_tries' => '3', 'first_block' => '60'])->status);
        $this->assertSame([200 => 3, 429 => 2], self::guess(5, 'user61', '198.51.100.40'));
        $this->assertSame('60', Site::single()->send(Site::form('user61', 'guess', '198.51.100.40'))->header('retry-after'));
    }

    public function testInvalidValuesAreNamedAndChangeNothing(): void
    {
        $answer = $this->save(['pair_tries' => '0', 'user_tries' => 'many', 'allowed' => "10.0.0.0/8\n10.0.0.0/99\n<script>", 'log' => '/etc/passwd']);
        $this->assertSame(200, $answer->status);
        foreach ([
            'A network and one user: failed attempts must be a whole number from 1 to 1000000.',
            'A user, from unknown browsers: failed attempts must be a whole number from 1 to 1000000.',
            '&quot;10.0.0.0/99&quot; is not one.', '&quot;&lt;script&gt;&quot; is not one.', 'The log must be one of those in the list.',
        ] as $text) {
            $this->assertStringContainsString($text, $answer->body);
        }
        $this->assertStringContainsString('name="pair_tries" value="5"', $this->page());
        $this->assertStringNotContainsString('10.0.0.0/99', $this->page());
    }

    public function testAllowedNetworksAreNotLimited(): void
    {
        $this->save(['allowed' => "192.0.2.128/25, 2001:db8:a::/48\n198.51.100.42"]);
        foreach (['192.0.2.200', '2001:db8:a:b::1', '198.51.100.42', '::ffff:192.0.2.201'] as $address) {
            $this->assertSame([200 => 7], self::guess(7, 'user62', $address), $address);
        }
        $this->assertSame([200 => 5, 429 => 2], self::guess(7, 'user62', '2001:db8:b::1'), 'beside the networks');
    }

    public function testTextInThePlaceOfAnAddressIsLimited(): void
    {
        foreach (['', '192.0.2.128/25'] as $i => $allowed) {
            $this->save(['allowed' => $allowed]);
            $this->assertSame([200 => 5, 429 => 2], self::guess(7, "user6$i", 'is in the list'));
        }
    }

    public function testALoginFromAPrivateAddressLogsNoForgottenProxy(): void
    {
        $before = strlen(Site::log());
        foreach (['', '192.0.2.0/24'] as $i => $allowed) {
            $this->save(['allowed' => $allowed]);
            $this->assertSame([200 => 1], self::guess(1, 'user67', "10.9.8.$i"));
        }
        $this->assertStringNotContainsString('X-Forwarded-For', substr(Site::log(), $before));
    }

    public function testAProxyAtAUnixSocketCanBeNamedAsAProxyOnly(): void
    {
        $this->assertSame(302, $this->save(['trusted_proxies' => "unix:\n127.0.0.1"])->status);
        $this->assertSame([200 => 5, 429 => 1], self::guess(6, 'user68', '198.51.100.46'));
        $this->assertStringContainsString('&quot;unix:&quot; is not one.', $this->save(['allowed' => 'unix:'])->body);
    }

    public function testOnlyTrustedProxiesAreBelieved(): void
    {
        $this->save(['trusted_proxies' => '10.0.0.0/8']);
        $statuses = Site::single()->statuses(array_map(fn (int $i): Request => Site::form('user63', 'guess', "198.51.100.$i"), range(50, 56)));
        $this->assertSame([200, 200, 200, 200, 200, 429, 429], $statuses, 'all have the address of the proxy');
        $this->assertStringContainsString('If 127.0.0.1 is a proxy of yours, write it below', $this->page());
    }

    public function testADryRunCountsAndLogsButDeniesNobody(): void
    {
        if (getenv('STAND_IN')) {
            $this->markTestSkipped('The stand-in counts nothing.');
        }
        $before = self::counts('A network and one user');
        $this->save(['dry_run' => '1']);
        $this->assertSame([200 => 12], self::guess(12, 'user64', '198.51.100.43'));
        $this->assertStringContainsString('This is a dry run', $this->page());
        $after = self::counts('A network and one user');
        $this->assertSame(7, $after['Would deny'] - $before['Would deny']);
        $this->assertSame($before['Denied'], $after['Denied']);
        $this->assertSame(7, substr_count(Site::log(), 'would deny 198.51.100.43 limits=pair'));
        // Nothing that a dry run would have done is in force after it, but that the tries are used up.
        $this->save([]);
        Site::advance(301);
        $this->assertTrue(Site::single()->send(Site::form('user64', 'right', '198.51.100.43'))->isLoggedIn());
    }

    public function testWithSyslogNothingIsInTheErrorLog(): void
    {
        $this->save(['log' => 'syslog']);
        $this->assertSame([200 => 5, 429 => 1], self::guess(6, 'user66', '198.51.100.45'));
        $this->assertStringNotContainsString('198.51.100.45', preg_replace('/ while reading .*/', '', Site::log()));
    }

    public function testThePageCountsWhatHappens(): void
    {
        if (getenv('STAND_IN')) {
            $this->markTestSkipped('The stand-in counts nothing.');
        }
        $before = self::counts('A network');
        self::guess(4, 'user65', '198.51.100.44');
        Site::single()->send(Site::form('user65', 'right', '198.51.100.44'));
        $after = self::counts('A network');
        // Right passwords are counted, too, for they are charged first: also that of the administrator who looks at the page.
        $this->assertSame($before['Checked'] + 6, $after['Checked']);
    }

    public function testOnTheStandInThePageSaysThatNothingIsCounted(): void
    {
        self::guess(6, 'user69', '198.51.100.47');
        $page = $this->page();
        $this->assertStringContainsString('<td>198.51.100.47</td><td>user69</td>', $page);
        $this->assertStringNotContainsString('Nothing was counted yet', $page);
        $this->assertSame((bool) getenv('STAND_IN'), str_contains($page, 'The stand-in in plain PHP counts nothing.'));
    }

    public function testTextOfClientsStaysTextOnThePage(): void
    {
        $names = ['<script>alert(2)</script>', '"onmouseover="alert(3)', "x\nx", '{{7*7}}', "'; DROP TABLE wp_users; --"];
        foreach ($names as $i => $name) {
            self::guess(8, $name, "198.51.102.$i");
        }
        // A user whom an import has made; his name is shown.
        self::guess(8, 'script@example.org', '198.51.102.90');
        $page = $this->page();
        $this->assertStringContainsString('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;', $page);
        foreach (['<script>alert(', 'onmouseover="alert', '{{7*7}}', 'DROP TABLE'] as $text) {
            $this->assertStringNotContainsString($text, $page);
        }
        $this->assertStringContainsString('a name without an account', $page);
        // Nor are names in the log: one that is no user's may be a password in the wrong field.
        $this->assertDoesNotMatchRegularExpression('/(denied|blocked).*(alert|DROP|7\*7)/', Site::log());
        $address = Site::single()->send(Site::get(self::PAGE, $this->admin, '<b>bold</b>'))->body;
        $this->assertStringNotContainsString('<b>bold</b>', $address);
    }

    /** @return array<string, int> a row of the page's table of counts */
    private static function counts(string $limit): array
    {
        $page = Site::single()->send(Site::get(self::PAGE, Site::single()->session()))->body;
        preg_match('~id="token-bucket-counts".*?</table>~s', $page, $table);
        preg_match_all('~<th>(.*?)</th>~', $table[0] ?? '', $head);
        preg_match('~<tr><td>' . $limit . '</td>(.*?)</tr>~', $table[0] ?? '', $row);
        preg_match_all('~<td>([\d,]+)</td>~', $row[1] ?? '', $cells);
        return array_combine(array_slice($head[1], 1), array_map(fn (string $cell): int => (int) str_replace(',', '', $cell), $cells[1]));
    }
}
