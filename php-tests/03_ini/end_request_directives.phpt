--TEST--
end_request() leaves the directives of a script as they are
--FILE--
<?php
ini_set('token_bucket.prefix', 'mine:');
TokenBucket\end_request();
var_dump(ini_get('token_bucket.prefix'));
?>
--EXPECT--
string(5) "mine:"
