<?php

declare(strict_types=1);

$application = getenv('TB_LARAVEL_APP');
if ($application === false) {
    fwrite(STDERR, "Run the tests with integrations/laravel/run-tests.sh, which makes an application for them\n");
    exit(2);
}
require_once "$application/bootstrap/app.php";
require_once __DIR__ . '/../../../php-tests/server.inc';
require_once __DIR__ . '/../../../php-tests/web_server.inc';
