<?php

/** What the page shows of the status. */

declare(strict_types=1);

namespace TokenBucket\StatusPage;

use TokenBucket\Command\Attention;
use TokenBucket\Command\Blocks;
use TokenBucket\Command\Client;
use TokenBucket\Command\Denials;
use TokenBucket\Command\Limits;
use TokenBucket\Command\NamedLimit;
use TokenBucket\Command\Text;

/** How often the page may refresh itself, in seconds; 0: not at all. */
const REFRESH_CHOICES = [0, 10, 60];
const DEFAULT_REFRESH = 10;

/** If a larger share of all calls was denied, in percent, the page does not say that nothing needs attention. */
const MUCH_DENIED_PERCENT = 10;

/** Which of the sixty minutes of status() is the last one that is over. */
const LAST_FULL_MINUTE = 58;

/** How many rows a section's table shows, and at most when all were asked for: a page that refreshes itself must stay small. */
const FIRST_ROWS = ['limited' => 10, 'most-denied' => 10, 'denials' => 5];
const MOST_ROWS = 100;

/**
 * @param array{
 *     version: string,
 *     shared_memory_errors: list<string>,
 *     likely_mistakes: list<string>,
 *     limits: array<int|string, array{checked: int, accepted: int, denied: int, would_deny: int, errors: int, busy: int, degraded: int,
 *         evictions: int, exempt: int, most_denied: array<int|string, int>}>,
 *     last_hour: array<int|string, array{calls: list<int>, denied: list<int>, would_deny: list<int>}>,
 *     denials: list<array<string, mixed>>,
 *     blocked: list<array{name: string, identifier: string|null, algorithm: string, enforced: bool, seconds: float}>,
 *     limits_file: array{path: string, error: string|null}|null,
 *     named_limits: array<int|string, array{all?: list<string>, first?: list<string>, enforce?: bool|null, limited?: array<int|string, float>|null, ...}>,
 *     tables: list<array{name: string, holds: string, path: string, bytes: int, slots: int, used: int, evictions: int, denied_newcomers: int}>,
 *     servers: list<array{name: string, up: bool, since: float, outages: int, last_failure: string|null, round_trip: float|null, clock_behind: float|null}>,
 *     directives: array<string, string>
 * } $status
 */
function status_view(array $status, ?string $token, string $notice): string
{
    // After a change the page stands still, so that its notice can be read.
    $refresh = $notice === '' ? refresh_seconds() : 0;
    $content = heading($status) . controls($refresh, $token) . $notice . attention($status) . summary($status)
        . limited_section($status, $token) . most_denied_section($status, $token) . limits_section($status) . denials_section($status)
        . servers_section($status) . tables_section($status) . directives_section($status);
    return page(($notice === '' ? '' : 'Answer: ') . 'token_bucket on ' . escape(Text::identifier((string) gethostname())), refresh_tag($refresh), $content);
}

function refresh_seconds(): int
{
    $chosen = filter_var(field($_GET, 'refresh'), FILTER_VALIDATE_INT);
    return \in_array($chosen, REFRESH_CHOICES, true) ? $chosen : DEFAULT_REFRESH;
}

function refresh_tag(int $seconds): string
{
    // With an address, because a browser does not load an address with a fragment anew.
    return $seconds === 0 ? '' : "<meta http-equiv=\"refresh\" content=\"$seconds; url=" . link_to([]) . "\">\n";
}

function heading(array $status): string
{
    $host = show_text((string) gethostname());
    $version = escape($status['version']);
    $time = time_tag((float) time());
    return "<header>\n<h1>token_bucket <span class=\"muted\">on</span> $host</h1>\n<p class=\"muted\">Version $version, PHP " . PHP_VERSION
        . ". Read at $time. Times are UTC.</p>\n</header>\n";
}

