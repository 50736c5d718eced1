<?php
// Makes calls on a named limit, as an application does, and answers how many were accepted.
declare(strict_types=1);

ini_set('display_errors', '0');
$limiter = TokenBucket\limiter($_GET['limit'], base64_decode($_GET['client'], true));
$accepted = 0;
for ($call = 0; $call < (int) $_GET['calls']; $call++) {
    $accepted += $limiter->consume() ? 1 : 0;
}
echo $accepted;
