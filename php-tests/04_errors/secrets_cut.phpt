--TEST--
Messages that cut a long text show no password whose "@" was cut off
--FILE--
<?php
$dsn = 'redis://user:s3cret' . str_repeat('x', 80) . '@10.0.0.5';
$said = [];
set_error_handler(function (int $level, string $message) use (&$said): bool {
    $said[] = $message;
    return true;
});
ini_set('token_bucket.storage', $dsn);
ini_set('token_bucket.storage', 'reddis://10.0.0.5');
ini_set('token_bucket.on_error', $dsn);
echo count($said), ' warnings, ', str_contains(implode($said), 's3cret') ? implode("\n", $said) : 'no password', "\n";
?>
--EXPECT--
2 warnings, no password
