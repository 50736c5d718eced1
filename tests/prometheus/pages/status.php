<?php
declare(strict_types=1);
echo json_encode(TokenBucket\status(), JSON_INVALID_UTF8_SUBSTITUTE | JSON_PARTIAL_OUTPUT_ON_ERROR);
