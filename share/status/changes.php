<?php

/** The changes, which only a POST with a token makes, and their forms. */

declare(strict_types=1);

namespace TokenBucket\StatusPage;

use TokenBucket\Command\Client;
use TokenBucket\Command\CommandError;
use TokenBucket\Command\Duration;
use TokenBucket\Command\Identifier;
use TokenBucket\Command\MistypedAddress;
use TokenBucket\Command\NamedLimit;
use TokenBucket\Command\NoAnswer;
use TokenBucket\Command\Peek;
use TokenBucket\Command\Text;
use TokenBucket\Command\UsageError;

use function TokenBucket\denials;
use function TokenBucket\reset_statistics;
use function TokenBucket\status;

/** Stands for the name of a limit in the forms of limits in the code, whose clients are whole identifiers. No limit of the file can have it. */
const IN_THE_CODE = 'in the code';

/** How long a client is blocked unless another time is typed. */
const BLOCK_TIME = '1h';

/** Makes the change that was posted. Returns a question, or a notice that nothing was changed; null: it is done, and send_result() says what. */
function handle_post(string $access): ?string
{
    if ($access !== 'change') {
        http_response_code(403);
        return failure('Nothing was changed', "this page only shows. <code>TOKEN_BUCKET_STATUS_ACCESS</code> is <code>'view'</code>.");
    }
    if (!is_same_origin()) {
        http_response_code(403);
        return failure('Nothing was changed', 'the form came from another site, or a proxy changes the <code>Host</code> header.');
    }
    if (!is_token_right()) {
        http_response_code(403);
        return failure('Nothing was changed', 'the form was an old one, or the browser keeps no cookies. Send it again.');
    }
    try {
        if (field($_POST, 'action') === 'block' && field($_POST, 'sure') !== 'yes') {
            return block_question(posted_target());
        }
        send_result(...match (field($_POST, 'action')) {
            'reset' => reset_client(),
            'block' => block_client(),
            'unblock' => unblock_client(),
            'reset_counts' => reset_counts(),
            default => throw new \ValueError('the action must be reset, block, unblock or reset_counts.'),
        });
        return null;
    } catch (NoAnswer | \TokenBucket\StorageException $outage) {
        // The server may have done it before the connection broke. The first warning of an outage is in this message alone.
        error_log('token_bucket: the status page could not make a change: ' . Text::printable($outage->getMessage(), 1000));
        http_response_code(503);
        return failure('It is not known whether anything was changed', show_message($outage));
    } catch (CommandError | UsageError | \ValueError | \TokenBucket\ConfigurationException $mistake) {
        http_response_code(422);
        return failure('Nothing was changed', show_message($mistake));
    }
}

/** @throws CommandError if the client is exempt: no block holds for it, and no call counts */
function posted_target(): Identifier|NamedLimit
{
    [$limit, $client] = [field($_POST, 'limit'), posted_client()];
    if ($client === '') {
        throw new \ValueError('the client must not be empty.');
    }
    $target = $limit === IN_THE_CODE ? new Identifier($client) : new NamedLimit($limit, [$client]);
    $target->expectLimited();
    return $target;
}

/** Returns the client that a button names in base64, for it may be any bytes, or that someone has typed. */
function posted_client(): string
{
    $encoded = field($_POST, 'client_base64');
    if ($encoded === '') {
        return Client::shown(field($_POST, 'client'), true);
    }
    $client = base64_decode($encoded, true);
    return $client === false ? throw new \ValueError('client_base64 must be base64.') : $client;
}

/** Says what is wrong with a typed client that is probably a mistyped address. One that is listed has been the application's. */
function mistyped_address(Identifier|NamedLimit $target): ?string
{
    $known = array_column([...status()['blocked'], ...denials()], 'identifier');
    $typed = field($_POST, 'client_base64') === '' ? array_diff($target->identifiers(), $known) : [];
    return current(array_filter(array_map(MistypedAddress::describe(...), $typed))) ?: null;
}

/** A client that is probably a mistyped address is neither reset nor unblocked. Its own buttons do both. */
function expect_right_address(Identifier|NamedLimit $target): void
{
    $mistake = mistyped_address($target);
    if ($mistake !== null) {
        throw new \ValueError("$mistake.");
    }
}

/** @return array{string, string, string} the arguments of send_result() */
function reset_client(): array
{
    $target = posted_target();
    expect_right_address($target);
    return [$target->reset() ? 'Reset' : 'Nothing was stored', $target->text(), state($target)];
}

/** @return array{string, string, string} */
function block_client(): array
{
    $target = posted_target();
    $target->block(Duration::seconds(field($_POST, 'time'), 'the time'));
    return ['Blocked', $target->text(), state($target)];
}

/**
 * A limit that is not blocked keeps its calls.
 *
 * @return array{string, string, string}
 */
function unblock_client(): array
{
    $target = posted_target();
    expect_right_address($target);
    $was_blocked = $target->unblock() !== null;
    $is_listed = array_intersect($target->identifiers(), array_column(status()['blocked'], 'identifier')) !== [];
    return [$was_blocked ? 'Unblocked' : 'It was not blocked', $target->text(), state($target)
        . ($is_listed ? '. Another limit is blocked under this identifier: in the code, or on another storage' : '')];
}

/** @return array{string, string, string} */
function reset_counts(): array
{
    if (field($_POST, 'sure') !== 'yes') {
        throw new \ValueError('tick the box to reset the counts.');
    }
    reset_statistics();
    return ['Reset', '', 'all counts are zero'];
}

