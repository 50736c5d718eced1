<?php
// Makes calls on a named limit, as an application does, and answers how many were accepted.
declare(strict_types=1);

ini_set('display_errors', '0');
$client = base64_decode($_GET['client'], true);
// Without a limit of the file: one in the code, of 20 in 300 seconds, of the whole identifier.
$limiter = $_GET['limit'] === '' ? TokenBucket::per(null, $client, 20, 300) : TokenBucket\limiter($_GET['limit'], $client);
if (isset($_GET['block'])) {
    $limiter->block((float) $_GET['block']);
}
$accepted = 0;
for ($call = 0; $call < (int) $_GET['calls']; $call++) {
    $accepted += $limiter->consume() ? 1 : 0;
}
echo $accepted;
