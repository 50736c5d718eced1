<?php
// Makes the table of the bucket's store, where it needs one.
require __DIR__ . '/dsn.inc';
(new TokenBucket\MysqlStorage(dsn('mysql')))->prepare();
echo "prepared\n";