/** The links that stop or slow the refresh come first, so that a keyboard or a screen reader meets them before it is interrupted. */
function controls(int $refresh, ?string $token): string
{
    $links = '';
    foreach (REFRESH_CHOICES as $seconds) {
        $label = $seconds === 0 ? 'Stop refreshing' : "Refresh every $seconds s";
        $current = $seconds === $refresh ? ' aria-current="true"' : '';
        $links .= "<a class=\"button\" href=\"" . link_to(['refresh' => $seconds]) . "\"$current>$label</a>\n";
    }
    $links .= $token === null ? '' : '<a class="button" href="' . link_to(['change' => 1]) . "\">Change…</a>\n";
    return "<nav aria-label=\"Page\" class=\"controls\">\n$links</nav>\n";
}

/**
 * What an operator should look at first.
 *
 * @param array{
 *     shared_memory_errors: list<string>,
 *     likely_mistakes: list<string>,
 *     limits: array<int|string, array{checked: int, denied: int, ...}>,
 *     last_hour: array<int|string, array{calls: list<int>, denied: list<int>, would_deny: list<int>}>,
 *     limits_file: array{path: string, error: string|null}|null,
 *     servers: list<array{name: string, up: bool, since: float, outages: int, last_failure: string|null, round_trip: float|null, clock_behind: float|null}>,
 *     tables: list<array{name: string, holds: string, path: string, bytes: int, slots: int, used: int, evictions: int, denied_newcomers: int}>,
 *     directives: array<string, string>,
 *     ...
 * } $status
 */
function attention(array $status): string
{
    $items = array_map(fn(string $sentence): string => show(Text::printable($sentence, 1000)) . '.', Attention::of($status));
    if ($items === []) {
        [$denied, $checked] = array_map(fn(string $count): int => (int) array_sum(array_column($status['limits'], $count)), ['denied', 'checked']);
        return percent($denied, $checked) < MUCH_DENIED_PERCENT ? "<p class=\"notice good\">Nothing needs attention.</p>\n"
            : '<p class="notice">No fault is known. ' . share($denied, $checked) . " of all calls were denied: the limits below say which.</p>\n";
    }
    return "<section class=\"notice bad\" aria-labelledby=\"attention\">\n<h2 id=\"attention\">Needs attention</h2>\n<ul>\n<li>"
        . implode("</li>\n<li>", $items) . "</li>\n</ul>\n</section>\n";
}

/**
 * @param array{
 *     limits: array<int|string, array{checked: int, denied: int, would_deny: int, degraded: int, ...}>,
 *     named_limits: array<int|string, array{enforce?: bool|null, limited?: array<int|string, float>|null, ...}>,
 *     blocked: list<array{name: string, identifier: string|null, algorithm: string, enforced: bool, seconds: float}>,
 *     ...
 * } $status
 */
function summary(array $status): string
{
    $total = fn(string $count): int => (int) array_sum(array_column($status['limits'], $count));
    $tiles = [
        'calls decided' => number($total('checked')),
        'denied' => number($total('denied')) . ' <small>' . share($total('denied'), $total('checked')) . '</small>',
        'would be denied' => number($total('would_deny')),
        'blocked or limited now' => number(\count(stopped_clients($status))),
        'answered by on_error' => number($total('degraded')),
    ];
    $html = '';
    foreach ($tiles as $label => $value) {
        $html .= "<div><dt>$label</dt><dd>$value</dd></div>\n";
    }
    return "<dl class=\"summary\">\n$html</dl>\n";
}

/**
 * @param array{
 *     limits: array<int|string, array{checked: int, denied: int, would_deny: int, ...}>,
 *     last_hour: array<int|string, array{calls: list<int>, denied: list<int>, would_deny: list<int>}>,
 *     named_limits: array<int|string, array<string, mixed>>,
 *     ...
 * } $status
 */
