<?php
/* Lets a user of examples/login.php in whose login is denied: the user asks for a link, opens it on the device that is denied and presses
 * a button. docs/login.md has the rules. The user is "joe". PHP sends the mail, which this writes into a file:
 *
 *     LOGIN_KEY=$(openssl rand -hex 32) php -d extension=token_bucket -d sendmail_path='cat >>/tmp/mails' -S 127.0.0.1:8080 -t examples
 *     http://127.0.0.1:8080/unlock.php
 */
declare(strict_types=1);

/** Where this page is. Never take it from the request: the client chooses its Host header. */
const PAGE = 'http://127.0.0.1:8080/unlock.php';
const ACCOUNTS = ['joe' => ['mail' => 'joe@example.org', 'hash' => '$2y$04$yn0s5JabOxVUF17KE.EzEe4CY.j.GinC90LNl.DjnnCk.wlTzHHJm']];

/** Signs a link for one user and password. The ticket begins with the time until which it is valid. */
function unlock_signature(string $user, string $hash, string $ticket): string
{
    $key = getenv('LOGIN_KEY') ?: throw new LogicException('LOGIN_KEY is not set');
    return hash_hmac('sha256', "unlock $ticket $user $hash", $key);
}

/** The link to mail, or null: a network may ask for 10 mails in an hour, and a mailbox gets 3. */
function unlock_link(string $user, string $hash, string $network): ?string
{
    $mails = new TokenBucket\Compound(
        new TokenBucket\SlidingWindow(null, "unlock-mail:$network", 10, 3600),
        new TokenBucket\SlidingWindow(null, "unlock-mail-user:$user", 3, 3600),
    );
    $ticket = time() + 3600 . '-' . bin2hex(random_bytes(8));            // as long as the window: of three links one is always valid
    $query = ['user' => $user, 'ticket' => $ticket, 'signature' => unlock_signature($user, $hash, $ticket)];
    return $mails->consume() ? PAGE . '?' . http_build_query($query) : null;
}

/** What a posted link did, as the page says it in bold. */
const RESULTS = [
    'Lifted' => 'You may log in again: your failed attempts from this network are forgiven.',
    'Nothing' => 'Nothing was lifted, for you are not denied here. Open the link on the device that is denied: it is still valid.',
    'Network' => 'Nothing was lifted, for this whole network is denied. Use another network, or wait: the link is still valid.',
    'Invalid' => 'This link has been used, or is too old.',
];

/** If the link is right, and the user alone is denied at this network: fills the user's bucket there, and lifts the block. Returns a name of RESULTS. */
function unlock(string $user, string $hash, string $ticket, string $signature, string $network): string
{
    $once = new TokenBucket\FixedWindow(null, "unlocked:$signature", 1, 3600);
    if ((int) $ticket <= time() || !hash_equals(unlock_signature($user, $hash, $ticket), $signature) || !$once->peek()->isAccepted()) {
        return 'Invalid';
    }
    if (!TokenBucket::per(null, "login:$network", 30, 300, 'login_network')->peek()->isAccepted()) {
        return 'Network';
    }
    $pair = TokenBucket::per(null, "login:$network $user", 5, 300, 'login_pair');
    if ($pair->peek()->isAccepted()) {
        return 'Nothing';
    }
    if (!$once->consume()) {                                               // another request was quicker
        return 'Invalid';
    }
    $pair->reset();
    (new TokenBucket\FixedWindow(null, "failures:$network $user", 40, TokenBucket::DAY))->reset();    // of examples/escalating_block.php
    return 'Lifted';
}

$text = fn (int $type, string $name): string => (string) filter_input($type, $name);
$form = '<input name="user" required> <button>Send me a link</button>';
$message = 'Your login is denied? Ask for a link by mail.';
$user = substr(strtolower(trim($text(INPUT_POST, 'user'))), 0, 65);
$network = TokenBucket\client_network(TokenBucket\client_address($_SERVER));
$link = null;
if ($text(INPUT_POST, 'ticket') !== '') {
    // A user who is unknown has no hash, so no signature fits.
    $result = isset(ACCOUNTS[$user]) ? unlock($user, ACCOUNTS[$user]['hash'], $text(INPUT_POST, 'ticket'), $text(INPUT_POST, 'signature'), $network) : 'Invalid';
    [$form, $message] = ['', '<b>' . RESULTS[$result] . '</b>'];
} elseif ($text(INPUT_GET, 'ticket') !== '') {
    // Scanners of mails open links: only the button lifts.
    $form = implode('', array_map(fn (string $name): string => "<input type=\"hidden\" name=\"$name\" value=\"" . htmlspecialchars($text(INPUT_GET, $name)) . '">', ['user', 'ticket', 'signature']));
    [$form, $message] = ["$form <button>Let me log in again</button>", '<b>Press this on the device that was denied, in the same network.</b>'];
} elseif ($user !== '') {
    $link = unlock_link($user, ACCOUNTS[$user]['hash'] ?? '', $network);
    [$form, $message] = ['', 'If there is such a user, a mail with a link is on its way. Open it on this device.'];    // the same for all
}
?>
<!doctype html>
<html lang="en">
<title>Log in again</title>
<meta name="referrer" content="no-referrer">
<p><?= $message ?></p>
<form method="post" action="unlock.php"><?= $form ?></form>
</html>
<?php
// After the answer, or the time would tell which users exist.
if (function_exists('fastcgi_finish_request')) {
    fastcgi_finish_request();
}
if ($link !== null && isset(ACCOUNTS[$user])) {
    mail(ACCOUNTS[$user]['mail'], 'Your login was denied', "Open this link on the device that was denied, and in the same network:\n\n$link\n");
}
