<?php
/* The test's WordPress. Of one tree there are two sites: an ordinary one, and a multisite. */
$folder = dirname(__DIR__);
$site = getenv('TEST_SITE') ?: ($_SERVER['TEST_SITE'] ?? 'single');
define('DB_NAME', 'wordpress');
define('DB_USER', 'root');
define('DB_PASSWORD', '');
define('DB_HOST', "localhost:$folder/mariadb.sock");
define('DB_CHARSET', 'utf8mb4');
define('DB_COLLATE', '');
$table_prefix = $site === 'network' ? 'net_' : 'wp_';
foreach (['AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE'] as $scheme) {
    define("{$scheme}_KEY", "a key of the test for $scheme of $site");
    define("{$scheme}_SALT", "a salt of the test for $scheme of $site");
}
define('WP_HOME', 'http://' . ($_SERVER['HTTP_HOST'] ?? 'localhost'));
define('WP_SITEURL', WP_HOME);
define('WP_DEBUG', true);
define('WP_DEBUG_DISPLAY', false);
define('DISABLE_WP_CRON', true);
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('AUTOMATIC_UPDATER_DISABLED', true);
// Application passwords need HTTPS, or this.
define('WP_ENVIRONMENT_TYPE', 'local');
define('TEST_STATE', "$folder/state");
if ($site === 'network' && !defined('TEST_NETWORK_IS_NEW')) {
    define('MULTISITE', true);
    define('SUBDOMAIN_INSTALL', false);
    define('DOMAIN_CURRENT_SITE', (string) file_get_contents(TEST_STATE . '/network'));
    define('PATH_CURRENT_SITE', '/');
    define('SITE_ID_CURRENT_SITE', 1);
    define('BLOG_ID_CURRENT_SITE', 1);
}
if (is_file(TEST_STATE . '/storage')) {
    define('TOKEN_BUCKET_LOGIN_GUARD_STORAGE', (string) file_get_contents(TEST_STATE . '/storage'));
}
if (is_file(TEST_STATE . '/found_rows')) {
    define('MYSQL_CLIENT_FLAGS', MYSQLI_CLIENT_FOUND_ROWS);
}
if (!defined('ABSPATH')) {
    define('ABSPATH', __DIR__ . '/');
}
require_once ABSPATH . 'wp-settings.php';
