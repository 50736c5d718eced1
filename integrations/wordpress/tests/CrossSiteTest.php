<?php
declare(strict_types=1);

use PHPUnit\Framework\TestCase;

/** Guesses that a page of another site has its visitors' browsers send. */
final class CrossSiteTest extends TestCase
{
    private const EVIL = ['Origin: https://evil.example', 'Sec-Fetch-Site: cross-site'];

    /** @param list<string> $headers */
    private static function with(Request $request, array $headers = self::EVIL): Request
    {
        return array_reduce($headers, fn (Request $request, string $header): Request => $request->with($header), $request);
    }

    public function testPostsFromAnotherSiteLockNoNetworkAndNoUserOut(): void
    {
        $site = Site::single();
        $address = '198.51.100.90';
        $forms = array_map(fn (int $i): Request => self::with(Site::form("user$i", 'guess', $address)), range(1, 35));
        $others = [
            self::with(Site::xmlRpc($address, 'wp.getUsersBlogs', 'user1', 'guess')), self::with(Site::rest('amy', 'guess', $address)),
            self::with(Site::form('user1', 'guess', $address), ['Origin: null']), self::with(Site::form('user1', 'guess', $address), ['Origin: http://127.0.0.1.evil.example']),
        ];
        $isLookedAt = fn (Answer $answer): bool => $answer->status !== 429 && !str_contains($answer->body, '<int>429</int>');
        $this->assertCount(5, array_filter($site->sendAll([...$forms, ...$others, ...$others]), $isLookedAt));
        $this->assertTrue($site->send(Site::form('user1', 'right', $address))->isLoggedIn());
    }

    public function testPostsFromAnotherSiteAreBlockedForLongerEachTime(): void
    {
        $waits = [];
        foreach (range(1, 3) as $i) {
            Site::single()->statuses(array_fill(0, 5, self::with(Site::form("user$i", 'guess', '198.51.100.91'))));
            $waits[] = $wait = (int) Site::single()->send(self::with(Site::form('user9', 'guess', '198.51.100.91')))->header('retry-after');
            Site::advance($wait + 1);
        }
        $this->assertSame([300, 600, 1200], $waits);
    }

    public function testALoginFromAnotherSiteWorksAndForgivesNothing(): void
    {
        $forms = array_map(fn (string $password): Request => self::with(Site::form('user91', $password, '198.51.100.92')), ['a', 'b', 'c', 'd', 'right', 'e', 'f']);
        $this->assertSame([200, 200, 200, 200, 302, 200, 429], Site::single()->statuses($forms));
    }

    public function testFormsOfTheSiteItselfAreNoneOfAnotherSite(): void
    {
        $site = Site::single();
        $host = 'http://' . getenv('TEST_SINGLE');
        foreach ([[], ["Origin: $host"], ["Origin: $host", 'Sec-Fetch-Site: same-origin'], ['Origin: null', 'Sec-Fetch-Site: same-origin'], ['Origin: https://127.0.0.1']] as $headers) {
            $this->assertSame(200, $site->send(self::with(Site::form('user92', 'guess', '198.51.100.93'), $headers))->status);
        }
        $this->assertSame(429, $site->send(Site::form('user92', 'right', '198.51.100.93'))->status, 'they share the ordinary limit');
    }

    public function testThePageListsTheBlockAndLiftsIt(): void
    {
        $site = Site::single();
        $site->statuses(array_fill(0, 5, self::with(Site::form('user93', 'guess', '198.51.100.94'))));
        $admin = $site->session();
        $page = $site->send(Site::get('/wp-admin/options-general.php?page=token-bucket-login-guard', $admin))->body;
        $this->assertSame(1, preg_match('~<td>198\.51\.100\.94</td><td>all users, from pages of other sites</td>.*?<form method="post">(.*?)</form>~s', $page, $form));
        preg_match_all('~name="(\w+)" value="([^"]*)"~', $form[1], $fields);
        $site->send(Site::post('/wp-admin/options-general.php?page=token-bucket-login-guard', array_combine($fields[1], $fields[2]), $admin));
        $this->assertSame(302, $site->send(self::with(Site::form('user93', 'right', '198.51.100.94')))->status);
    }
}