function limits_section(array $status): string
{
    $busy = $idle = [];
    // Also those of the file that no call has asked yet.
    foreach ($status['named_limits'] + $status['limits'] as $name => $_) {
        $counts = $status['limits'][$name] ?? null;
        $minutes = $status['last_hour'][$name] ?? null;
        $row = [limit_name($name), rules($status['named_limits'][$name] ?? null, $counts), '', '', '', '', ''];
        if ($counts !== null) {
            $row[2] = number($counts['checked']) . rate($minutes, 'calls') . exempt($counts);
            $row[3] = denied($counts, number(...)) . rate($minutes, 'denied', 'would_deny');
            $row[4] = $counts['denied'] + $counts['would_deny'] === 0 ? '' : denied_bar($counts);
            $row[6] = store_failures($counts);
        }
        $calls = $minutes === null ? 0 : array_sum($minutes['calls']);
        if ($minutes !== null && $calls > 0) {
            $row[5] = curve($minutes);
            $busy[] = ['calls' => $calls, 'cells' => $row];
        } else {
            $idle[] = ['calls' => $counts['checked'] ?? 0, 'cells' => $row];
        }
    }
    $by_calls = fn(array $a, array $b): int => $b['calls'] <=> $a['calls'];
    usort($busy, $by_calls);
    usort($idle, $by_calls);
    $shown = is_open('limits') ? [...$busy, ...$idle] : $busy;
    $folded = \count($busy) + \count($idle) - \count($shown);
    $note = $folded === 0 ? '' : '<p class="muted">' . counted($folded, 'limit') . ' without a call in the last hour. <a href="' . link_to(['open' => 'limits']) . "#limits\">Show</a></p>\n";
    return section('limits', 'Limits', table(
        'The busiest first. Calls since the host booted, or since the counts were reset. Rates are those of the last full minute.',
        ['Limit', 'Rule', 'Calls', 'Denied', 'Share denied', 'Last hour', 'Store failures'],
        array_column($shown, 'cells'),
        $folded === 0 ? 'No limit was asked yet.' : 'No limit was asked in the last hour.',
        numbers: [2, 3],
    ) . $note);
}

/** Describes what a name stands for: in the file, in the code, or in both, for a set has no calls of its own. */
function rules(?array $named, ?array $counts): string
{
    $in_code = '<span class="muted">in the code</span>';
    return match (true) {
        $named === null => $in_code,
        $counts !== null && !isset($named['algorithm']) => rule($named) . ",<br> and a limit $in_code, which has these calls",
        default => rule($named),
    };
}

/**
 * Draws the calls of each minute of the last hour, and those that were denied, or would have been.
 *
 * @param array{calls: list<int>, denied: list<int>, would_deny: list<int>} $minutes
 */
function curve(array $minutes): string
{
    $stopped = array_map(fn(int $denied, int $would_deny): int => $denied + $would_deny, $minutes['denied'], $minutes['would_deny']);
    $most = max($minutes['calls']);
    // Of one step for each minute, from the bottom on the left to the bottom on the right.
    $step = fn(int $count): string => sprintf('V%.1Fh1', 20 - 20 * $count / $most);
    $area = fn(array $counts): string => 'M0 20' . implode('', array_map($step, $counts)) . 'V20Z';
    $minutes_with = fn(array $counts): int => \count(array_filter($counts));
    $said = counted(array_sum($minutes['calls']), 'call') . ' in ' . counted($minutes_with($minutes['calls']), 'minute') . ', ' . number($most) . ' in one at most; '
        . (array_sum($stopped) === 0 ? 'none denied' : number(array_sum($stopped)) . ' denied in ' . counted($minutes_with($stopped), 'minute'));
    return '<svg class="curve" viewBox="0 0 60 20" preserveAspectRatio="none" role="img" aria-label="' . $said . "\"><title>$said</title>"
        . "<path class=\"calls\" d=\"{$area($minutes['calls'])}\"/><path class=\"stopped\" d=\"{$area($stopped)}\"/></svg> "
        . '<span class="muted">' . number($most) . '&nbsp;a&nbsp;minute at&nbsp;most</span>';
}

function limit_name(int|string $name): string
{
    $label = show(NamedLimit::label((string) $name));
    return \in_array($name, ['', '*'], true) ? "<span class=\"muted\">$label</span>" : "<code>$label</code>";
}

/** Describes a limit or a set of the file of token_bucket.limits. */
function rule(array $limit): string
{
    $rule = show(Limits::rule($limit));
    if (!\array_key_exists('enforce', $limit)) {
        return $rule;
    }
    $mode = match ($limit['enforce']) {
        true => '<span class="tag">enforced</span>',
        false => '<span class="tag warn">dry run</span>',
        null => '<span class="tag bad">storage invalid</span>',
    };
    $storage = $limit['storage'] === null ? '' : ' <span class="muted">on ' . show_text($limit['storage']) . '</span>';
    return "$rule $mode$storage";
}

