--TEST--
Documents: every block of PHP, SQL and directives in README.md and docs/ runs as it stands, and every token-bucket command has the options shown
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require dirname(__DIR__) . '/servers.inc';

$root = dirname(__DIR__, 2);
$folder = temporary_folder();
mkdir("$folder/tables");
mkdir("$folder/site");
[$redis, $memcached, $sql] = [new Server('redis'), new Server('memcached'), new Server(SQL_SERVER)];

// What a page takes for granted: the application around its lines. No block shares a bucket with this one.
const APPLICATION = <<<'PHP'
<?php
declare(strict_types=1);
set_error_handler(function (int $level, string $message): never { throw new ErrorException($message); });
ob_start();
$_SERVER['REMOTE_ADDR'] = $ip = $network = '192.0.2.1';
[$user, $customer, $password, $prompt, $identifier, $estimate, $batch] = ['anna', 'acme', 'secret', 'Why?', 'login:x', 3, [1, 2, 3]];
const USERS = ['anna' => '$2y$04$yn0s5JabOxVUF17KE.EzEe4CY.j.GinC90LNl.DjnnCk.wlTzHHJm'];
$hash = USERS[$user];
[$storage, $cluster, $db] = ['array:', 'array:', null];
$bucket = $limiter = TokenBucket::per('array:', 'page', 5, 60);
[$tokens, $api] = [TokenBucket::per('array:', 'tokens', 100, 60), TokenBucket::per('array:', 'api', 100, 60)];
[$quota, $credits, $cost] = [TokenBucket::per('array:', 'quota', 100, 60), TokenBucket::per('array:', 'credits', 100, 60), 2];
$tries = TokenBucket::per('array:', 'tries', 30, 300);
$pair = TokenBucket::per('array:', 'pair', 5, 300);
$decision = TokenBucket::per('array:', 'decision', 5, 60)->attempt();
TokenBucket::per(null, 'search:198.51.100.7', 30, 60)->consume();
function send(array $messages): void {}
function send_mail(): void {}
function captcha_is_solved(): bool { return false; }
function known_browser(string $user): ?string { return $user; }
function browsers_storage(): ?string { return 'shm:browsers'; }
function ask_the_model(string $prompt): object { return (object) ['tokens' => 2]; }
function handle(object $request): string { return ''; }
final class MyStorage implements TokenBucketStorage
{
    public function __construct(public mixed $db) {}
    public function prepare() {}
    public function bootstrap($identifier, $microtime) { return true; }
    public function consume($identifier, $microtime, $full_microtime, $bootstrap_closure) { return true; }
}
$worker = new class {
    public int $requests = 1;
    public function waitRequest(): ?object { return $this->requests-- > 0 ? (object) [] : null; }
    public function respond(string $answer): void {}
};
PHP;

/** @param list<string> $directives */
function run_php(string $code, array $directives): string
{
    global $folder;
    file_put_contents("$folder/site/page.php", $code);
    $directives = ["token_bucket.shm_path=$folder/tables", "token_bucket.test_clock=1", 'zend.assertions=1', 'display_errors=stderr', ...$directives];
    $command = escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . implode('', array_map(fn (string $it): string => ' -d ' . escapeshellarg($it), $directives));
    exec("$command " . escapeshellarg("$folder/site/page.php") . ' 2>&1 >/dev/null', $output, $status);
    return $status === 0 && $output === [] ? '' : "exit $status " . implode("\n", $output);
}

/** The block with the servers of this test, and with placeholders filled. */
function as_run(string $block): string
{
    global $root, $folder, $redis, $memcached, $sql;
    // Of two ways the page shows the other limiter's first, whose library is not here.
    $block = preg_match('~^// now~m', $block) ? preg_replace('~\A.*?(?=^// now)~ms', '', $block) : $block;
    return strtr($block, [
        "'redis://127.0.0.1'" => "'{$redis->dsn('timeout_ms=5000&connect_timeout_ms=5000&on_error=throw')}'",
        "'memcached://10.0.0.5'" => "'{$memcached->dsn('timeout_ms=5000&connect_timeout_ms=5000&on_error=throw')}'",
        "'mysql://test:1234@localhost/test?table=logins'" => "'{$sql->dsn('table=logins&timeout_ms=10000&connect_timeout_ms=10000&on_error=throw')}'",
        'MysqlStorage($dsn)' => "MysqlStorage('{$sql->dsn('table=logins&timeout_ms=10000&connect_timeout_ms=10000')}')",
        '{ ... }' => '{ }',
        '/path/to/share/status.php' => "$root/share/status.php",
    ]);
}

file_put_contents("$folder/bootstrap.php", '<?php function is_administrator(): bool { return true; }');
copy("$root/share/limits.ini", "$folder/limits.ini");
$limits = "token_bucket.limits=$folder/limits.ini";

