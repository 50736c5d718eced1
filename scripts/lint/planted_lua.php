<?php
/*
 * Whether each fault of tests/planted-lua fits the scripts as they are: what it replaces is there once.
 */
$misfits = array_filter(file('tests/planted-lua', FILE_IGNORE_NEW_LINES), function (string $line): bool {
    [$file, $old] = explode(' | ', $line);
    return substr_count(file_get_contents("src/store/redis/$file.lua"), $old) !== 1;
});
foreach ($misfits as $number => $line) {
    echo 'tests/planted-lua:', $number + 1, " does not fit its script: $line\n";
}
exit((int) ($misfits !== []));
