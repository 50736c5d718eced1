<?php
/** The page in Chromium: hostile identifiers, the buttons, narrow windows, the refresh, and what a screen reader needs. */

declare(strict_types=1);

require __DIR__ . '/support.php';
require __DIR__ . '/WebDriver.php';

const NOTICE = 'return document.getElementById("notice")?.textContent ?? ""';

const SCROLL_WIDTH = 'return document.scrollingElement.scrollWidth';
const SCROLL_HEIGHT = 'return document.scrollingElement.scrollHeight';

/** Clicks a button beside a client of a named limit, in the table of those limited now. */
function follow_beside(WebDriver $browser, string $client, string $action): void
{
    $browser->follow("//section[@aria-labelledby='limited']//tr[th[contains(., '$client')]]//button[@value='$action']");
}

$browser = new WebDriver(getenv('CHROMIUM_DRIVER'), getenv('PAGE_FOLDER') . '/profile');
$browser->resize(1100, 900);

// Identifiers that would be more than text, if they could.
$hostile = [
    'markup' => '<script>window.broken = 1</script><img src=x onerror="window.broken = 1">',
    'quotes' => '"\'> onfocus="window.broken = 1" autofocus x="',
    'comment' => '--></td></table></style></title><b>',
    'direction' => "user\u{202E}gnp.exe\u{2066}\u{200B}",
    'terminal' => "\x1B[31m\x07\x00bell",
    'bytes' => "\xFF\xC3\x28\xED\xA0\x80",
    'entities' => '&lt;b&gt;&amp;',
    'long' => str_repeat('x', 80),
];
foreach ($hostile as $client) {
    call_limit('login_user', $client, 6);
}
$browser->open(page_url('change.php?refresh=0&open=limited'));
$shown = $browser->run('return [...document.querySelectorAll("[aria-labelledby=limited] tbody th")].map(cell => cell.textContent)');
foreach (['markup', 'quotes', 'comment', 'entities', 'long'] as $kind) {
    check("the identifier with $kind is shown as it is", in_array($hostile[$kind], $shown, true), implode(' | ', $shown));
}
foreach (['user\xe2\x80\xaegnp.exe\xe2\x81\xa6\xe2\x80\x8b', '\x1b[31m\x07\x00bell', '\xff\xc3(\xed\xa0\x80'] as $text) {
    check("what cannot be seen is shown as $text", in_array($text, $shown, true), implode(' | ', $shown));
}
check('no identifier ran as a script', $browser->run('return window.broken === undefined'));
check('no identifier made an element', $browser->run('return document.querySelectorAll("script, img, b, [onfocus], td table").length') === 0);
check('the page holds no character that turns the direction of a text',
    !$browser->run('return /[\u0000-\u0008\u200B-\u200F\u202A-\u202E\u2066-\u2069]/.test(document.documentElement.textContent)'));

// The buttons.
follow_beside($browser, 'gnp.exe', 'reset');
check('Reset says that the client is accepted', str_contains($notice = $browser->run(NOTICE), ': 5 of 5 left'), $notice);
check('Reset of any bytes resets that client', call_limit('login_user', $hostile['direction'], 6) === 5);
check('the result has the focus', $browser->run('return document.activeElement.id') === 'notice');
check('the result stands still', $browser->run('return document.querySelector("meta[http-equiv=refresh]")') === null);

$browser->reload();
check('who loads the page again resets no client again', call_limit('login_user', $hostile['direction']) === 0 && $browser->run(NOTICE) === '', $browser->run(NOTICE));

