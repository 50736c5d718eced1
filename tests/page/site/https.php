<?php
// As behind a server that speaks HTTPS.
declare(strict_types=1);
$_SERVER['HTTPS'] = 'on';
require __DIR__ . '/change.php';
