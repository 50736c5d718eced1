<?php
/* Uninstalls the plugin of the tests' multisite, as WordPress does. Usage: uninstall.php WORDPRESS */
declare(strict_types=1);

$_SERVER['HTTP_HOST'] = getenv('HTTP_HOST');
$_SERVER['REQUEST_URI'] = '/';
require "$argv[1]/wp-load.php";
require_once ABSPATH . 'wp-admin/includes/plugin.php';
uninstall_plugin('token-bucket-login-guard/token-bucket-login-guard.php');
