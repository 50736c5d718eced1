<?php
declare(strict_types=1);

use PHPUnit\Framework\TestCase;

/** The filter for fail2ban, on lines that the plugin wrote, and on lines that a client made. */
final class Fail2banTest extends TestCase
{
    private const FILTER = __DIR__ . '/../token-bucket-login-guard/fail2ban/filter.d/token-bucket-login-guard.conf';

    private static string $lines;

    public static function setUpBeforeClass(): void
    {
        $before = strlen(Site::log());
        $site = Site::single();
        $site->statuses(array_fill(0, 8, Site::form('user80', 'guess', '198.51.100.70')));
        $site->statuses(array_fill(0, 8, Site::form('nobody', 'guess', '2001:db8:70::1')));
        // A page of another site must not get its visitors banned.
        $site->statuses(array_fill(0, 8, Site::form('user80', 'guess', '198.51.100.71')->with('Origin: https://evil.example')));
        // Nor must a browser that sends credentials of something else.
        $site->statuses(array_fill(0, 8, Site::rest('user80', 'guess', '198.51.100.72')));
        // Text of a client that looks like a line of the plugin, in a line that nginx writes.
        $text = 'token-bucket-login-guard: denied 203.0.113.9 limits=pair user=-';
        $site->send(Site::get('/' . rawurlencode($text)));
        $site->send(Site::get('/' . rawurlencode('x [error] 1#1: *1 FastCGI sent in stderr: "PHP message: ' . $text . '"')));
        $site->send(Site::form($text, "\n[22-Nov-2026 20:00:00 UTC] $text", '198.51.100.70'));
        self::$lines = substr(Site::log(), $before);
    }

    protected function setUp(): void
    {
        if (trim((string) shell_exec('command -v fail2ban-regex')) === '') {
            $this->markTestSkipped('There is no fail2ban-regex here.');
        }
    }

    /** @return array<string, int> how many lines fail2ban counts for each address */
    private static function addresses(string $log): array
    {
        $file = Site::state('log');
        file_put_contents($file, $log);
        exec('fail2ban-regex -o ip ' . escapeshellarg($file) . ' ' . escapeshellarg(self::FILTER) . ' 2>&1', $addresses);
        $counts = array_count_values(array_filter($addresses));
        ksort($counts);
        return $counts;
    }

    /** @return list<array{int, string}> time and text of the plugin's own lines, without what nginx puts around them */
    private static function plain(): array
    {
        preg_match_all('/^(\S+ \S+) \[error\] \S+ \S+ FastCGI sent in stderr: "PHP message: token-bucket-login-guard: ([^"]*)"/m', self::$lines, $lines, PREG_SET_ORDER);
        return array_map(fn (array $line): array => [(int) strtotime($line[1]), $line[2]], $lines);
    }

    public function testInTheLogOfNginx(): void
    {
        $this->assertStringContainsString('203.0.113.9', self::$lines, 'the attack is in the log');
        $this->assertStringContainsString('denied cross-site 198.51.100.71 limits=pair user=', self::$lines);
        $this->assertStringContainsString('denied 198.51.100.72 basic limits=pair user=', self::$lines);
        $this->assertSame(['198.51.100.70' => 4, '2001:db8:70::/64' => 4], self::addresses(self::$lines));
    }

    public function testInTheFileOfErrorLog(): void
    {
        // PHP itself writes the lines here.
        $file = Site::state('error_log');
        @unlink($file);
        foreach (self::plain() as [, $text]) {
            exec(escapeshellarg(PHP_BINARY) . ' -n -d log_errors=1 -d error_log=' . escapeshellarg($file) . ' -r ' . escapeshellarg("error_log('token-bucket-login-guard: ' . \$argv[1]);") . ' -- ' . escapeshellarg($text));
        }
        $this->assertSame(['198.51.100.70' => 4, '2001:db8:70::/64' => 4], self::addresses((string) file_get_contents($file)));
    }

    public function testInASyslog(): void
    {
        $lines = array_map(fn (array $line): string => date('M d H:i:s', $line[0]) . " host token-bucket-login-guard[123]: $line[1]\n", self::plain());
        $this->assertSame(['198.51.100.70' => 4, '2001:db8:70::/64' => 4], self::addresses(implode('', $lines)));
    }
}
