--TEST--
client_address(), in_network(): arrays with keys of any bytes
--FILE--
<?php
use function TokenBucket\{client_address, in_network};

echo client_address(['REMOTE_ADDR' => '10.0.0.1', 'HTTP_X_FORWARDED_FOR' => '192.0.2.1', "\xfe" => 1], ["\xff" => '10.0.0.0/8']), ' ';
echo json_encode(in_network('10.0.0.1', ["\xff" => '192.0.2.0/24', "\xfe" => '10.0.0.0/8'])), "\n";
?>
--EXPECT--
192.0.2.1 true
