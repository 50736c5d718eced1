<?php
declare(strict_types=1);

use PHPUnit\Framework\TestCase;

/** What a name in the login form stands for: one account in two ways, two accounts, or none. */
final class NamesTest extends TestCase
{
    /**
     * Ways to write a login and an address, in the order in which an attacker sends them from one network.
     *
     * @return list<string>
     */
    private static function spellings(string $login): array
    {
        $fullWidth = (string) preg_replace_callback('/[a-z]/', fn (array $letter): string => (string) mb_chr(ord($letter[0]) + 0xfee0), $login);
        $rest = substr($login, 1);
        return [
            ...array_fill(0, 5, $login),
            $fullWidth, strtoupper($login), "$login\u{a0}", "$login[0]\u{200d}$rest", $login . str_repeat("\u{200b}", 1000),
            ...array_fill(0, 5, "$login@example.org"),
            strtoupper($login) . '@example.org', "$fullWidth@example.org",
        ];
    }

    public function testNoSpellingOrAddressTellsWhetherAnAccountExists(): void
    {
        // A network has only thirty tries, so each way has a network of its own.
        $site = Site::single();
        $expected = [...array_fill(0, 5, 200), ...array_fill(0, 5, 429), ...array_fill(0, 5, 200), 429, 200];
        foreach (['olga' => '198.51.100.80', 'oleg' => '198.51.100.81'] as $login => $address) {
            $forms = array_map(fn (string $name): Request => Site::form($name, 'guess', $address), self::spellings($login));
            $this->assertSame($expected, $site->statuses($forms), "$login, the login first");
        }
        $expected = str_replace('200', '401', json_encode($expected));
        foreach (['olga' => '198.51.100.82', 'oleg' => '198.51.100.83'] as $login => $address) {
            $calls = array_map(fn (string $name): Request => Site::rest($name, 'guess', $address), self::spellings($login));
            $this->assertSame($expected, json_encode($site->statuses($calls)), "$login, by application passwords");
        }
    }

    public function testALoginThatLooksLikeAnAddressTellsNothingOfTheUsersAddress(): void
    {
        $names = fn (string $login, string $address): array => [...array_fill(0, 6, $login), $address, "\u{ff4f}" . substr($login, 1)];
        foreach ([['old@example.com', 'new@example.com', '198.51.100.84'], ['odd@example.com', 'now@example.com', '198.51.100.85']] as [$login, $address, $client]) {
            $forms = array_map(fn (string $name): Request => Site::form($name, 'guess', $client), $names($login, $address));
            $this->assertSame([200, 200, 200, 200, 200, 429, 200, 200], Site::single()->statuses($forms), $login);
        }
    }

    public function testGuessesFromManyNetworksDoNotTellThatALoginAndAnAddressAreOneAccount(): void
    {
        $database = Site::database();
        $set = $database->prepare("UPDATE wp_options SET option_value = ? WHERE option_name = 'token_bucket_login_guard'");
        $set->execute([serialize(['trusted_proxies' => ['127.0.0.1'], 'user_tries' => 3])]);
        try {
            foreach (['mona' => 110, 'mina' => 111] as $login => $net) {
                $names = [$login, $login, $login, $login, "$login@example.org"];
                $forms = array_map(fn (string $name, int $i): Request => Site::form($name, 'guess', "198.51.$net.$i"), $names, range(1, 5));
                $this->assertSame([200, 200, 200, 429, 200], Site::single()->statuses($forms), $login);
            }
        } finally {
            $set->execute([serialize(['trusted_proxies' => ['127.0.0.1']])]);
        }
    }

    public function testALoginThatIsAnotherUsersAddressForgivesNoGuessesAtThatUser(): void
    {
        // WordPress compares the password of the user with this login first, then that of the user with this address.
        $attack = fn (int $i): Request => Site::form('user90@example.org', $i % 5 === 4 ? 'own' : 'guess', '198.51.100.86');
        $statuses = Site::single()->statuses(array_map($attack, range(0, 19)));
        $this->assertSame([200, 200, 200, 200, 302, 200, ...array_fill(0, 14, 429)], $statuses);
    }

    public function testALoginThatIsAnotherUsersAddressGivesNoTriesByXmlRpcEither(): void
    {
        $call = fn (string $name): Request => Site::xmlRpc('198.51.100.87', 'wp.getUsersBlogs', $name, 'own');
        $site = Site::single();
        $this->assertStringContainsString('isAdmin', $site->send($call('user90@example.org'))->body);
        // The password has been right, but for another user.
        $before = Site::counted('authenticate');
        $site->sendAll(array_fill(0, 20, $call('user90')));
        $this->assertSame(5, Site::counted('authenticate') - $before);
    }

    public function testAnAddressThatIsAnotherUsersLoginGivesNoTriesAtThatUser(): void
    {
        // The attacker has logged in each time, and WordPress has compared the password with that of the other user before.
        $statuses = Site::single()->statuses(array_fill(0, 8, Site::form('victim@example.com', 'own', '198.51.100.88')));
        $this->assertSame([...array_fill(0, 5, 302), 429, 429, 429], $statuses);
    }

    public function testBothUsersOfANameLogInWithTheirPasswords(): void
    {
        foreach (['own' => 'user90@example.org', 'right' => 'user90'] as $password => $login) {
            $answer = Site::single()->send(Site::form('user90@example.org', $password, '198.51.100.89'));
            $this->assertTrue($answer->isLoggedIn());
            $this->assertStringContainsString('wordpress_logged_in_', $answer->cookies());
            $this->assertMatchesRegularExpression('/wordpress_logged_in_\w+=' . preg_quote(rawurlencode($login), '/') . '%7C/', $answer->cookies());
        }
    }
}
