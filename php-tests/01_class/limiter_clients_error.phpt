--TEST--
Named limits: a mistake about clients names its file and line; the limits that were read before stay in force
--INI--
token_bucket.limits={PWD}/limiter_clients_error.limits.ini
token_bucket.storage=array:
--FILE--
<?php
require dirname(__DIR__) . '/base.inc';
use function TokenBucket\{client_terms, limiter};

$limits = __DIR__ . '/limiter_clients_error.limits.ini';
$clients = __DIR__ . '/limiter_clients_error.clients.ini';

/** Writes a file as an editor does. */
function write(string $file, string $text): void
{
    file_put_contents("$file.new", $text);
    rename("$file.new", $file);
}

/** What a client has, or what the call says of the files. */
function ask(): string
{
    error_clear_last();
    try {
        $limit = 'limit ' . @limiter('api', '4711')->attempt(0)->getLimit();
    } catch (TokenBucket\ConfigurationException $e) {
        $limit = $e->getMessage();
    }
    $warning = error_get_last()['message'] ?? null;
    return str_replace(__DIR__ . '/', '', $limit . ($warning === null ? '' : ", Warning: $warning")) . "\n";
}

/** The first answer that differs from the last one: a worker looks at the files once a second. */
function next_answer(): string
{
    static $last = "limit 10\n";
    wait_until(function () use (&$answer, $last): bool {
        return ($answer = ask()) !== $last;
    });
    // A warning is given once.
    $last = strtok($answer, ",\n") . "\n";
    return $answer;
}

const API = "[api]\nlimit = 3\ninterval = 60\n";

echo "Before there is a valid file:\n";
foreach (['except = 10.0.0.0/33', 'except = 10.1.0.0/8', "except = 10.0.0.0/8\nexcept = 10.0.0.0/8", 'clients = limiter_clients_error.gone.ini', 'clients = /'] as $line) {
    write($limits, API . $line);
    echo ask();
}
write($limits, API . 'clients = limiter_clients_error.clients.ini');
foreach (["4711 = 10\n4712\n", "4711 = 0\n", "4711 = 10 / 1e99\n", "4711 = 10 / x\n", "a = 1\nb = 2\n4711 = 10\na = 3\n", "\xff = 1\n"] as $text) {
    write($clients, $text);
    echo ask();
}
write($limits, "[api]\nalgorithm = concurrency\nlimit = 3\nclients = limiter_clients_error.clients.ini");
write($clients, "4711 = 10 / 60\n");
echo ask();
write($limits, API . "[set]\nall = api\nexcept = 10.0.0.0/8");
echo ask();

echo "\nA valid one, whose file of clients changes:\n";
write($limits, API . 'clients = limiter_clients_error.clients.ini');
write($clients, "4711 = 10\n");
echo ask();
foreach (["4711 = 20\n", "4711 = 30\n4711 = 40\n", "4711 = 50\n"] as $text) {
    write($clients, $text);
    echo next_answer(), ask();
}
unlink($clients);
echo next_answer(), ask();
write($clients, "4711 = none\n");
echo next_answer(), json_encode(client_terms('api', '4711')['exempt']), "\n";

echo "\nA file of clients that keeps changing holds no change of the limits up:\n";
write($limits, "[api]\nlimit = 7\ninterval = 60\nclients = limiter_clients_error.clients.ini");
for ($i = 0; $i < 12; $i++) {
    write($clients, "4711 = none\n; $i\n");
    usleep(200_000);
    $limit = limiter('api', 'another')->attempt(0)->getLimit();
}
echo "limit $limit\n";

echo "\nNot of such a limit:\n";
try {
    client_terms('apo', '4711');
} catch (TokenBucket\ConfigurationException $e) {
    echo $e->getMessage(), "\n";
}
?>
--CLEAN--
<?php
array_map(unlink(...), glob(__DIR__ . '/limiter_clients_error.*.ini'));
--EXPECT--
Before there is a valid file:
token_bucket.limits: limiter_clients_error.limits.ini: line 4: except: 10.0.0.0/33 is not an address or network: write one like 10.0.0.0/8 or 2001:db8::/32, or quote it in a file of clients if it is another client
token_bucket.limits: limiter_clients_error.limits.ini: line 4: except: 10.1.0.0/8 has bits beyond its length: write 10.0.0.0/8
token_bucket.limits: limiter_clients_error.limits.ini: line 5: except is set twice: the first time in line 4
token_bucket.limits: limiter_clients_error.limits.ini: line 4: clients: limiter_clients_error.gone.ini: No such file or directory
token_bucket.limits: limiter_clients_error.limits.ini: line 4: clients: /: must be a regular file
token_bucket.limits: limiter_clients_error.limits.ini: line 4: clients: limiter_clients_error.clients.ini: line 2: must be client = limit, client = limit / interval, or client = none
token_bucket.limits: limiter_clients_error.limits.ini: line 4: clients: limiter_clients_error.clients.ini: line 1: limit must be between 1 and 2147483647
token_bucket.limits: limiter_clients_error.limits.ini: line 4: clients: limiter_clients_error.clients.ini: line 1: interval must be greater than 0 and at most four years, in seconds
token_bucket.limits: limiter_clients_error.limits.ini: line 4: clients: limiter_clients_error.clients.ini: line 1: must be client = limit, client = limit / interval, or client = none
token_bucket.limits: limiter_clients_error.limits.ini: line 4: clients: limiter_clients_error.clients.ini: line 4: this client is already in line 1
token_bucket.limits: limiter_clients_error.limits.ini: line 4: clients: limiter_clients_error.clients.ini: line 1: must be UTF-8
token_bucket.limits: limiter_clients_error.limits.ini: line 4: clients: limiter_clients_error.clients.ini: line 1: must be client = limit, because this algorithm has no interval
token_bucket.limits: limiter_clients_error.limits.ini: line 5: a set with all can have no other key: its limits have them

A valid one, whose file of clients changes:
limit 10
limit 20
limit 20
limit 20, Warning: TokenBucket\limiter(): token_bucket.limits: limiter_clients_error.limits.ini: line 4: clients: limiter_clients_error.clients.ini: line 2: this client is already in line 1; the limits that were read before stay in force
limit 20
limit 50
limit 50
limit 50, Warning: TokenBucket\limiter(): token_bucket.limits: limiter_clients_error.limits.ini: line 4: clients: limiter_clients_error.clients.ini: No such file or directory; the limits that were read before stay in force
limit 50
limit 3
true

A file of clients that keeps changing holds no change of the limits up:
limit 7

Not of such a limit:
token_bucket.limits has no limit "apo": must be one of api