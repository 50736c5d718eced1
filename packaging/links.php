<?php
/**
 * Makes text of the links in a package's documents that lead to what only the repository has. Fails on a link that leads nowhere
 * there, either. scripts/lint/links.php checks all others.
 * Usage: php links.php FOLDER    FOLDER has the documents where the repository has them
 */

$folder = rtrim($argv[1], '/');
$repository = dirname(__DIR__);
$faults = 0;
$pages = new RegexIterator(new RecursiveIteratorIterator(new RecursiveDirectoryIterator($folder, FilesystemIterator::SKIP_DOTS)), '~\.md$~');
foreach (array_keys(iterator_to_array($pages)) as $page) {
    $place = substr(dirname("$page"), strlen($folder));
    $replace = function (array $link) use ($folder, $repository, $place, $page, &$faults): string {
        [$whole, , $text, $target] = $link;
        if (file_exists("$folder$place/$target")) {
            return $whole;
        }
        $original = realpath("$repository$place/$target");
        if ($original === false) {
            echo "$page links to $target, which the repository does not have\n";
            $faults++;
            return $whole;
        }
        $path = substr($original, strlen($repository) + 1);
        return str_contains($text, basename($path)) ? "$text (in the repository)" : "$text ($path in the repository)";
    };
    // Not in code, which is the first alternative.
    $pattern = '/(?:^(```|~~~).*?^\1|`[^`\n]*`)(*SKIP)(*FAIL)|(!?)\[((?:[^\[\]`]|`[^`\n]*`|\[[^\]]*\])*)\]\((?![a-z]+:|#)([^)#\s]+)(?:#[^)\s]*)?\)/ms';
    $text = file_get_contents($page);
    $links = fn(array $match): string => $replace([$match[0], $match[2], $match[3], $match[4]]);
    $changed = preg_replace_callback($pattern, $links, $text) ?? exit("$page: " . preg_last_error_msg() . "\n");
    if ($changed !== $text) {
        file_put_contents($page, $changed);
    }
}
exit($faults ? 1 : 0);
