<?php
// Nothing listens on port 1.
declare(strict_types=1);
@TokenBucket::per('redis://127.0.0.1:1?on_error=closed', 'login:192.0.2.1', 29, 300)->consume();
require __DIR__ . '/view.php';