follow_beside($browser, 'bell', 'block');
check('Block asks first, and names the client', str_contains($notice = $browser->run(NOTICE), 'Block this client?') && str_contains($notice, 'bell'), $notice);
check('the question has the focus', $browser->run('return document.activeElement.id') === 'notice');
check('the question stands still', $browser->run('return document.querySelector("meta[http-equiv=refresh]")') === null);
$browser->type('//input[@name="time"]', '2h');
$browser->follow('//*[@id="notice"]//button');
check('Block says that the client is denied', str_contains($notice = $browser->run(NOTICE), ': denied by login_user, for 2 h'), $notice);
$browser->open(page_url('change.php?refresh=0&open=limited'));
follow_beside($browser, 'bell', 'unblock');
check('Unblock says that the client is accepted', str_contains($notice = $browser->run(NOTICE), 'Unblocked:') && str_contains($notice, ': 5 of 5 left'), $notice);
call_limit('login_network', 'someone');
$browser->open(page_url('change.php?change=1'));
$browser->type('//input[@name="client"]', 'someone');
$browser->run('[...document.querySelectorAll("option")].find(option => option.value === "login_network").selected = true');
$browser->follow('//button[@value="block"]');
$browser->follow('//*[@id="notice"]//a[.="Cancel"]');
check('a client whose block was cancelled is not blocked', call_limit('login_network', 'someone') === 1);
$browser->type('//input[@name="client"]', 'someone');
$browser->run('[...document.querySelectorAll("option")].find(option => option.value === "login_network").selected = true');
$browser->follow('//button[@value="block"]');
$browser->type('//input[@name="time"]', '10m');
$browser->follow('//*[@id="notice"]//button');
check('a client that is typed is blocked', str_contains($notice = $browser->run(NOTICE), 'login_network someone: denied by login_network, for 10 min'), $notice);
check('the next call of a blocked client is denied', call_limit('login_network', 'someone') === 0);
$browser->follow('//button[@value="reset"]');
check('and reset, from the same form', call_limit('login_network', 'someone') === 1);
$browser->click('//input[@id="sure"]');
$browser->follow('//button[@value="reset_counts"]');
check('the counts are reset', str_contains($notice = $browser->run(NOTICE), 'all counts are zero'), $notice);

// The refresh, which can be stopped.
call_limit('login_user', 'someone else', 7);
$browser->open(page_url('change.php'));
check('the page refreshes itself', $browser->run('return document.querySelector("meta[http-equiv=refresh]").content') === '10; url=?');
check('the first link is one of the refresh', $browser->run('return document.querySelector("a, button, input:not([type=hidden])").textContent') === 'Stop refreshing');
$browser->follow('//a[.="Stop refreshing"]');
check('the refresh can be stopped', $browser->run('return document.querySelector("meta[http-equiv=refresh]")') === null);

// Narrow windows.
foreach (['change.php?refresh=0', 'change.php?refresh=0&open=tables', 'change.php?change=1', 'view.php?refresh=0', 'off.php'] as $page) {
    $browser->open(page_url($page));
    foreach ([1280, 900, 700, 390, 360, 320] as $width) {
        $browser->resize($width, 800);
        $scrolled = $browser->run(SCROLL_WIDTH);
        check("$page does not scroll sideways at $width px", $scrolled <= $width, "it is $scrolled px wide");
    }
}

