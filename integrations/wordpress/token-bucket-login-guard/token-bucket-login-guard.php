<?php
/**
 * Plugin Name:       Token Bucket Login Guard
 * Description:       Limits password guesses at wp-login.php, XML-RPC and application passwords: exactly, also when they come all at once, before WordPress looks at the password.
 * Version:           0.1.0
 * Requires at least: 6.1
 * Requires PHP:      8.1
 * Author:            The token_bucket authors
 * License:           MIT
 * License URI:       https://opensource.org/licenses/MIT
 * Text Domain:       token-bucket-login-guard
 * Network:           true
 */
declare(strict_types=1);

namespace TokenBucket\WordPress;

if (!defined('ABSPATH')) {
    exit;
}

// The extension's classes in plain PHP: they are declared where this PHP has not loaded it.
if (is_file(__DIR__ . '/stand-in/stand-in.php')) {
    require_once __DIR__ . '/stand-in/stand-in.php';
}
foreach ([
    'Settings', 'Storage', 'Database', 'ClientTable', 'Client', 'Account', 'KnownBrowser', 'ProvenPassword', 'Limits', 'BlockList', 'SecurityLog',
    'DatabaseCounts',
    'Attempt', 'StoredAttempt', 'DatabaseAttempt', 'Guard', 'Unblocking', 'SettingsForm', 'Overview', 'SettingsPage', 'Notices',
] as $class) {
    require_once __DIR__ . "/src/$class.php";
}

(new Notices())->register();
(new SettingsPage())->register();
if (Storage::isExtensionLoaded()) {
    (new Guard())->register();
}
