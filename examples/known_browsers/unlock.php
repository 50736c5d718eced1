<?php
/* Lets a user in whose login is denied: the user asks for a link by mail, opens it in the browser to log in with, and presses a button.
 * login.php then gives this browser a limit of its own. PHP sends the mail; this writes it into a file:
 *
 *     LOGIN_KEY=$(openssl rand -hex 32) php -d sendmail_path='/bin/cat >>/tmp/mails' -S 127.0.0.1:8080 -t examples/known_browsers
 *     http://127.0.0.1:8080/unlock.php
 */
declare(strict_types=1);

require __DIR__ . '/accounts.php';

/** The link to mail, or null: a network may ask for 10 mails in an hour, and a mailbox gets 3. */
function unlock_link(string $user, string $network): ?string
{
    $mails = [new TokenBucket\SlidingWindow(null, "unlock-mail:$network", 10, 3600)];
    if (isset(ACCOUNTS[$user])) {                                        // invented users must not fill the table
        array_unshift($mails, new TokenBucket\SlidingWindow(null, "unlock-mail-user:$user", 3, 3600));
    }
    $ticket = new_token(3600);                                           // as long as the window: of three links one is always valid
    $query = ['user' => $user, 'ticket' => $ticket, 'signature' => sign('unlock', $ticket, $user)];
    return (new TokenBucket\Compound(...$mails))->consume() ? SITE . '/unlock.php?' . http_build_query($query) : null;
}

/** Whether a link is right, in time, and used for the first time. */
function use_link(string $user, string $ticket, string $signature): bool
{
    return isset(ACCOUNTS[$user]) && is_signed('unlock', $ticket, $user, $signature)
        && (new TokenBucket\FixedWindow(browsers_storage(), "unlocked:$signature", 1, 3600))->consume();
}

$text = fn (int $type, string $name): string => (string) filter_input($type, $name);
$form = '<input name="user" required> <button>Send me a link</button>';
$message = 'Your login is denied? Ask for a link by mail.';
$user = posted_user();
$link = null;
if ($_SERVER['REQUEST_METHOD'] === 'POST' && is_cross_site()) {
    http_response_code(403);
    [$form, $message] = ['', 'Please ask on this page.'];
} elseif (isset($_POST['ticket'])) {
    $is_right = use_link($user, $text(INPUT_POST, 'ticket'), $text(INPUT_POST, 'signature'));
    if ($is_right) {
        remember_browser($user);
    }
    [$form, $message] = ['', $is_right ? '<b>You may <a href="login.php">log in</a> now, in this browser.</b>' : '<b>This link has been used, or is too old.</b>'];
} elseif (isset($_GET['ticket'])) {
    // Scanners of mails open links: only the button uses it.
    $hidden = fn (string $name): string => "<input type=\"hidden\" name=\"$name\" value=\"" . htmlspecialchars($text(INPUT_GET, $name)) . '">';
    $form = implode('', array_map($hidden, ['user', 'ticket', 'signature'])) . ' <button>Let me log in</button>';
    $message = '<b>Press this in the browser in which you want to log in as ' . htmlspecialchars($text(INPUT_GET, 'user')) . '.</b>';
} elseif ($user !== '') {
    $link = unlock_link($user, network());
    [$form, $message] = ['', 'If there is such a user, a mail with a link is on its way.'];    // the same for all
}
?>
<!doctype html>
<html lang="en">
<title>Log in again</title>
<meta name="referrer" content="same-origin">
<p><?= $message ?></p>
<form method="post" action="unlock.php"><?= $form ?></form>
</html>
<?php
// After the answer, or the time would tell which users exist. Where PHP cannot end the answer first (not php-fpm), queue the mail instead.
if (function_exists('fastcgi_finish_request')) {
    fastcgi_finish_request();
}
if ($link !== null && isset(ACCOUNTS[$user])) {
    $mail = "Open this link in the browser in which you want to log in:\n\n$link\n";
    if (!mail(ACCOUNTS[$user]['mail'], 'Your login was denied', $mail)) {
        error_log("unlock.php: the mail to $user was not sent");
    }
}