/** Shows how many calls came of clients that no limit holds. */
function exempt(array $counts): string
{
    return $counts['exempt'] === 0 ? '' : '<br> <span class="muted">and ' . number($counts['exempt']) . '&nbsp;exempt</span>';
}

/** Shows what was denied and what a dry run let pass, each as $show writes it. */
function denied(array $counts, callable $show): string
{
    $would_deny = $show($counts['would_deny']) . '&nbsp;<span class="muted">would&nbsp;be</span>';
    return match (true) {
        $counts['would_deny'] === 0 => $show($counts['denied']),
        $counts['denied'] === 0 => $would_deny,
        default => $show($counts['denied']) . ",<br> $would_deny",
    };
}

/**
 * Shows how many calls a second some counts of the last full minute are.
 *
 * @param array<string, list<int>>|null $minutes
 */
function rate(?array $minutes, string ...$counts): string
{
    if ($minutes === null) {
        return '';
    }
    $per_second = array_sum(array_map(fn(string $count): int => $minutes[$count][LAST_FULL_MINUTE], $counts)) / 60;
    return '<br> <span class="muted">(' . number_format($per_second, $per_second > 0 && $per_second < 10 ? 2 : 0) . '&nbsp;per&nbsp;s)</span>';
}

/** Draws which share of the calls was denied, and which a dry run let pass. */
function denied_bar(array $counts): string
{
    $checked = $counts['checked'];
    return bar(percent($counts['denied'], $checked), percent($counts['would_deny'], $checked))
        . denied($counts, fn(int $part): string => share($part, $checked));
}

function store_failures(array $counts): string
{
    $failures = array_filter([
        counted($counts['errors'], 'error') => $counts['errors'],
        number($counts['degraded']) . ' answered by on_error' => $counts['degraded'],
        counted($counts['evictions'], 'eviction') => $counts['evictions'],
    ]);
    return implode(',<br> ', array_keys($failures));
}

/**
 * @param array{
 *     named_limits: array<int|string, array{all?: list<string>, first?: list<string>, enforce?: bool|null, limited?: array<int|string, float>|null, ...}>,
 *     blocked: list<array{name: string, identifier: string|null, algorithm: string, enforced: bool, seconds: float}>,
 *     ...
 * } $status
 */
function limited_section(array $status, ?string $token): string
{
    $stopped = stopped_clients($status);
    $show = fn(array $client): array => [
        $client['client'] === null ? '<span class="muted">not kept</span>' : '<code>' . show_text($client['client']) . '</code>',
        limit_name($client['name']) . ($client['in_code'] ? ' <span class="tag">in the code</span>' : '') . ($client['enforced'] ? '' : ' <span class="tag warn">dry run</span>'),
        ($client['blocked'] ? 'blocked' : 'limited'),
        duration($client['seconds']),
        $client['client'] === null || \strlen($client['identifier']) >= Client::LONGEST_KEPT ? ''
            : client_buttons($client['in_code'] ? IN_THE_CODE : $client['name'], $client['client'], $token, $client['blocked']),
    ];
    $unknown = array_keys(array_filter($status['named_limits'], fn(array $limit): bool => \array_key_exists('limited', $limit) && $limit['limited'] === null));
    $note = note_of_more($stopped, 'limited') . ($unknown === [] ? '' : '<p class="muted">Of these limits, which are on servers, only blocks are known: <code>'
        . implode('</code>, <code>', array_map(fn(int|string $name): string => show_text((string) $name), $unknown)) . "</code>.</p>\n");
    return section('limited', 'Blocked and limited now', table(
        'Clients that this host has blocked, and clients that a named limit would deny now (the page asks about the 64 that each limit denied most lately). The longest wait comes first.',
        ['Client', 'Limit', 'Now', 'For', 'Change'],
        array_map($show, \array_slice($stopped, 0, rows_shown('limited'))),
        'No client is blocked, and none of a named limit in shared memory is limited.',
        without_buttons($token),
        [3],
    ) . $note);
}

