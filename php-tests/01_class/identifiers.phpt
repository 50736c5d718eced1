--TEST--
TokenBucket: identifiers: any bytes work and no two collide
--FILE--
<?php
$identifiers = [
    'a', "a\0", "\0a", "a\0b", 'A', ' a', "\xff\xfe", "\xc3\x28", 'tb:a', "a\r\nset x 0 0 1\r\n", 'é', "e\u{301}",
    str_repeat('x', 4096), str_repeat('x', 4095), '0', '00', '1e0', '1',
];
foreach (['shm:', 'array:'] as $dsn) {
    $first = $second = '';
    foreach ($identifiers as $identifier) {
        $first .= (int) (new TokenBucket("$dsn?prefix=ids", $identifier, 1, 0.001))->consume();
    }
    foreach ($identifiers as $identifier) {
        $second .= (int) (new TokenBucket("$dsn?prefix=ids", $identifier, 1, 0.001))->consume();
    }
    echo $first, ' ', $second, "\n";
}
?>
--EXPECT--
111111111111111111 000000000000000000
111111111111111111 000000000000000000
