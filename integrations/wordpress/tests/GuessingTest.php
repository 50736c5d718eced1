<?php
declare(strict_types=1);

use PHPUnit\Framework\TestCase;

/** Attacks, and how many passwords WordPress looked at. */
final class GuessingTest extends TestCase
{
    /** @param list<Request> $requests */
    private static function lookedAt(array $requests): int
    {
        $before = Site::counted('authenticate');
        Site::single()->sendAll($requests);
        return Site::counted('authenticate') - $before;
    }

    public function testFiveOf200ParallelGuessesByFormAndXmlRpcAreLookedAt(): void
    {
        $requests = [];
        foreach (range(1, 200) as $i) {
            $requests[] = $i % 2 ? Site::form('joe', "guess$i", '198.51.100.1') : Site::xmlRpc('198.51.100.1', 'wp.getUsersBlogs', 'joe', "guess$i");
        }
        $hashed = Site::counted('hashed');
        $this->assertSame(5, self::lookedAt($requests));
        $this->assertSame(5, Site::counted('hashed') - $hashed);
        $this->assertSame(1, substr_count(Site::log(), 'blocked 198.51.100.1 '), 'blocks');
        $this->assertSame(195, substr_count(Site::log(), 'denied 198.51.100.1 '), 'lines for fail2ban');
    }

    public function testThirtyGuessesOfOneAddressAtHundredUsersAreLookedAt(): void
    {
        $guess = fn (int $i): Request => Site::form("user$i", 'guess', '198.51.100.2');
        $this->assertSame(30, self::lookedAt(array_map($guess, range(1, 100))));
    }

    public function testFiveGuessesOfOneNetworkOfIpv6AreLookedAt(): void
    {
        $guess = fn (int $i): Request => Site::form('ann', 'guess', sprintf('2001:db8:1:2:%x::%x', $i * 601, $i));
        $this->assertSame(5, self::lookedAt(array_map($guess, range(1, 100))));
    }

    public function testHundredGuessesOf250AddressesAtOneUserAreLookedAtAndTheKnownBrowserGetsIn(): void
    {
        $site = Site::single();
        $known = $site->send(Site::form('bob', 'right', '192.0.2.1'));
        $this->assertTrue($known->isLoggedIn());
        preg_match('/token_bucket_browser_\w+=[^;]+/', $known->cookies(), $browser);
        $this->assertNotEmpty($browser);

        $guess = fn (int $i): Request => Site::form('bob', 'guess', "198.51.101.$i");
        $this->assertSame(100, self::lookedAt(array_map($guess, range(1, 250))));

        $this->assertTrue($site->send(Site::form('bob', 'right', '192.0.2.2', $browser[0]))->isLoggedIn(), 'a known browser');
        $this->assertSame(429, $site->send(Site::form('bob', 'right', '192.0.2.3'))->status, 'an unknown browser');
        $this->assertSame(429, $site->send(Site::form('bob', 'right', '192.0.2.3', $browser[0] . '0'))->status, 'a cookie that was changed');
        $longer = preg_replace('/=/', '=9', $browser[0], 1);
        $this->assertSame(429, $site->send(Site::form('bob', 'right', '192.0.2.3', $longer))->status, 'a cookie that was prolonged');
        $fault = $site->send(Site::xmlRpc('192.0.2.4', 'wp.getUsersBlogs', 'bob', 'right'));
        $this->assertStringContainsString('<int>429</int>', $fault->body, 'XML-RPC');
        Site::advance(40);
        $this->assertTrue($site->send(Site::form('bob', 'right', '192.0.2.3'))->isLoggedIn(), 'an unknown browser, a while later');
    }

    public function testHundredGuessesInOneMulticallAreLookedAtUntilTheLimitOrUntilWordPressStops(): void
    {
        // WordPress stops after the first wrong password of a request.
        $calls = fn (string $method, callable $arguments): array => array_map(fn (int $i): array => ['methodName' => $method, 'params' => $arguments($i)], range(1, 100));
        $cores = $calls('wp.getUsersBlogs', fn (int $i): array => ['cat', "guess$i"]);
        $this->assertSame(1, self::lookedAt([Site::xmlRpc('198.51.100.3', 'system.multicall', $cores)]));
        // It does not for methods of plugins, which call wp_authenticate(): there the guard counts each inner call.
        $plugins = $calls('test.login', fn (int $i): array => ['cat', "guess$i"]);
        $this->assertSame(5, self::lookedAt([Site::xmlRpc('198.51.100.4', 'system.multicall', $plugins)]));
        $many = array_fill(0, 20, Site::xmlRpc('198.51.100.5', 'system.multicall', $plugins));
        $this->assertSame(5, self::lookedAt($many));
    }

