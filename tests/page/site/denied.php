<?php
// The site's own check says no.
declare(strict_types=1);
define('TOKEN_BUCKET_STATUS_ACCESS', false);
require __DIR__ . '/../share/status.php';
