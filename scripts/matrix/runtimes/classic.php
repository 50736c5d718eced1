<?php
// A request of its own, as php-fpm has it.
require __DIR__ . '/application.inc';
[$status, $body] = answer($_GET);
http_response_code($status);
echo $body;
