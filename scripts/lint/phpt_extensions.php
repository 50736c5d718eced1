<?php
/**
 * Fails on a phpt that calls a function or names a class of an extension that it does not list under --EXTENSIONS--, if PHP has that
 * extension in a file of its own. PHP 8.2's runner loads what is installed and does not say it, later ones load what is listed.
 * Usage: php phpt_extensions.php, with php.ini: knows the extensions that it enables
 */

$built_in = array_flip(array_map(strtolower(...), array_filter(explode("\n", shell_exec(escapeshellarg(PHP_BINARY) . ' -n -m')))));
$of = [];
foreach (array_diff_key(array_flip(array_map(strtolower(...), get_loaded_extensions())), $built_in, ['token_bucket' => 0]) as $name => $_) {
    $extension = new ReflectionExtension($name);
    $of += array_fill_keys([...array_map(fn (string $it): string => strtolower($it) . '()', array_keys($extension->getFunctions())), ...array_map(strtolower(...), $extension->getClassNames())], $name);
}

$faults = 0;
foreach (explode("\n", trim((string) shell_exec('find php-tests -name "*.phpt"'))) as $file) {
    $sections = preg_split('/^--([A-Z]+)--\n/m', file_get_contents($file), -1, PREG_SPLIT_DELIM_CAPTURE);
    $sections = array_combine(...array_map(fn (int $odd): array => array_values(array_filter($sections, fn (int $i): bool => $i > 0 && $i % 2 === $odd, ARRAY_FILTER_USE_KEY)), [1, 0]));
    $listed = array_flip(preg_split('/\s+/', strtolower($sections['EXTENSIONS'] ?? ''), -1, PREG_SPLIT_NO_EMPTY));
    $tokens = array_values(array_filter(PhpToken::tokenize($sections['FILE'] ?? ''), fn (PhpToken $it): bool => !$it->isIgnorable()));
    $lacking = [];
    foreach (array_slice($tokens, 1, null, true) as $i => $token) {
        $name = strtolower(ltrim($token->text, '\\'));
        $is_name = $token->is([T_STRING, T_NAME_FULLY_QUALIFIED]) && !$tokens[$i - 1]->is([T_OBJECT_OPERATOR, T_NULLSAFE_OBJECT_OPERATOR, T_DOUBLE_COLON, T_FUNCTION]);
        $is_class = ($tokens[$i + 1] ?? null)?->is(T_DOUBLE_COLON) || $tokens[$i - 1]->is([T_NEW, T_EXTENDS]);
        $name .= $is_class ? '' : '()';
        $is_used = $is_class || ($tokens[$i + 1] ?? null)?->is('(');
        if ($is_name && $is_used && isset($of[$name]) && !isset($listed[$of[$name]])) {
            $lacking[$of[$name]][] = $token->text;
        }
    }
    foreach ($lacking as $extension => $names) {
        echo "$file uses ", implode(', ', array_unique($names)), " and does not list $extension under --EXTENSIONS--\n";
        $faults++;
    }
}
exit($faults ? 1 : 0);
