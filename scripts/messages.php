<?php
/*
 * Lists the messages that a user can meet, but for those in constants: of the extension, the command, the status page and the packages, with their places.
 * Usage: php scripts/messages.php [FILE|FOLDER]...    src, share, integrations by default
 */
declare(strict_types=1);

/** What makes a message: a call, whose text literals are its parts. */
const RUST = '(?:format!|then_some|Error::\w+|value_error|argument_type_error|logic_exception|mistake|from_warning|log|put|Err)\s*\(';
const PHP = '(?:new \\\\?\w*(?:Error|Exception|Wrong)|Thrown::\w+|Mistake::warn|CommandError|fwrite\(STDERR,|self::warn|failure|success)\s*\(?';

foreach (array_slice($argv, 1) ?: ['src', 'share', 'integrations'] as $folder) {
    $files = is_file($folder) ? [new SplFileInfo($folder)] : new RecursiveIteratorIterator(new RecursiveDirectoryIterator($folder, FilesystemIterator::SKIP_DOTS));
    foreach ($files as $file) {
        $extension = $file->getExtension();
        if (!in_array($extension, ['rs', 'php'], true) || preg_match('~/(tests?|vendor)(/|\.rs)|Test\.php$~', (string) $file)) {
            continue;
        }
        $text = (string) file_get_contents((string) $file);
        $text = $extension === 'rs' ? (string) preg_replace('~\n#\[cfg\(test\)\].*~s', '', $text) : $text;
        preg_match_all('~' . ($extension === 'rs' ? RUST : PHP) . '(?<call>(?:[^;{}"\']|"(?:[^"\\\\]|\\\\.)*"|\'(?:[^\'\\\\]|\\\\.)*\'|\{[^{};]*\})*)~s', $text, $calls, PREG_OFFSET_CAPTURE);
        foreach ($calls['call'] as [$call, $offset]) {
            preg_match_all('~"((?:[^"\\\\]|\\\\.)*)"' . ($extension === 'php' ? '|\'((?:[^\'\\\\]|\\\\.)*)\'' : '') . '~s', $call, $literals);
            $message = trim((string) preg_replace('~\\\\?\s*\n\s*~', ' ', implode(' … ', array_filter(array_map(fn ($a, $b) => $a . $b, $literals[1], $literals[2] ?? array_fill(0, count($literals[1]), ''))))));
            $is_sql = preg_match('/^(SELECT|INSERT|UPDATE|ALTER|CREATE) /', $message) === 1;
            // Longer texts are code between two literals.
            if (str_word_count($message) >= 3 && strlen($message) < 700 && !$is_sql) {
                echo $file, ':', substr_count($text, "\n", 0, $offset) + 1, "\t", $message, "\n";
            }
        }
    }
}