/**
 * The clients that are blocked, and those of named limits that would be denied now, each once: the longest first.
 *
 * @param array{
 *     named_limits: array<int|string, array{enforce?: bool|null, limited?: array<int|string, float>|null, ...}>,
 *     blocked: list<array{name: string, identifier: string|null, algorithm: string, enforced: bool, seconds: float}>,
 *     ...
 * } $status
 *
 * @return list<array{name: string, client: string|null, identifier: string, in_code: bool, blocked: bool, enforced: bool, seconds: float}>
 *     the identifier of a limit in the code is its client
 */
function stopped_clients(array $status): array
{
    $clients = [];
    foreach (Blocks::of($status) as $block) {
        $identifier = $block['identifier'];
        $clients[$identifier === null ? \count($clients) : Blocks::key($block['limit'], $identifier)] = [
            'name' => $block['limit'], 'client' => $block['in_code'] ? $identifier : substr((string) $identifier, \strlen($block['limit']) + 1),
            'identifier' => (string) $identifier, 'in_code' => $block['in_code'], 'blocked' => true, 'enforced' => $block['enforced'], 'seconds' => $block['seconds'],
        ];
    }
    foreach ($status['named_limits'] as $name => $limit) {
        foreach ($limit['limited'] ?? [] as $client => $seconds) {
            $clients[Blocks::key((string) $name, "$name:$client")] ??= [
                'name' => (string) $name, 'client' => (string) $client, 'identifier' => "$name:$client", 'in_code' => false, 'blocked' => false,
                'enforced' => ($limit['enforce'] ?? true), 'seconds' => $seconds,
            ];
        }
    }
    usort($clients, fn(array $a, array $b): int => $b['seconds'] <=> $a['seconds']);
    return $clients;
}

/** @param array{limits: array<int|string, array{most_denied: array<int|string, int>, ...}>, ...} $status */
function most_denied_section(array $status, ?string $token): string
{
    $rows = [];
    foreach ($status['limits'] as $name => $counts) {
        foreach ($counts['most_denied'] as $identifier => $count) {
            $rows[] = ['name' => (string) $name, 'identifier' => (string) $identifier, 'count' => $count];
        }
    }
    usort($rows, fn(array $a, array $b): int => $b['count'] <=> $a['count']);
    $most = $rows[0]['count'] ?? 0;
    $show = fn(array $row): array => [
        '<code>' . show_text($row['identifier']) . '</code>',
        limit_name($row['name']),
        bar(percent($row['count'], $most), 0) . number($row['count']),
        identifier_buttons($status, $row['name'], $row['identifier'], $token),
    ];
    return section('most-denied', 'Denied most', table(
        'About how often each identifier was denied, or would have been but for a dry run. Old denials count less.',
        ['Identifier', 'Limit', 'Denied', 'Change'],
        array_map($show, \array_slice($rows, 0, rows_shown('most-denied'))),
        $status['directives']['token_bucket.track_identifiers'] === '1'
            ? 'No client was denied.'
            : 'Identifiers are not kept: token_bucket.track_identifiers = 0.',
        without_buttons($token),
        [2],
    ) . note_of_more($rows, 'most-denied'));
}

/** @param array{denials: list<array<string, mixed>>, ...} $status */
function denials_section(array $status): string
{
    $show = fn(array $denial): array => [
        $denial['identifier'] === null ? '<span class="muted">not kept</span>' : '<code>' . show_text($denial['identifier']) . '</code>',
        limit_name($denial['name']),
        escape(Denials::cause($denial)) . ($denial['enforced'] ? '' : ' <span class="tag warn">dry run</span>'),
        number($denial['count']),
        time_tag($denial['last_at']) . ($denial['count'] === 1 ? '' : '<br> <span class="muted">' . Denials::since($denial) . '</span>'),
    ];
    return section('denials', 'Denied last', table(
        'The latest denied calls: a row for each client and cause, until ten minutes pass without a denial. <code>token-bucket denials</code> has all.',
        ['Identifier', 'Limit', 'Why', 'Calls', 'Last'],
        array_map($show, \array_slice($status['denials'], 0, rows_shown('denials'))),
        'No call was denied.',
        numbers: [3],
    ) . note_of_more($status['denials'], 'denials'));
}

