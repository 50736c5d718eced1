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
        $forms = array_fill(0, 6, Site::form('amy', $password, '198.51.100.24'));
        $this->assertSame([200, 200, 200, 200, 200, 429], $site->statuses($forms));
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

    public function testGuessesByFormAndXmlRpcShareALimitAndApplicationPasswordsHaveTheirOwn(): void
    {
        $site = Site::single();
        $address = '198.51.100.26';
        $password = (string) file_get_contents(Site::state('application-password'));
        $site->statuses([
            Site::form('kim', 'a', $address), Site::xmlRpc($address, 'wp.getUsersBlogs', 'kim', 'b'), Site::form('kim', 'c', $address),
            Site::xmlRpc($address, 'wp.getUsersBlogs', 'kim', 'd'), Site::form('kim', $password, $address),
        ]);
        $this->assertSame(429, $site->send(Site::form('kim', 'right', $address))->status);
        $this->assertSame([401, 401, 401, 401, 401, 429, 429], $site->statuses(array_fill(0, 7, Site::rest('kim', 'guess', $address))));
    }

    public function testForeignCredentialsAtAPublicPartOfTheApiUseUpNoTries(): void
    {
        $site = Site::single();
        $address = '198.51.100.28';
        $get = fn (string $name): Request => Site::get('/index.php?rest_route=/wp/v2/types', '', $address)->with('Authorization: Basic ' . base64_encode("$name:secret"));
        foreach (['staging', 'kim'] as $name) {
            $answers = $site->sendAll(array_fill(0, 40, $get($name)));
            $this->assertSame([200 => 40], array_count_values(array_map(fn (Answer $answer): int => $answer->status, $answers)), $name);
            $this->assertSame('', $answers[39]->header('retry-after'));
        }
        $this->assertSame(429, $site->send(Site::rest('kim', 'guess', $address))->status, 'what needs a user is denied');
        $this->assertSame(200, $site->send(Site::form('kim', 'guess', $address))->status, 'the form has its tries');
        $this->assertTrue($site->send(Site::form('kim', 'right', $address))->isLoggedIn());

        // An administrator sees the block, and lifts it with the others of the address.
        $path = '/wp-admin/options-general.php?page=token-bucket-login-guard';
        $admin = $site->session();
        $page = $site->send(Site::get($path, $admin))->body;
        $this->assertStringContainsString("<td>$address basic</td><td>kim</td>", $page);
        preg_match('~<form method="post">((?:(?!</form>).)*name="address".*?)</form>~s', $page, $form);
        preg_match_all('~name="(\w+)" value="([^"]*)"~', $form[1], $fields);
        $site->send(Site::post($path, array_combine($fields[1], $fields[2]) + ['address' => $address], $admin));
        $this->assertSame(401, $site->send(Site::rest('kim', 'guess', $address))->status);
    }
}
