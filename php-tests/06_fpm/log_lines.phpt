--TEST--
php-fpm: the log and error handlers get warnings without HTML entities; a warning that PHP shows in a page begins no tag
--EXTENSIONS--
posix
--FILE--
<?php
require __DIR__ . '/fpm.inc';

$pool = ['pm.max_children' => '1', 'php_admin_flag[log_errors]' => 'on'];
$fpm = new Fpm([
    'hides' => $pool + ['php_admin_flag[display_errors]' => 'off', 'php_admin_value[token_bucket.lease]' => '"<i>"'],
    'shows' => $pool + ['php_admin_flag[display_errors]' => 'on'],
]);
$fpm->script('set.php', <<<'CODE'
    <?php
    ini_set('token_bucket.on_error', '<i>&');
    set_error_handler(function (int $level, string $message): bool {
        echo "\nhandler: $message\n";
        return true;
    });
    ini_set('token_bucket.on_error', '&');
    CODE);

foreach (['hides', 'shows'] as $name) {
    $answer = $fpm->request($name, 'set.php');
    preg_match_all('/PHP Warning:.*? on line \d+/', $answer->errors, $lines);
    echo "The pool that $name warnings\n", implode("\n", $lines[0]), "\n", trim($answer->body), "\n";
}
?>
--EXPECTF--
The pool that hides warnings
PHP Warning:  PHP Request Startup: token_bucket.lease must be between 0 and 4095, "<i>" given; "0" stays in force in Unknown on line 0
PHP Warning:  ini_set(): token_bucket.on_error must be "fallback", "open", "closed" or "throw", "<i>&" given; "fallback" stays in force in %sset.php on line 2
handler: ini_set(): token_bucket.on_error must be "fallback", "open", "closed" or "throw", "&" given; "fallback" stays in force
The pool that shows warnings
PHP Warning:  ini_set(): token_bucket.on_error must be "fallback", "open", "closed" or "throw", "&lt;i>&" given; "fallback" stays in force in %sset.php on line 2
<br />
<b>Warning</b>:  ini_set(): token_bucket.on_error must be "fallback", "open", "closed" or "throw", "&lt;i>&" given; "fallback" stays in force in <b>%sset.php</b> on line <b>2</b><br />

handler: ini_set(): token_bucket.on_error must be "fallback", "open", "closed" or "throw", "&" given; "fallback" stays in force
