<?php
/* Removes what the plugin keeps in the database. */
declare(strict_types=1);

namespace TokenBucket\WordPress;

if (!defined('WP_UNINSTALL_PLUGIN')) {
    exit;
}

require_once __DIR__ . '/src/Settings.php';
require_once __DIR__ . '/src/ClientTable.php';
require_once __DIR__ . '/src/BlockList.php';
require_once __DIR__ . '/src/DatabaseCounts.php';

Settings::delete();
BlockList::drop();
DatabaseCounts::drop();
