<?php
/* A page that takes for the client what the client says. */
$limit = TokenBucket\limiter('raw', $_GET['client']);
$limit->block(3600);
for ($call = 0; $call < 20; $call++) {
    $limit->consume();
}