// Long identifiers and names.
$browser->open(page_url('change.php?refresh=0'));
foreach ([1280, 900] as $width) {
    $browser->resize($width, 800);
    check("at $width px long identifiers leave each limit's name on one line",
        $browser->run('return [...document.querySelectorAll("[aria-labelledby=limited] td:nth-child(2) bdi, [aria-labelledby=most-denied] td:nth-child(2) bdi")]
            .every(name => name.getClientRects().length === 1)'));
    check("at $width px long identifiers leave the buttons of a client side by side",
        $browser->run('return [...document.querySelectorAll("td form")].every(({children}) => children[children.length - 1].offsetTop === children[children.length - 2].offsetTop)'));
}
$browser->run('document.querySelectorAll("bdi").forEach(text => text.textContent = "n".repeat(96))');
foreach ([1280, 900, 390] as $width) {
    $browser->resize($width, 800);
    check("names of 96 bytes do not scroll sideways at $width px", ($scrolled = $browser->run(SCROLL_WIDTH)) <= $width, "it is $scrolled px wide");
}

// A telephone.
for ($client = 0; $client < 40; $client++) {
    call_limit('login_user', "203.0.113.$client", 6);
}
$browser->resize(390, 844);
$browser->open(page_url('change.php?refresh=0'));
check('with 40 limited clients the page is less than 5,000 px long at 390 px', ($height = $browser->run(SCROLL_HEIGHT)) < 5000, "it is $height px long");
// Each width has another way to break a line.
foreach ([320, 360, 390, 412, 480, 600] as $width) {
    $browser->resize($width, 844);
    check("at $width px a long identifier leaves its limit before the buttons", $browser->run('
        return [...document.querySelectorAll("[aria-labelledby=limited] tbody tr, [aria-labelledby=most-denied] tbody tr")].every(row => {
            row.querySelector("th bdi").textContent = "login:2001:db8:1:2::/64 somebody.with.a.long.name@mail.example.org";
            const [limit, form] = [row.cells[1], row.querySelector("form")].map(part => part.getBoundingClientRect());
            return limit.bottom <= form.top + 1 || limit.right <= form.left && limit.top < form.bottom;
        })'));
}
$browser->resize(390, 844);
$browser->open(page_url('change.php?refresh=0'));
$browser->follow('//section[@aria-labelledby="limited"]//a[.="Show more"]');
check('the other clients are shown on demand', $browser->run('return document.querySelectorAll("[aria-labelledby=limited] tbody tr").length') > 20);
$is_shown = 'return document.querySelector("#directives ~ table").checkVisibility()';
check('the directives are folded', $browser->run($is_shown) === false);
$browser->open(page_url('change.php'));
$browser->follow('//section[@aria-labelledby="directives"]//a');
check('the directives are shown on demand', $browser->run($is_shown));
// A browser follows the address of a refresh even if this one has a fragment.
$browser->open(page_url('change.php') . $browser->run('return document.querySelector("meta[http-equiv=refresh]").content.split("url=")[1]'));
check('a refresh keeps them', $browser->run($is_shown) && !str_contains($browser->run('return location.href'), '#'));
$browser->resize(1100, 900);
$browser->open(page_url('change.php?refresh=0'));
check('a wide window shows the directives at once', $browser->run($is_shown));

// Semantics.
$rules = [
    'one h1' => 'return document.querySelectorAll("h1").length === 1',
    'a language' => 'return document.documentElement.lang === "en"',
    'a title' => 'return document.title.length > 5',
    'one main landmark' => 'return document.querySelectorAll("main").length === 1',
    'a caption on each table' => 'return [...document.querySelectorAll("table")].every(table => table.caption?.textContent)',
    'a scope on each header cell' => 'return [...document.querySelectorAll("th")].every(cell => ["col", "row"].includes(cell.scope))',
    'a label on each field' => 'return [...document.querySelectorAll("input:not([type=hidden]), select")].every(field => field.labels.length === 1)',
    'a name on each button and link' => 'return [...document.querySelectorAll("button, a")].every(one => one.textContent.trim())',
    'a heading for each section' => 'return [...document.querySelectorAll("section")].every(section => document.getElementById(section.getAttribute("aria-labelledby"))?.tagName === "H2")',
    'each id once' => 'let ids = [...document.querySelectorAll("[id]")].map(one => one.id); return ids.length === new Set(ids).size',
    'no style attribute, which its policy would drop' => 'return document.querySelectorAll("[style]").length === 0',
    'its style in force' => 'return getComputedStyle(document.body).marginTop === "0px"',
];
// The contrast of each text with the nearest background that is not transparent.
$low_contrast = <<<'JS'
    const channels = color => color.match(/[\d.]+/g).map(Number);
    const luminance = color => channels(color).slice(0, 3).map(c => c / 255)
        .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const background = one => { const color = getComputedStyle(one).backgroundColor; return channels(color)[3] === 0 ? background(one.parentElement) : color; };
    return [...document.querySelectorAll("main *")].filter(one => [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim()))
        .map(one => { const [a, b] = [luminance(getComputedStyle(one).color), luminance(background(one))];
            return [one.textContent.trim().slice(0, 30), (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)]; })
        .filter(([, contrast]) => contrast < 4.5).map(([text, contrast]) => `${text}: ${contrast.toFixed(2)}`);
    JS;
/** Checks the page that the browser shows. */
$check_page = function (string $page) use ($browser, $rules, $low_contrast): void {
    foreach ($rules as $rule => $script) {
        check("$page has $rule", $browser->run($script) === true);
    }
    foreach (['light', 'dark'] as $scheme) {
        $browser->prefer($scheme);
        $low = $browser->run($low_contrast);
        check("$page in $scheme has a contrast of 4.5 everywhere", $low === [], implode(', ', $low));
    }
};
foreach (['change.php?refresh=0', 'change.php?change=1', 'off.php'] as $page) {
    $browser->open(page_url($page));
    $check_page($page);
}
$browser->open(page_url('change.php?refresh=0'));
$browser->follow('//button[@value="block"]');
$check_page('the question');
$browser->open(page_url('change.php?refresh=0&open=tables'));
$browser->resize(360, 800);
$tree = $browser->command('Accessibility.getFullAXTree', [])['nodes'];
$roles = array_count_values(array_map(fn(array $node): string => $node['role']['value'] ?? '', array_filter($tree, fn(array $node): bool => !$node['ignored'])));
check('its tables stay tables for a screen reader in a narrow window', ($roles['table'] ?? 0) >= 5 && ($roles['row'] ?? 0) >= 10
    && ($roles['columnheader'] ?? 0) >= 10 && ($roles['rowheader'] ?? 0) >= 10, json_encode($roles));
$browser->run('document.querySelector("a").focus({focusVisible: true})');
check('the focus can be seen', $browser->run('return getComputedStyle(document.activeElement).outlineStyle') === 'solid');
