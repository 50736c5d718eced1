<?php

/** Pieces of HTML, numbers and times. */

declare(strict_types=1);

namespace TokenBucket\StatusPage;

use TokenBucket\Command\Text;

function page(string $title, string $head, string $content): string
{
    $style = style();
    return <<<HTML
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        $head<title>$title</title>
        <style>$style</style>
        </head>
        <body>
        <main>
        $content
        </main>
        </body>
        </html>

        HTML;
}

function section(string $id, string $title, string $content): string
{
    return "<section aria-labelledby=\"$id\">\n<h2 id=\"$id\">$title</h2>\n$content</section>\n";
}

/** Returns a section of which a narrow window shows a link alone until it is opened. */
function folded_section(string $id, string $title, string $content): string
{
    $link = '<p class="fold"><a href="' . link_to(['open' => $id]) . "#$id\" aria-label=\"Show $title\">Show</a></p>\n";
    return section($id, $title, is_open($id) ? $content : $link . $content);
}

/** Tells whether all of a section was asked for. The address says so, because a refresh keeps it. */
function is_open(string $section): bool
{
    return field($_GET, 'open') === $section;
}

/**
 * Returns a table, or $empty if there are no rows. The first cell of a row is its header. In a narrow window a row is shown as a
 * list of its cells; the roles keep it a table for screen readers, which in some browsers the style would undo.
 *
 * @param list<string> $headings
 * @param list<list<string>> $rows of HTML
 * @param int $left_out how many columns at the end are not shown
 * @param list<int> $numbers the columns of numbers, which stand to the right
 */
function table(string $caption, array $headings, array $rows, string $empty, int $left_out = 0, array $numbers = []): string
{
    if ($rows === []) {
        return "<p class=\"muted\">$empty</p>\n";
    }
    $shown = \count($headings) - $left_out;
    $html = "<table role=\"table\">\n<caption>$caption</caption>\n<thead role=\"rowgroup\">\n<tr role=\"row\">";
    $class = fn(int $column): string => \in_array($column, $numbers, true) ? ' class="number"' : '';
    foreach (\array_slice($headings, 0, $shown) as $column => $heading) {
        $html .= "<th role=\"columnheader\" scope=\"col\"{$class($column)}>$heading</th>";
    }
    $html .= "</tr>\n</thead>\n<tbody role=\"rowgroup\">\n";
    foreach ($rows as $row) {
        $html .= '<tr role="row"><th role="rowheader" scope="row">' . $row[0] . '</th>';
        for ($column = 1; $column < $shown; $column++) {
            $html .= "<td role=\"cell\" data-heading=\"$headings[$column]\"{$class($column)}><div>$row[$column]</div></td>";
        }
        $html .= "</tr>\n";
    }
    return "$html</tbody>\n</table>\n";
}

/** Draws one share and, behind it, a second one, in percent. The text beside it says the same. */
function bar(float $first, float $second): string
{
    return sprintf('<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        . '<rect class="track" width="100" height="8"/><rect class="first" width="%1$.2F" height="8"/>'
        . '<rect class="second" x="%1$.2F" width="%2$.2F" height="8"/></svg> ', $first, $second);
}

function hidden(string $name, string $value): string
{
    return "<input type=\"hidden\" name=\"$name\" value=\"" . escape($value) . '">';
}

/** Returns a link to this page with some parameters changed, or removed by null; those that the site's router may need stay. */
function link_to(array $parameters): string
{
    return escape(address($parameters));
}

function address(array $parameters): string
{
    return '?' . http_build_query(array_merge($_GET, $parameters));
}

function escape(string $text): string
{
    return htmlspecialchars($text, ENT_QUOTES | ENT_SUBSTITUTE | ENT_HTML5, 'UTF-8');
}

/** Shows any bytes as HTML text that cannot change what is around it, as the command shows them. */
function show_text(string $text): string
{
    return show(Text::identifier($text));
}

/** The same of a text that is printable. What was no character is marked. */
function show(string $printable): string
{
    return '<bdi>' . (string) preg_replace('~(?:\\\\x[\da-f]{2})+~', '<span class="escaped">$0</span>', escape($printable)) . '</bdi>';
}

function number(int $number): string
{
    return number_format($number);
}

/** Returns a number with its noun: "1 error", "2 errors". */
function counted(int $number, string $noun): string
{
    return number($number) . " $noun" . ($number === 1 ? '' : 's');
}

function percent(int $part, int $whole): float
{
    return $whole === 0 ? 0.0 : 100 * $part / $whole;
}

function share(int $part, int $whole): string
{
    $percent = percent($part, $whole);
    return match (true) {
        $part > 0 && $percent < 0.1 => 'below 0.1&nbsp;%',
        $part < $whole && $percent > 99.9 => 'above 99.9&nbsp;%',
        default => sprintf('%.1F&nbsp;%%', $percent),
    };
}

function bytes(int $bytes): string
{
    foreach (['GiB' => 1 << 30, 'MiB' => 1 << 20, 'KiB' => 1 << 10] as $unit => $size) {
        if ($bytes >= $size) {
            return round($bytes / $size, 1) . "&nbsp;$unit";
        }
    }
    return counted($bytes, 'byte');
}

/** Returns a time to wait, rounded up to whole seconds: "14 min 59 s". */
function duration(float $seconds): string
{
    return nbsp(Text::duration($seconds < 1 ? $seconds : ceil($seconds)));
}

function nbsp(string $text): string
{
    return str_replace(' ', '&nbsp;', $text);
}

function time_tag(float $time): string
{
    return '<time datetime="' . gmdate('Y-m-d\TH:i:s\Z', (int) $time) . '">' . gmdate('Y-m-d H:i:s', (int) $time) . '</time>';
}

function style(): string
{
    static $style = null;
    return $style ??= (string) file_get_contents(__DIR__ . '/style.css');
}
