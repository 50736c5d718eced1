<?php
declare(strict_types=1);

/* What measure refuses before it asks a server. php-tests/07_servers/command_measure.phpt measures real ones. */

require __DIR__ . '/harness.inc';

$mistakes = [
    // arguments, standard input, and what the message must hold
    [['shm:'], '', 'DSN must be that of a server, such as redis://10.0.0.5: shm: and array: are this host\'s own memory'],
    [['shm:logins'], '', 'DSN must be that of a server'],
    [['array:'], '', 'DSN must be that of a server'],
    [['-'], "array:\n", 'DSN must be that of a server'],
    [['-'], '', 'DSN must be that of a server'],
    [[], '', 'token_bucket.storage must be that of a server'],
    [['10.0.0.5'], '', 'The storage DSN must'],
    [['redis://:s3cret@10.0.0.5:port'], '', 'The port in the storage DSN must be between 1 and 65535'],
    [['redis://:s3cret@10.0.0.5?lese=1'], '', 'Unknown parameter "lese" in the storage DSN'],
    [['redis://10.0.0.5', 'redis://:s3cret@10.0.0.6'], '', 'measure takes one DSN'],
    [['redis://10.0.0.5', '--seconds', '0'], '', '--seconds must be a whole number from 1 to 60; it is "0"'],
    [['redis://10.0.0.5', '--seconds', '61'], '', '--seconds must be a whole number from 1 to 60; it is "61"'],
    [['redis://10.0.0.5', '--processes', '65'], '', '--processes must be a whole number from 1 to 64; it is "65"'],
];
foreach ($mistakes as [$words, $input, $expected]) {
    $result = command(['measure', ...$words], $input);
    check('measure ' . implode(' ', $words) . ' is wrong usage', $result['code'] === 2 && $result['out'] === '' && str_contains($result['err'], $expected), $result);
    check('measure ' . implode(' ', $words) . ' shows no password, and loads nothing', !str_contains($result['err'], 's3cret') && !str_contains($result['err'], ' loads '), $result);
}
$result = command(['measure', 'redis://:s3cret@127.0.0.1:1/2?timeout_ms=1']);
check('a server that does not answer is a failure with its reason', $result['code'] === 1 && $result['out'] === ''
    && preg_match('~^token-bucket: loads redis://127\.0\.0\.1:1/2 for 3 s with one process and for 3 s with 8; .*\ntoken-bucket: Redis at 127\.0\.0\.1:1: cannot connect: Connection refused .*\n$~', $result['err']) === 1, $result);
$result = command(['measure', 'redis://127.0.0.1:1'], '', [], ['-d', 'extension=' . getenv('EXTENSION'), '-d', 'disable_functions=pcntl_fork']);
check('a function that is disabled', $result['code'] === 1 && str_contains($result['err'], "measure needs PHP's extension pcntl, and its function pcntl_fork()"), $result);