// The tables first: a page's PHP uses them.
$pages = array_map(file_get_contents(...), array_merge(["$root/README.md"], glob("$root/docs/*.md")));
$statements = [];
foreach ($pages as $page) {
    preg_match_all('/^ {4}((?:CREATE TABLE|ALTER TABLE|SET SESSION|DELETE FROM) .*?;)$/ms', $page, $found);
    array_push($statements, ...$found[1]);
}
$sql->sql('CREATE TABLE logins (identifier VARCHAR(255) NOT NULL PRIMARY KEY, microtime DOUBLE NOT NULL)');
usort($statements, fn (string $a, string $b): int => str_starts_with($b, 'CREATE') <=> str_starts_with($a, 'CREATE'));
$sql->sql(implode("\n", $statements));
$made = TokenBucket::per($sql->dsn('timeout_ms=10000&connect_timeout_ms=10000&on_error=throw'), 'made', 1, 1000);
echo 'SQL: ', count($statements), ' statements, ', json_encode([$made->consume(), $made->consume()]), "\n";

$count = ['php' => 0, 'ini' => 0];
foreach (array_merge(["$root/README.md"], glob("$root/docs/*.md")) as $file) {
    $name = substr($file, strlen("$root/"));
    $page = file_get_contents($file);
    preg_match_all('/^```(\w+)\n(.*?)^```/ms', $page, $blocks, PREG_SET_ORDER);
    // Limits stand in blocks without a language, too.
    preg_match_all('/(?:^ {4}(?:\[\w+\]|\w+ = .*)?\n|^\n(?= {4}(?:\[\w+\]|\w+ = )))+/m', $page, $indented);
    foreach (array_filter($indented[0], fn (string $it): bool => str_contains($it, 'limit = ')) as $block) {
        $blocks[] = [1 => 'ini', 2 => preg_replace('/^ {4}/m', '', $block)];
    }
    // A block may show several pools.
    $blocks = array_merge(...array_map(fn (array $it): array => str_contains($it[2], 'php_admin_value')
        ? array_map(fn (string $pool): array => [1 => 'ini', 2 => $pool], explode("\n\n", $it[2])) : [$it], $blocks));
    foreach ($blocks as [1 => $language, 2 => $block]) {
        // php-tests/01_class/phpunit_page.phpt runs a test with PHPUnit.
        if (str_contains($block, 'extends TestCase')) {
            continue;
        }
        $fault = '';
        if ($language === 'php') {
            $fault = run_php(APPLICATION . "\n" . preg_replace('/\A<\?php\n/', '', as_run($block)), [$limits]);
        } elseif ($language === 'ini' && str_contains($block, 'php_admin_value')) {
            preg_match_all('/^php_admin_value\[(.+?)\] = (.+)$/m', $block, $set);
            $fault = run_php('<?php set_error_handler(fn (int $level, string $message): never => throw new ErrorException($message));
                foreach (' . var_export(array_map(null, $set[1], $set[2]), true) . ' as [$name, $value]) { ini_get($name) === trim($value, \'"\') || throw new Exception("$name is " . ini_get($name)); }',
                array_map(fn (string $name, string $value): string => "$name=$value", $set[1], $set[2]));
        } elseif ($language === 'ini') {
            file_put_contents("$folder/page.ini", $block);
            // A file of clients is a block of its own, which begins with its name.
            if (preg_match('/^clients = (\S+)/m', $block, $clients)) {
                file_put_contents("$folder/$clients[1]", preg_match("/^```\n(; \Q$clients[1]\E.*?)^```/ms", $page, $lines) ? $lines[1] : throw new Exception("$clients[1] is not shown"));
            }
            preg_match_all('/^\[(.+)\]$/m', $block, $sections);
            $fault = run_php('<?php foreach (' . var_export($sections[1], true) . ' as $name) { TokenBucket\limiter($name, "x")->peek(); }', ["token_bucket.limits=$folder/page.ini"]);
        } else {
            continue;
        }
        $count[$language]++;
        echo $fault === '' ? '' : "$name: $fault\n$block\n";
    }

    // The shown commands: their options are those of the command.
    preg_match_all('/^ {4}\$? ?(?:bin\/)?token-bucket ([a-z-]+(?: check)?) (.*)$/m', $page, $commands, PREG_SET_ORDER);
    foreach ($commands as [, $command, $words]) {
        $help = (string) shell_exec(escapeshellarg(PHP_BINARY) . ' -n ' . getenv('TEST_PHP_EXTRA_ARGS') . ' ' . escapeshellarg("$root/bin/token-bucket") . " $command --help 2>&1");
        preg_match_all('/--[a-z0-9-]+/', preg_replace('/#.*/', '', $words), $options);
        foreach (array_filter($options[0], fn (string $option): bool => !str_contains($help, $option)) as $option) {
            echo "$name: token-bucket $command has no $option\n$help\n";
        }
        $count['commands'] = ($count['commands'] ?? 0) + 1;
    }
}
// So that no page is passed over.
echo $count['php'] >= 28 && $count['ini'] >= 5 && $count['commands'] >= 8 ? 'all blocks run' : json_encode($count), "\n";
?>
--EXPECT--
SQL: 4 statements, [true,false]
all blocks run
