<?php
/*
 * Plugin Name: Observer
 * Description: A must-use plugin of the tests: counts the passwords that are looked at, and sets the clock of the limits.
 */
declare(strict_types=1);

/** Adds one to a count, also when many processes do. */
function test_count(string $what): void
{
    file_put_contents(TEST_STATE . "/count-$what", '.', FILE_APPEND | LOCK_EX);
}

// Behind the guard, before WordPress's own callbacks: a guess that gets here is looked at.
add_filter('authenticate', function (mixed $user, string $name, string $password): mixed {
    if ($name !== '' && $password !== '') {
        test_count('authenticate');
    }
    return $user;
}, 19, 3);
add_filter('check_password', function (bool $isRight): bool {
    test_count('hashed');
    return $isRight;
});
add_action('application_password_failed_authentication', function (WP_Error $error): void {
    if ($error->get_error_code() !== 'too_many_attempts') {
        test_count('application');
    }
});

// As plugins for a second factor do. Most return an error, after WordPress has looked at the password (Wordfence, at 25) ...
add_filter('authenticate', function (mixed $user): mixed {
    if ($user instanceof WP_User && isset($_POST['code']) && $_POST['code'] !== '123456') {
        return new WP_Error('second_factor_required', 'Enter the code of your authenticator.');
    }
    return $user;
}, 25);
// ... and some look at it themselves, end the request with a page of their own, and log the user in by another (Duo, at 10).
add_filter('authenticate', function (mixed $user, string $name, string $password): mixed {
    if (isset($_POST['page'])) {
        $user = wp_authenticate_username_password(null, $name, $password);
        if ($user instanceof WP_User) {
            exit('Confirm on your phone.');
        }
    }
    return $user;
}, 10, 3);
add_action('init', function (): void {
    if (isset($_POST['confirmed'])) {
        $user = get_user_by('login', $_POST['confirmed']) ?: exit('No such user.');
        do_action('wp_login', $user->user_login, $user);
        exit('Welcome.');
    }
});
// A plugin that compares the password with others, here with itself.
add_filter('authenticate', function (mixed $user, string $name, string $password): mixed {
    if (isset($_POST['earlier'])) {
        wp_check_password($password, wp_hash_password($password));
    }
    return $user;
}, 15, 3);

// Cheap hashes make the tests short: the newer WordPress takes long for one on purpose.
add_filter('wp_hash_password_options', fn (): array => ['cost' => 4]);

/**
 * A method of XML-RPC as plugins add them, which WordPress does not stop after the first wrong password.
 *
 * @param array{string, string} $arguments name and password
 */
function test_login(array $arguments): string
{
    return is_wp_error(wp_authenticate($arguments[0], $arguments[1])) ? 'no' : 'yes';
}
add_filter('xmlrpc_methods', fn (array $methods): array => $methods + ['test.login' => 'test_login']);

// As themes and plugins do that ask for the user early.
if (isset($_GET['early'])) {
    add_filter('rest_jsonp_enabled', fn (bool $isEnabled): bool => wp_get_current_user() ? $isEnabled : false);
}

// The plugin brings the stand-in, after this file.
add_action(extension_loaded('token_bucket') ? 'muplugins_loaded' : 'plugins_loaded', function (): void {
    if (extension_loaded('token_bucket') || get_cfg_var('token_bucket.test_clock') && class_exists(TokenBucket\TestClock::class)) {
        TokenBucket\TestClock::freeze((float) file_get_contents(TEST_STATE . '/clock'));
    }
});