/** What the store says of the client's next call; of limits in the code, whose numbers are there, of blocks alone. */
function state(Identifier|NamedLimit $target): string
{
    if ($target instanceof NamedLimit) {
        return Peek::answer($target->ask());
    }
    $seconds = $target->blockedSeconds();
    return $seconds === null ? 'not blocked' : 'blocked for ' . Text::duration($seconds);
}

/** Asks whether the client is to be blocked, and for how long. */
function block_question(Identifier|NamedLimit $target): string
{
    $typed = field($_POST, 'client_base64') === '';
    $fields = hidden('token', token()) . hidden('limit', field($_POST, 'limit')) . hidden('client_base64', base64_encode(posted_client()))
        // The form that it was typed in keeps it.
        . hidden('client', field($_POST, 'client')) . hidden('sure', 'yes');
    $name = show($target->text());
    $default = BLOCK_TIME;
    $cancel = link_to([]);
    $mistake = mistyped_address($target);
    $doubts = array_filter([
        $mistake === null ? null : "$mistake. Block it only if the application passes it so",
        ...$typed ? array_map(fn(string $client): ?string => Client::doubt($client, false), $target->clients()) : [],
    ]);
    $doubt = implode('', array_map(fn(string $text): string => '<p><strong>' . show(ucfirst($text)) . ".</strong></p>\n", $doubts));
    return <<<HTML
        <section class="notice" id="notice" tabindex="-1" autofocus aria-labelledby="question">
        <h2 id="question">Block this client?</h2>
        <form method="post" class="fields">
        $fields
        $doubt
        <p>All calls of <code>$name</code> will be denied. Unblock lifts the block.</p>
        <p><label for="time">For</label> <input id="time" name="time" value="$default" required pattern="\s*[0-9.]+\s*(s|m|min|h|d)?\s*" autocomplete="off">
        <span class="hint">In seconds, or with a unit: 30s, 15m, 2h, 1d.</span></p>
        <p><button name="action" value="block">Block</button> <a class="button" href="$cancel">Cancel</a></p>
        </form>
        </section>

        HTML;
}

/**
 * @param array{named_limits: array<int|string, array<string, mixed>>, directives: array<string, string>, ...} $status
 * @param array<mixed> $form what was typed
 */
function change_view(array $status, string $token, string $notice, array $form): string
{
    $options = '';
    foreach ($status['named_limits'] as $name => $limit) {
        if (\array_key_exists('limited', $limit)) {
            $selected = field($form, 'limit') === (string) $name ? ' selected' : '';
            $options .= '<option' . $selected . '>' . escape((string) $name) . "</option>\n";
        }
    }
    $options .= '<option' . (field($form, 'limit') === IN_THE_CODE ? ' selected' : '') . '>' . IN_THE_CODE . "</option>\n";
    $back = link_to(['change' => null]);
    $token_field = hidden('token', $token);
    $typed = escape(field($form, 'client'));
    $client_form = <<<HTML
            <form method="post" class="fields">
            $token_field
            <p><label for="limit">Limit</label> <select id="limit" name="limit">
            $options</select></p>
            <p><label for="client">Client</label> <input id="client" name="client" value="$typed" required maxlength="4096" autocomplete="off" spellcheck="false">
            <span class="hint">As the application names it: an address, a network, a user. In the code: the whole identifier.</span></p>
            <p><button name="action" value="reset">Reset: forget its calls, lift its block</button></p>
            <p><button name="action" value="block">Block…</button> <button name="action" value="unblock">Unblock</button></p>
            </form>
            HTML;
    $prefix = show_text($status['directives']['token_bucket.prefix']);
    $content = heading($status) . <<<HTML
        <nav aria-label="Page" class="controls"><a class="button" href="$back">Back to the status</a></nav>
        $notice
        <section aria-labelledby="client-heading">
        <h2 id="client-heading">One client</h2>
        $client_form
        </section>
        <section aria-labelledby="counts-heading">
        <h2 id="counts-heading">Counts</h2>
        <form method="post" class="fields">
        $token_field
        <p>Sets the counts of all limits of the prefix <code>$prefix</code> to zero, and forgets the clients that were denied most. No client gets calls back.</p>
        <p><input id="sure" type="checkbox" name="sure" value="yes" required> <label for="sure">Yes, set them to zero</label></p>
        <p><button name="action" value="reset_counts">Reset the counts</button></p>
        </form>
        </section>

        HTML;
    return page(($notice === '' ? '' : 'Answer: ') . 'Change: token_bucket', '', $content);
}

function client_buttons(string $name, string $client, ?string $token, bool $is_blocked = false): string
{
    if ($token === null) {
        return '';
    }
    $fields = hidden('token', $token) . hidden('limit', $name) . hidden('client_base64', base64_encode($client));
    $label = escape(Text::identifier($client));
    return "<form method=\"post\">$fields"
        . ($is_blocked ? "<button name=\"action\" value=\"unblock\" aria-label=\"Unblock $label\">Unblock</button> "
            : "<button name=\"action\" value=\"reset\" aria-label=\"Reset $label\">Reset</button> ")
        . "<button name=\"action\" value=\"block\" aria-label=\"Block {$label}…\">Block…</button></form>";
}

function failure(string $title, string $content): string
{
    return notice('bad', $title, $content);
}

function notice(string $class, string $title, string $content): string
{
    return "<p class=\"notice $class\" id=\"notice\" tabindex=\"-1\" autofocus><strong>$title:</strong> $content</p>\n";
}

function show_message(\Throwable $error): string
{
    // In place of PHP's or the command's name of an argument.
    $message = preg_replace('~^(?:[\w\\\\]+(?:::\w+)?\(\): Argument #\d+ \(\$(\w+)\)|--(identifier)) ~', 'the $1$2 ', $error->getMessage());
    return str_replace("\n", '<br>', show(Text::lines((string) $message)));
}
