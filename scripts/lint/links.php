<?php
/**
 * Fails on a relative link that leads nowhere: to no file, or to a heading that the page does not have.
 * Usage: php links.php PAGE...
 */

/** The anchors of a page's headings, as GitHub derives them. */
function anchors(string $page): array
{
    $text = preg_replace('/^(```|~~~).*?^\1/ms', '', file_get_contents($page));
    preg_match_all('/^#+ +(.*?) *$/m', $text, $headings);
    $anchors = [];
    foreach ($headings[1] as $heading) {
        $heading = preg_replace('/\[([^\]]*)\]\([^)]*\)/', '$1', $heading);
        $anchor = str_replace(' ', '-', preg_replace('/[^\p{L}\p{N}_ -]/u', '', strtolower($heading)));
        $anchors[] = $anchor . (in_array($anchor, $anchors, true) ? '-' . count(array_keys($anchors, $anchor)) : '');
    }
    return $anchors;
}

$faults = 0;
foreach (array_slice($argv, 1) as $page) {
    $text = preg_replace('/^(```|~~~).*?^\1|`[^`\n]*`/ms', '', file_get_contents($page));
    preg_match_all('/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)/', $text, $links, PREG_SET_ORDER);
    foreach ($links as $link) {
        $target = $link[1] === '' ? $page : dirname($page) . "/$link[1]";
        $anchor = $link[2] ?? '';
        if (!file_exists($target) || $anchor !== '' && !in_array($anchor, anchors($target), true)) {
            echo "$page links to $link[1]", $anchor === '' ? '' : "#$anchor", ", which is not there\n";
            $faults++;
        }
    }
}
exit($faults ? 1 : 0);
