<?php
declare(strict_types=1);
define('TOKEN_BUCKET_STATUS_ACCESS', true);
require __DIR__ . '/../share/status.php';
