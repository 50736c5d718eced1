--TEST--
ini: token_bucket.ini, docs/configuration.md and phpinfo() name every directive, with its default and where it may be set
--INI--
token_bucket.shm_path=
pcre.jit=0
--FILE--
<?php
// What the extension declares, in src/settings.rs and src/php/ini.rs.
$declared = [];
foreach (ini_get_all('token_bucket') as $name => $directive) {
    $scope = [INI_ALL => 'anywhere', INI_SYSTEM => 'php.ini, pool'][$directive['access']];
    $declared[$name] = [$directive['global_value'], $scope];
    echo "$name = \"$directive[global_value]\" $scope\n";
}

/** Prints what one of the two lists lacks, or has with other values. */
function compare(string $where, array $declared, array $documented): void
{
    $differences = [];
    foreach ($declared + $documented as $name => $_) {
        if (!isset($documented[$name])) {
            $differences[] = "$name is missing";
        } elseif (!isset($declared[$name])) {
            $differences[] = "$name does not exist";
        } elseif ($declared[$name] !== $documented[$name]) {
            $differences[] = "$name is " . json_encode($documented[$name]) . ' instead of ' . json_encode($declared[$name]);
        }
    }
    echo "$where: ", implode(', ', $differences) ?: 'complete', "\n";
}

$root = dirname(__DIR__, 2);

// The sample file: a line with the default, commented out, below a comment that ends in the scope if it is not "anywhere".
$sample = [];
$comment = '';
foreach (file("$root/token_bucket.ini", FILE_IGNORE_NEW_LINES) as $line) {
    if (preg_match('/^;(token_bucket\.\w+) = "?([^"]*)"?$/', $line, $match)) {
        $sample[$match[1]] = [$match[2], str_ends_with($comment, 'php.ini or pool only.') ? 'php.ini, pool' : 'anywhere'];
        $comment = '';
    } else {
        $comment = $line === '' ? '' : "$comment $line";
    }
}
compare('token_bucket.ini', $declared, $sample);

// The table: `name` | `default` or the word empty | scope | text.
$page = file_get_contents("$root/docs/configuration.md");
preg_match_all('/^\| `(token_bucket\.\w+)` \| (?:`([^`]+)`|empty) \| ([^|]+) \| \S.* \|$/m', $page, $rows, PREG_SET_ORDER);
$table = [];
foreach ($rows as [, $name, $default, $scope]) {
    $table[$name] = [$default, $scope];
}
compare('docs/configuration.md', $declared, $table);

ob_start();
(new ReflectionExtension('token_bucket'))->info();
preg_match_all('/^(token_bucket\.\w+) => .* => (.*)$/m', ob_get_clean(), $rows, PREG_SET_ORDER);
$info = [];
foreach ($rows as [, $name, $value]) {
    $info[$name] = $value === 'no value' ? '' : $value;
}
compare('phpinfo()', array_map(fn ($directive) => $directive[0], $declared), $info);
?>
--EXPECT--
token_bucket.connect_timeout_ms = "100" anywhere
token_bucket.deny_cache = "1" anywhere
token_bucket.enforce = "1" anywhere
token_bucket.lease = "0" anywhere
token_bucket.limits = "" php.ini, pool
token_bucket.on_error = "fallback" anywhere
token_bucket.prefix = "tb:" anywhere
token_bucket.shm_path = "" php.ini, pool
token_bucket.shm_size = "8M" php.ini, pool
token_bucket.storage = "shm:" anywhere
token_bucket.test_clock = "0" php.ini, pool
token_bucket.timeout_ms = "50" anywhere
token_bucket.track_identifiers = "1" anywhere
token_bucket.warn_of_mistakes = "1" anywhere
token_bucket.ini: complete
docs/configuration.md: complete
phpinfo(): complete
