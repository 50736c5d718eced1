<?php
declare(strict_types=1);
define('TOKEN_BUCKET_STATUS_ACCESS', 'view');
require __DIR__ . '/../share/status.php';
