<?php
declare(strict_types=1);
define('TOKEN_BUCKET_STATUS_ACCESS', 'change');
echo str_repeat('Something was printed. ', 1000);
flush();
require __DIR__ . '/../share/status.php';
