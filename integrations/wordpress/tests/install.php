<?php
/* Installs the test's WordPress: users, settings and the plugin. Usage: install.php WORDPRESS single|network HOST */
declare(strict_types=1);

[, $wordpress, $site, $host] = $argv;
putenv("TEST_SITE=$site");
$_SERVER['HTTP_HOST'] = $host;
$_SERVER['SERVER_PROTOCOL'] = 'HTTP/1.1';
define('WP_INSTALLING', true);
if ($site === 'network') {
    define('TEST_NETWORK_IS_NEW', true);
    define('WP_ALLOW_MULTISITE', true);
}
require "$wordpress/wp-load.php";
/** @var wpdb $wpdb */
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
require_once ABSPATH . 'wp-admin/includes/plugin.php';

$plugin = 'token-bucket-login-guard/token-bucket-login-guard.php';
// No mail is sent.
add_filter('pre_wp_mail', '__return_true');
wp_install('Test', 'admin', 'admin@example.org', true, '', 'right');

if ($site === 'network') {
    foreach ($wpdb->tables('ms_global') as $table => $name) {
        $wpdb->$table = $name;
    }
    install_network();
    $done = populate_network(1, $host, 'admin@example.org', 'Network', '/', false);
    if (is_wp_error($done) && !in_array('no_wildcard_dns', $done->get_error_codes(), true)) {
        throw new RuntimeException($done->get_error_message());
    }
    $wpdb->insert($wpdb->sitemeta, ['site_id' => 1, 'meta_key' => 'active_sitewide_plugins', 'meta_value' => serialize([$plugin => time()])]);
    $settings = serialize(['trusted_proxies' => ['127.0.0.1']]);
    $wpdb->insert($wpdb->sitemeta, ['site_id' => 1, 'meta_key' => 'token_bucket_login_guard', 'meta_value' => $settings]);
    wp_insert_user(['user_login' => 'ann', 'user_pass' => 'right', 'user_email' => 'ann@example.org', 'role' => 'administrator']);
    exit;
}

update_option('token_bucket_login_guard', ['trusted_proxies' => ['127.0.0.1']]);
update_option('permalink_structure', '');
$failed = activate_plugin($plugin);
if (is_wp_error($failed)) {
    throw new RuntimeException($failed->get_error_message());
}

/* Users are copies of one, so that not each password is hashed. */
$hash = wp_hash_password('right');
$names = ['joe', 'ann', 'bob', 'cat', 'dan', 'eve', 'fay', 'gus', 'hal', 'ida', 'jan', 'kim', 'leo', 'mia', 'ned', 'amy', 'pat', 'olga', 'mona'];
foreach ([...$names, ...array_map(fn (int $i): string => "user$i", range(1, 100))] as $name) {
    $wpdb->insert($wpdb->users, ['user_login' => $name, 'user_pass' => $hash, 'user_nicename' => $name, 'user_email' => "$name@example.org", 'display_name' => $name, 'user_registered' => '2026-01-01 00:00:00']);
    update_user_meta($wpdb->insert_id, $wpdb->get_blog_prefix() . 'capabilities', ['subscriber' => true]);
}
// WordPress makes no such user; an import from elsewhere may.
$wpdb->insert($wpdb->users, ['user_login' => '"><script>alert(1)</script>', 'user_pass' => $hash, 'user_nicename' => 'script', 'user_email' => 'script@example.org', 'display_name' => 'x', 'user_registered' => '2026-01-01 00:00:00']);
// Users whose login is another user's address, or was their own once. Anyone may register a login that looks like an address.
$own = wp_hash_password('own');
foreach ([
    ['user90@example.org', 'attacker@example.net', $own], ['victim@example.com', 'victim@example.net', $hash],
    ['attacker', 'victim@example.com', $own], ['old@example.com', 'new@example.com', $hash],
] as $i => [$login, $address, $password]) {
    $wpdb->insert($wpdb->users, ['user_login' => $login, 'user_pass' => $password, 'user_nicename' => "address$i", 'user_email' => $address, 'display_name' => 'x', 'user_registered' => '2026-01-01 00:00:00']);
    update_user_meta($wpdb->insert_id, $wpdb->get_blog_prefix() . 'capabilities', ['subscriber' => true]);
}
[$password] = WP_Application_Passwords::create_new_application_password(get_user_by('login', 'amy')->ID, ['name' => 'test']);
file_put_contents(TEST_STATE . '/application-password', $password);
