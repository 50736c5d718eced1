--TEST--
php-fpm: of 20 workers and 200 slow requests never more than 3 are inside, and no permit is left behind, however a request or a worker ends
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
/*
 * Each request waits for one of three permits. It notes the time when it has it, and the time when its work is done; then
 * it ends in one of many ways, with the permit in a static, a cycle, a global or a local variable.
 */
require __DIR__ . '/fpm.inc';

const LIMIT = 3;

$fpm = new Fpm(['www' => [
    'pm.max_children' => '20',
    'php_admin_value[max_execution_time]' => '1',
    'php_admin_value[memory_limit]' => '32M',
    'php_admin_value[display_errors]' => '0',
]]);
$fpm->script('slow.php', <<<'CODE'
    <?php
    final class Kept
    {
        public static $permit;
        public $own;
        public $self;
    }
    function note(string $what): void
    {
        file_put_contents(__DIR__ . '/scratch/log', hrtime(true) . ' ' . getmypid() . " $what $_GET[end]\n", FILE_APPEND);
    }
    $limit = new TokenBucket\ConcurrencyLimit(null, 'slow', 3, 60);
    while (($permit = $limit->acquire()) === null) {
        usleep(2_000);
    }
    note('+');
    usleep(10_000);
    switch ($_GET['kept']) {
        case 'static':
            Kept::$permit = $permit;
            unset($permit);
            break;
        case 'cycle':
            $cycle = new Kept;
            [$cycle->own, $cycle->self] = [$permit, $cycle];
            unset($permit, $cycle);
            break;
    }
    if ($_GET['end'] === 'fastcgi_finish_request') {
        // The client has its answer; the script goes on, and so does the permit.
        fastcgi_finish_request();
        usleep(10_000);
    }
    if ($_GET['end'] === 'hangs') {
        ignore_user_abort(true);
        for ($i = 0; $i < 3_000 && !file_exists(__DIR__ . '/scratch/go on'); $i++) {
            usleep(10_000);
        }
    }
    note('-');
    switch ($_GET['end']) {
        case 'release':
            isset($permit) && $permit->release();
            break;
        case 'exit':
            exit('bye');
        case 'fatal error':
            undefined();
        case 'exception':
            throw new DomainException;
        case 'compile error':
            include __DIR__ . '/broken.php';
        case 'exit in a destructor':
            $object = new class {
                public function __destruct()
                {
                    exit;
                }
            };
            unset($object);
        case 'memory exhaustion':
            ini_set('memory_limit', '8M');
            for ($all = [];;) {
                $all[] = str_repeat('x', 100_000);
            }
        case 'memory exhaustion by permits':
            ini_set('memory_limit', '4M');
            $many = new TokenBucket\ConcurrencyLimit(null, 'many', 1_000, 60);
            for ($all = [];;) {
                $all[] = [$many->acquire(), str_repeat('x', 5_000)];
            }
        case 'max_execution_time':
            for (;;) {
            }
        case 'the client hangs up':
            for (;;) {
                echo str_repeat('.', 100_000);
                flush();
            }
    }
    CODE);
$fpm->script('broken.php', '<?php function (');
$fpm->script('active.php', '<?php foreach (["slow", "many"] as $name) { $active[] = (new TokenBucket\ConcurrencyLimit(null, $name, 3))->getActive(); } echo json_encode($active);');

/** How many permits are held of each limit. */
function active(): string
{
    global $fpm;
    return $fpm->request('www', 'active.php')->body;
}

/** @return list<array{int, int, string, string}> the notes: time, process id, + or -, how the request ends */
function notes(): array
{
    global $fpm;
    preg_match_all('/^(\d+) (\d+) (.) (.*)$/m', (string) @file_get_contents("$fpm->scratch/log"), $found, PREG_SET_ORDER);
    return array_map(fn (array $note): array => [(int) $note[1], (int) $note[2], $note[3], $note[4]], $found);
}

