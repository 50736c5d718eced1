<?php
declare(strict_types=1);

use PHPUnit\Framework\TestCase;

/** Right passwords, which cost nothing. */
final class SuccessTest extends TestCase
{
    public function testRightPasswordIsNotCharged(): void
    {
        $statuses = Site::single()->statuses(array_fill(0, 40, Site::form('hal', 'right', '198.51.100.20')));
        $this->assertSame(array_fill(0, 40, 302), $statuses);
    }

    public function testRightPasswordForgivesTheWrongOnesBeforeIt(): void
    {
        $passwords = ['a', 'b', 'c', 'd', 'right', 'e', 'f', 'g', 'h', 'right'];
        $statuses = Site::single()->statuses(array_map(fn (string $password): Request => Site::form('ida', $password, '198.51.100.21'), $passwords));
        $this->assertSame([200, 200, 200, 200, 302, 200, 200, 200, 200, 302], $statuses);
    }

    public function testXmlRpcClientThatIsRightIsNeverDenied(): void
    {
        $site = Site::single();
        $call = Site::xmlRpc('198.51.100.22', 'wp.getUsersBlogs', 'jan', 'right');
        $this->assertStringContainsString('isAdmin', $site->send($call)->body);
        // Later requests at the same time are no guesses, for the password has been right before.
        foreach ($site->sendAll(array_fill(0, 40, $call)) as $answer) {
            $this->assertStringContainsString('isAdmin', $answer->body);
        }
    }

    public function testApplicationPasswordIsNotChargedAndAWrongOneIs(): void
    {
        $site = Site::single();
        $password = (string) file_get_contents(Site::state('application-password'));
        $right = Site::rest('amy', $password, '198.51.100.23');
        $this->assertSame('amy', json_decode($site->send($right)->body, true)['name'] ?? null);
        $statuses = array_map(fn (Answer $answer): int => $answer->status, $site->sendAll(array_fill(0, 40, $right)));
        $this->assertSame(array_fill(0, 40, 200), $statuses);

        $before = Site::counted('application');
        $wrong = fn (int $i): Request => Site::rest('amy', "guess$i", '198.51.100.24');
        $answers = $site->sendAll(array_map($wrong, range(1, 60)));
        $statuses = array_count_values(array_map(fn (Answer $answer): int => $answer->status, $answers));
        $this->assertEquals([401 => 5, 429 => 55], $statuses);
        $this->assertSame(5, Site::counted('application') - $before, 'application passwords that WordPress looked at');

        $denied = $site->send($wrong(61));
        $this->assertSame('300', $denied->header('retry-after'));
        $early = $site->send(Site::rest('amy', 'guess', '198.51.100.24', true));
        foreach ([$denied, $early] as $answer) {
            $this->assertSame([429, 'too_many_attempts'], [$answer->status, json_decode($answer->body, true)['code']]);
        }
        $this->assertSame(200, $site->send(Site::rest('amy', $password, '198.51.100.24'))->status, 'a client that was right before');
        // The application password opens no form, and is a guess there like any other.
        $this->assertSame(429, $site->send(Site::form('amy', $password, '198.51.100.24'))->status);
    }

    public function testApplicationPasswordOfAnUnknownUserIsAnsweredAsAWrongOneIs(): void
    {
        $site = Site::single();
        $answers = array_map(fn (string $name): Answer => $site->send(Site::rest($name, 'guess', '198.51.100.25', true)), ['amy', 'nobody', 'nobody@example.org']);
        foreach ($answers as $answer) {
            $this->assertSame([401, $answers[0]->body], [$answer->status, $answer->body]);
        }
        $this->assertStringContainsString('The user name or the password is not right.', $answers[0]->body);
    }

    public function testBasicAuthenticationOfXmlRpcIsNoWayAroundTheLimit(): void
    {
        $hello = Site::xmlRpc('198.51.100.27', 'demo.sayHello');
        $requests = array_map(fn (int $i): Request => $hello->with('Authorization: Basic ' . base64_encode("amy:guess$i")), range(1, 40));
        $before = Site::counted('application');
        Site::single()->sendAll($requests);
        // WordPress 6.1 does not look at it for XML-RPC at all.
        $this->assertLessThanOrEqual(5, Site::counted('application') - $before);
    }

    public function testGuessesByAllWaysShareALimit(): void
    {
        $site = Site::single();
        $password = (string) file_get_contents(Site::state('application-password'));
        $site->statuses([
            Site::form('kim', 'a', '198.51.100.26'), Site::rest('kim', 'b', '198.51.100.26'), Site::xmlRpc('198.51.100.26', 'wp.getUsersBlogs', 'kim', 'c'),
            Site::rest('kim', 'd', '198.51.100.26'), Site::form('kim', $password, '198.51.100.26'),
        ]);
        $this->assertSame(429, $site->send(Site::form('kim', 'right', '198.51.100.26'))->status);
        $this->assertSame(429, $site->send(Site::rest('kim', 'right', '198.51.100.26'))->status);
    }
}
