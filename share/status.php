<?php

/**
 * The status page of token_bucket: limits, clients, servers, tables and directives of this host and user.
 *
 * It is off until a file of the site says who may see it. docs/operations.md has the whole story:
 *
 *     require __DIR__ . '/../bootstrap.php';
 *     if (!is_administrator()) { http_response_code(404); exit; }     // whatever the site's own check is
 *     define('TOKEN_BUCKET_STATUS_ACCESS', 'change');                 // 'view': without the buttons
 *     require '/path/to/share/status.php';
 *
 * No script, and no dependency but the folders status and command beside this file. Texts that clients chose pass through show_text(), all
 * others through escape().
 */

declare(strict_types=1);

require_once __DIR__ . '/command/Classes.php';
require_once __DIR__ . '/status/request.php';
require_once __DIR__ . '/status/changes.php';
require_once __DIR__ . '/status/views.php';
require_once __DIR__ . '/status/html.php';

TokenBucket\Command\Classes::register();
TokenBucket\StatusPage\serve();