/** Returns how many rows the table of a section shows. */
function rows_shown(string $section): int
{
    return is_open($section) ? MOST_ROWS : FIRST_ROWS[$section];
}

/** Says how many rows the table of a section leaves out, and links to those that can be shown. */
function note_of_more(array $rows, string $section): string
{
    $more = \count($rows) - rows_shown($section);
    if ($more <= 0) {
        return '';
    }
    $link = is_open($section) ? '' : ' <a href="' . link_to(['open' => $section]) . "#$section\">Show more</a>";
    return '<p class="muted">And ' . number($more) . " more.$link</p>\n";
}

/** The buttons of an identifier, where it is whole: those of the named limit's client, or of what stands under it in the code. */
function identifier_buttons(array $status, string $name, string $identifier, ?string $token): string
{
    $is_named = \array_key_exists('limited', $status['named_limits'][$name] ?? []) && str_starts_with($identifier, "$name:");
    return match (true) {
        \strlen($identifier) >= Client::LONGEST_KEPT => '',
        $is_named => client_buttons($name, substr($identifier, \strlen($name) + 1), $token),
        default => client_buttons(IN_THE_CODE, $identifier, $token),
    };
}

/** Returns how many columns at the end of a table are left out: that of the buttons, in a view without them. */
function without_buttons(?string $token): int
{
    return $token === null ? 1 : 0;
}

/** @param array{servers: list<array{name: string, up: bool, since: float, outages: int, last_failure: string|null, round_trip: float|null, clock_behind: float|null}>, ...} $status */
function servers_section(array $status): string
{
    $show = fn(array $server): array => [
        show_text($server['name']) . ($server['last_failure'] === null ? '' : '<br> <span class="muted">last failure: ' . show_text($server['last_failure']) . '</span>'),
        $server['up'] ? '<span class="tag good">up</span>' : '<span class="tag bad">down</span>',
        time_tag($server['since']) . '<br> <span class="muted">for ' . nbsp(Text::age($server['since'])) . '</span>',
        number($server['outages']),
        $server['round_trip'] === null ? '' : sprintf('%.1f&nbsp;ms', 1_000 * $server['round_trip']),
    ];
    return section('servers', 'Servers', table(
        'Servers in use, as the workers found them.',
        ['Server', 'State', 'Since', 'Outages since boot', 'Round trip'],
        array_map($show, $status['servers']),
        'No server is in use.',
        numbers: [3, 4],
    ));
}

/** @param array{tables: list<array{name: string, holds: string, path: string, bytes: int, slots: int, used: int, evictions: int, denied_newcomers: int}>, ...} $status */
function tables_section(array $status): string
{
    $show = fn(array $table): array => [
        '<code>' . show_text($table['name']) . '</code>' . ($table['name'] === '.host' ? ' <span class="muted">for fallback</span>' : ''),
        escape($table['holds']),
        bar(percent($table['used'], $table['slots']), 0) . share($table['used'], $table['slots']),
        number($table['used']) . ' <span class="muted">of&nbsp;' . number($table['slots']) . '</span>',
        number($table['evictions']),
        number($table['denied_newcomers']),
        show_text($table['path']) . ' <span class="muted">' . bytes($table['bytes']) . '</span>',
    ];
    return folded_section('tables', 'Tables in shared memory', table(
        'How full the tables are. Evictions are buckets that were evicted while in use; newcomers are denied because the table was full.',
        ['Table', 'Holds', 'Full', 'Slots used', 'Evictions', 'Newcomers denied', 'File'],
        array_map($show, $status['tables']),
        'There is no table yet: no call was made.',
        numbers: [3, 4, 5],
    ));
}

/** @param array{directives: array<string, string>, ...} $status */
function directives_section(array $status): string
{
    $show = fn(string $name, string $value): array => [
        "<code>$name</code>",
        $value === '' ? '<span class="muted">empty</span>' : '<code>' . show_text($value) . '</code>',
    ];
    return folded_section('directives', 'Directives', table(
        'In force in this worker. Passwords are not shown.',
        ['Directive', 'Value'],
        array_map($show, array_keys($status['directives']), $status['directives']),
        '',
    ));
}