    public function testRightPasswordBehindTheLimitIsNotLookedAtInAMulticallEither(): void
    {
        $guesses = array_map(fn (int $i): array => ['methodName' => 'test.login', 'params' => ['dan', $i === 50 ? 'right' : "guess$i"]], range(1, 100));
        $answer = Site::single()->send(Site::xmlRpc('198.51.100.6', 'system.multicall', $guesses));
        $this->assertSame(0, substr_count($answer->body, '<string>yes</string>'));
        $this->assertSame(100, substr_count($answer->body, '<string>no</string>'));
    }

    public function testAllSpellingsOfOneLoginShareALimit(): void
    {
        $names = ['eve', 'EVE', ' eve', 'eve ', 'éve', 'Eve', 'ｅｖｅ', "e\u{200d}ve", 'evE', "eve\t"];
        $before = Site::counted('authenticate');
        $statuses = Site::single()->statuses(array_map(fn (string $name): Request => Site::form($name, 'guess', '198.51.100.7'), $names));
        $this->assertSame([...array_fill(0, 5, 200), ...array_fill(0, 5, 429)], $statuses);
        $this->assertSame(5, Site::counted('authenticate') - $before);
    }

    public function testUnknownUserIsAnsweredAsAKnownOneIs(): void
    {
        $site = Site::single();
        $answers = [];
        foreach (['fay' => '198.51.100.8', 'nobody' => '198.51.100.9', 'fay@example.org' => '198.51.100.10', 'nobody@example.org' => '198.51.100.11'] as $name => $address) {
            foreach (range(1, 7) as $i) {
                $answer = $site->send(Site::form($name, 'guess', $address));
                $answers[$i][] = [$answer->status, $answer->header('retry-after'), $answer->error(), str_replace($name, 'NAME', $answer->body)];
            }
        }
        foreach ($answers as $i => $ofAll) {
            $this->assertCount(1, array_unique($ofAll, SORT_REGULAR), "guess $i");
        }
        $this->assertSame('The user name or the password is not right.', $answers[1][0][2]);
        $this->assertSame([429, '300', 'Too many failed attempts. Please try again in 5 minutes.'], array_slice($answers[7][0], 0, 3));
    }

    public function testAnAccountOfTheAttackersOwnGivesNoTriesAtOthers(): void
    {
        $attack = function (): Generator {
            foreach (range(1, 60) as $i) {
                yield $i % 5 ? Site::form("user$i", 'guess', '198.51.100.12') : Site::form('gus', 'right', '198.51.100.12');
            }
        };
        $counts = array_count_values(Site::single()->statuses($attack()));
        $this->assertSame(30, $counts[200], 'guesses that were looked at');
        $this->assertSame(7, $counts[302], 'logins of the attacker, until the network was blocked');
    }

    public function testOddInputIsLimitedAndBreaksNothing(): void
    {
        $names = ["a\r\nb", "\xff", str_repeat('x', 10_000), '<b>', "' OR 1=1", '192.0.2.1 joe', '${jndi}', "\u{202e}"];
        $statuses = Site::single()->statuses(array_map(fn (string $name): Request => Site::form($name, $name, '198.51.100.13'), $names));
        $this->assertSame(array_fill(0, 8, 200), $statuses);
        $arrays = new Request('/wp-login.php', 'log[]=joe&pwd[]=guess', ['X-Forwarded-For: 198.51.100.14']);
        $this->assertLessThan(600, Site::single()->send($arrays)->status);
        $empty = array_fill(0, 10, Site::form('joe', '', '198.51.100.15'));
        $this->assertSame(array_fill(0, 10, 200), Site::single()->statuses($empty), 'without a password nothing is charged');
    }
}
