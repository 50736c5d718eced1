<?php
declare(strict_types=1);

use PHPUnit\Framework\TestCase;

/**
 * Right passwords after which another plugin asks for a second factor: they are no failures, and guesses at the factor are.
 *
 * observer.php does as Wordfence, Duo and miniOrange do, which were not run themselves. Two Factor 0.16 was run by hand.
 */
final class SecondFactorTest extends TestCase
{
    /** @param array<string, string> $fields */
    private static function login(string $name, string $address, array $fields, string $password = 'right'): Request
    {
        return Site::post('/wp-login.php', ['log' => $name, 'pwd' => $password] + $fields, '', $address);
    }

    public function testFortyUsersOfAnOfficeAreAskedForACodeAndLogIn(): void
    {
        $asked = $in = [];
        foreach (range(1, 40) as $i) {
            $asked[] = Site::single()->send(self::login("user$i", '198.51.103.1', ['code' => '']))->error();
            $in[] = Site::single()->send(self::login("user$i", '198.51.103.1', ['code' => '123456']))->isLoggedIn();
        }
        $this->assertSame(array_fill(0, 40, 'Enter the code of your authenticator.'), $asked);
        $this->assertSame(array_fill(0, 40, true), $in);
        $this->assertStringNotContainsString('blocked 198.51.103.1 ', Site::log());
    }

    public function testFortyUsersOfAnOfficeAreSentToAPageOfAnotherPlugin(): void
    {
        $answers = array_map(fn (int $i): string => Site::single()->send(self::login("user$i", '198.51.103.2', ['page' => '1']))->body, range(1, 40));
        $this->assertSame(array_fill(0, 40, 'Confirm on your phone.'), $answers);
    }

    public function testAUserWhomAnotherPluginLogsInMayDoSoAllDay(): void
    {
        foreach (range(1, 20) as $i) {
            $this->assertSame('Confirm on your phone.', Site::single()->send(self::login('user51', '198.51.103.3', ['page' => '1']))->body, "login $i");
            $this->assertSame('Welcome.', Site::single()->send(Site::post('/wp-login.php', ['confirmed' => 'user51'], '', '198.51.103.3'))->body);
        }
    }

    public function testWrongPasswordsBeforeItAreNotHeldAgainstACode(): void
    {
        $fields = [['guess', ''], ['guess', ''], ['guess', ''], ['guess', ''], ['right', ''], ['right', '123456']];
        $answers = array_map(fn (array $field): Answer => Site::single()->send(self::login('user52', '198.51.103.4', ['code' => $field[1]], $field[0])), $fields);
        $this->assertTrue(end($answers)->isLoggedIn());
    }

    public function testTenCodesOfOneNetworkForOneUserAreLookedAtAndOthersThereLogIn(): void
    {
        $site = Site::single();
        $codes = array_map(fn (int $i): Request => self::login('user53', '198.51.103.5', ['code' => "$i"]), range(1, 40));
        $errors = array_map(fn (Request $code): string => $site->send($code)->error(), $codes);
        $this->assertSame(10, array_count_values($errors)['Enter the code of your authenticator.']);
        $this->assertSame(429, $site->send(self::login('user53', '198.51.103.5', ['code' => '123456']))->status);
        $this->assertSame(1, substr_count(Site::log(), 'blocked 198.51.103.5 seconds=300 nth=1 '));
        $this->assertTrue($site->send(Site::form('user54', 'right', '198.51.103.5'))->isLoggedIn(), 'another user');
        $this->assertTrue($site->send(self::login('user53', '198.51.103.6', ['code' => '123456']))->isLoggedIn(), 'from elsewhere');
    }

    public function testAPasswordThatFitsAnotherHashIsAFailure(): void
    {
        $statuses = Site::single()->statuses(array_fill(0, 8, self::login('user55', '198.51.103.7', ['earlier' => '1'], 'guess')));
        $this->assertSame([200, 200, 200, 200, 200, 429, 429, 429], $statuses);
    }
}