/** The process ids of requests that are inside. */
function inside(): array
{
    $inside = [];
    foreach (notes() as [, $pid, $what]) {
        $inside[$pid] = $what === '+';
    }
    return array_keys(array_filter($inside));
}

$endings = ['return', 'release', 'exit', 'fatal error', 'exception', 'compile error', 'exit in a destructor', 'memory exhaustion', 'fastcgi_finish_request'];
$kept = ['local', 'static', 'cycle'];
$requests = $hung_up = [];
for ($i = 0; $i < 200; $i++) {
    $end = match (true) {
        $i === 20, $i === 120 => 'max_execution_time',
        $i === 60, $i === 160 => 'memory exhaustion by permits',
        $i % 20 === 7 => 'the client hangs up',
        default => $endings[$i % count($endings)],
    };
    $request = $fpm->send('www', 'slow.php', ['end' => $end, 'kept' => $kept[intdiv($i, 9) % 3]]);
    $end === 'the client hangs up' ? $hung_up[] = $request : $requests[] = $request;
}
// Those that hang up do so while their requests run, or wait.
usleep(300_000);
array_map(fclose(...), $hung_up);
// As a web server does, each answer is read as soon as it is there: a worker waits for the end of its connection.
$answers = 0;
while ($readable = $requests) {
    $write = $except = null;
    stream_select($readable, $write, $except, 30) || give_up('no answers');
    foreach ($readable as $at => $request) {
        $answers += (int) (FastCgi::receive($request) !== null);
        unset($requests[$at]);
    }
}
$fpm->wait_until(fn (): bool => count(notes()) === 400, 'the last request');
$fpm->wait_until(fn (): bool => active() === '[0,0]', 'the last permit');
echo 'answers: ', $answers, ' of ', 200 - count($hung_up), "\n";

// Workers that are killed inside: their permits are free at once.
foreach ([SIGKILL, SIGTERM] as $signal) {
    $hanging = [$fpm->send('www', 'slow.php', ['end' => 'hangs', 'kept' => 'static']), $fpm->send('www', 'slow.php', ['end' => 'hangs', 'kept' => 'local'])];
    $fpm->wait_until(fn (): bool => count(inside()) === 2, 'two requests inside');
    echo 'signal ', $signal, ': ', active();
    foreach (inside() as $pid) {
        file_put_contents("$fpm->scratch/log", hrtime(true) . " $pid - killed\n", FILE_APPEND);
        posix_kill($pid, $signal);
    }
    $gone = array_map(FastCgi::receive(...), $hanging);
    echo ' ', count(array_filter($gone)), ' answers, then ', comes_true(fn (): bool => active() === '[0,0]', 2) ? 'free' : 'held', "\n";
}
$fpm->wait_until(fn (): bool => count($fpm->workers()) === 20, 'new workers');

// A reload lets the requests that run come to their end.
$hanging = $fpm->send('www', 'slow.php', ['end' => 'hangs', 'kept' => 'static']);
$fpm->wait_until(fn (): bool => count(inside()) === 1, 'a request inside');
posix_kill($fpm->master(), SIGUSR2);
touch("$fpm->scratch/go on");
FastCgi::receive($hanging);
$fpm->wait_until(fn (): bool => @stream_socket_client("unix://$fpm->folder/www.sock") && count($fpm->workers()) === 20, 'the reload');
echo 'after a reload: ', active(), "\n";

$inside = [];
$most = 0;
$notes = notes();
usort($notes, fn (array $a, array $b): int => [$a[0], $a[2]] <=> [$b[0], $b[2]]);
foreach ($notes as [, $pid, $what]) {
    $inside[$pid] = $what === '+';
    $most = max($most, count(array_filter($inside)));
}
echo 'at most inside: ', $most, "\n";
echo 'ways to end: ', count(array_unique(array_column($notes, 3))), "\n";
?>
--EXPECT--
answers: 190 of 190
signal 9: [2,0] 0 answers, then free
signal 15: [2,0] 0 answers, then free
after a reload: [0,0]
at most inside: 3
ways to end: 14
