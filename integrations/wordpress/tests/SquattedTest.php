<?php
declare(strict_types=1);

use PHPUnit\Framework\TestCase;

/** What other users of the host can do to the store: guesses are limited all the same, by WordPress's database. */
final class SquattedTest extends TestCase
{
    private string $folder;

    protected function setUp(): void
    {
        $this->folder = getenv('TEST_FOLDER') . '/squatted';
        if (posix_geteuid() !== 0) {
            $this->markTestSkipped('Only root can make folders of other users');
        }
    }

    protected function tearDown(): void
    {
        exec('umount ' . escapeshellarg($this->folder) . ' 2>&1');
        exec('rm -rf ' . escapeshellarg($this->folder));
        mkdir($this->folder);
        $this->give($this->folder);
    }

    public function testAFolderOfAnotherUserInPlaceOfTheTables(): void
    {
        $this->squat();
        $this->guess('user81', '198.51.100.101', 4);
        $site = Site::squatted();
        $known = $site->send(Site::form('user81', 'right', '198.51.100.101'));
        $this->assertTrue($known->isLoggedIn(), 'the right password costs nothing, and forgives the wrong ones');
        $this->guess('user81', '198.51.100.101', 5);
        $denied = $site->send(Site::form('user81', 'right', '198.51.100.101'));
        $this->assertSame([429, '300'], [$denied->status, $denied->header('retry-after')]);
        $this->assertStringContainsString('denied 198.51.100.101 limits=pair user=', Site::log('squatted'), 'a line for fail2ban');

        $page = $site->send(Site::get('/wp-admin/options-general.php?page=token-bucket-login-guard', $site->session()));
        $this->assertSame(200, $page->status);
        $this->assertStringContainsString('so WordPress&#039;s database counts failed logins', $page->body);
        $this->assertStringContainsString('limits logins in WordPress', Site::log('squatted'));
    }

    public function testGuessesAtTheSameTimeDoNotPassTogether(): void
    {
        $this->squat();
        $before = Site::counted('authenticate');
        Site::squatted()->sendAll(array_map(fn (int $i): Request => Site::form('user82', "guess$i", '2001:db8:102::' . $i), range(1, 40)));
        $this->assertSame(5, Site::counted('authenticate') - $before);
        // A right password gives the charge of the network back, too: 25 of its 30 tries are left.
        $statuses = Site::squatted()->statuses(array_map(fn (int $i): Request => Site::form("user$i", 'guess', '2001:db8:102::1'), range(1, 30)));
        $this->assertSame([200 => 25, 429 => 5], array_count_values($statuses));
    }

    public function testAConnectionThatCountsFoundRows(): void
    {
        $this->squat();
        touch(Site::state('found_rows'));
        try {
            $this->guess('user87', '198.51.100.107', 5);
            $this->assertSame(array_fill(0, 3, 429), Site::squatted()->statuses(array_fill(0, 3, Site::form('user87', 'guess', '198.51.100.107'))));
        } finally {
            unlink(Site::state('found_rows'));
        }
    }

    public function testAnAdministratorUnblocksMeanwhile(): void
    {
        $this->squat();
        $site = Site::squatted();
        $this->guess('user83', '198.51.100.103', 5);
        $this->assertSame(429, $site->send(Site::form('user83', 'right', '198.51.100.103'))->status);
        $path = '/wp-admin/options-general.php?page=token-bucket-login-guard';
        $admin = $site->session();
        $page = $site->send(Site::get($path, $admin))->body;
        preg_match('~<form method="post">((?:(?!</form>).)*name="address".*?)</form>~s', $page, $form);
        preg_match_all('~name="(\w+)" value="([^"]*)"~', $form[1] ?? '', $fields);
        $site->send(Site::post($path, array_combine($fields[1], $fields[2]) + ['address' => '198.51.100.103'], $admin));
        $this->assertTrue($site->send(Site::form('user83', 'right', '198.51.100.103'))->isLoggedIn());
    }

    public function testAFolderThatBelongsToAnotherUser(): void
    {
        chmod($this->folder, 0700);
        chown($this->folder, 'root');
        $this->guess('user84', '198.51.100.104', 5);
        $this->assertSame(429, Site::squatted()->send(Site::form('user84', 'right', '198.51.100.104'))->status);
    }

    public function testAFullDisk(): void
    {
        exec('mount -t tmpfs -o size=64k none ' . escapeshellarg($this->folder) . ' 2>&1', $output, $status);
        if ($status !== 0) {
            $this->markTestSkipped('No tmpfs can be mounted here');
        }
        $this->give($this->folder);
        @file_put_contents("$this->folder/filler", str_repeat('x', 65536));
        $before = Site::counted('authenticate');
        $statuses = Site::squatted()->statuses(array_fill(0, 8, Site::form('user85', 'guess', '198.51.100.105')));
        // The stand-in itself denies while it cannot write.
        $this->assertSame(getenv('STAND_IN') ? 0 : 5, Site::counted('authenticate') - $before);
        $this->assertSame(429, end($statuses));
    }

    public function testAMistypedDsnStillLimitsNobody(): void
    {
        file_put_contents(Site::state('storage'), 'smh:');
        try {
            $this->assertSame(array_fill(0, 8, 200), Site::squatted()->statuses(array_fill(0, 8, Site::form('user86', 'guess', '198.51.100.106'))));
        } finally {
            unlink(Site::state('storage'));
        }
    }

    /** Makes the folder that the tables would have, of the extension and of its stand-in, as another user does. */
    private function squat(): void
    {
        $user = posix_getpwnam((string) getenv('TEST_USER'))['uid'];
        foreach (["token_bucket-$user", "token_bucket.$user.stand-in"] as $name) {
            mkdir("$this->folder/$name", 0777);
        }
    }

    private function give(string $folder): void
    {
        chown($folder, (string) getenv('TEST_USER'));
    }

    private function guess(string $name, string $address, int $times): void
    {
        $this->assertSame(array_fill(0, $times, 200), Site::squatted()->statuses(array_fill(0, $times, Site::form($name, 'guess', $address))));
    }
}
