<?php
// Visitors behind a proxy that is not named to client_address().
declare(strict_types=1);
for ($visitor = 0; $visitor < 60; $visitor++) {
    TokenBucket::per(null, 'login:10.0.0.5', 30, 300)->consume();
}
require __DIR__ . '/view.php';
