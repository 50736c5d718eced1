--TEST--
ini: a bad value of any directive gives exactly one warning that names it, at startup and by ini_set(), and leaves the value that was in force
--INI--
pcre.jit=0
--FILE--
<?php
/* All directives there are: a new one needs a bad value here. */
$bad = [
    'connect_timeout_ms' => '0',
    'deny_cache' => 'maybe',
    'lease' => '4096',
    'enforce' => '2',
    'on_error' => 'panic',
    'prefix' => str_repeat('x', 65),
    'limits' => 'relative.ini',
    'shm_path' => 'relative',
    'shm_size' => 'tiny',
    'storage' => 'reddis://localhost',
    'test_clock' => 'perhaps',
    'timeout_ms' => '10001s',
    'track_identifiers' => '-1',
    'warn_of_mistakes' => 'perhaps',
];
// The default, as a PHP without any settings has it.
$defaults = json_decode(php('', 'echo json_encode(ini_get_all("token_bucket", false));'), true);
var_dump(array_diff(array_keys($defaults), array_map(fn ($name) => "token_bucket.$name", array_keys($bad))));

function php(string $options, string $code): string
{
    // The options of this run name a folder for tables: without it there is none that a default could be told by.
    $extra = preg_replace('/-d "?token_bucket\.shm_path=[^ ]*/', '', getenv('TEST_PHP_EXTRA_ARGS'));
    return shell_exec(escapeshellarg(PHP_BINARY) . " -n $extra -d display_errors=1 -d log_errors=0 -d html_errors=0 $options -r " . escapeshellarg($code) . ' 2>&1');
}

/** Exactly one warning, about this directive, and then the default. */
function judge(string $output, string $name, string $default): string
{
    preg_match_all('/^Warning: .*$/m', $output, $warnings);
    return match (true) {
        count($warnings[0]) !== 1 => count($warnings[0]) . " warnings: $output",
        !preg_match("/^Warning: .*\\btoken_bucket\\.$name must be /", $warnings[0][0]) => "another warning: $output",
        !str_ends_with($output, "value: $default") => "another value: $output",
        default => 'one warning',
    };
}

foreach ($bad as $name => $value) {
    $default = $defaults["token_bucket.$name"];
    $show = "echo \"value: \", ini_get('token_bucket.$name');";
    $startup = php('-d ' . escapeshellarg("token_bucket.$name=\"$value\""), $show);
    echo "$name: at startup ", judge($startup, $name, $default);
    if (ini_get_all('token_bucket')["token_bucket.$name"]['access'] === INI_ALL) {
        $set = php('', "ini_set('token_bucket.$name', '$value') === false || die('it was set'); $show");
        echo ', by ini_set() ', judge($set, $name, $default);
    }
    echo "\n";
}
?>
--EXPECT--
array(0) {
}
connect_timeout_ms: at startup one warning, by ini_set() one warning
deny_cache: at startup one warning, by ini_set() one warning
lease: at startup one warning, by ini_set() one warning
enforce: at startup one warning, by ini_set() one warning
on_error: at startup one warning, by ini_set() one warning
prefix: at startup one warning, by ini_set() one warning
limits: at startup one warning
shm_path: at startup one warning
shm_size: at startup one warning
storage: at startup one warning, by ini_set() one warning
test_clock: at startup one warning
timeout_ms: at startup one warning, by ini_set() one warning
track_identifiers: at startup one warning, by ini_set() one warning
warn_of_mistakes: at startup one warning, by ini_set() one warning
