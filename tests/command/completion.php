<?php
declare(strict_types=1);

/* The completion of bash offers what the command has. */

require __DIR__ . '/harness.inc';

/** @return list<string> what bash offers for the last of these words */
function offered(string ...$words): array
{
    global $folder;
    $program = "$folder/token-bucket";
    $line = implode(' ', array_map('escapeshellarg', [...php(['-d', 'extension=' . getenv('EXTENSION')]), realpath(__DIR__ . '/../../bin/token-bucket')]));
    file_put_contents($program, "#!/bin/sh\nexec $line \"\$@\"\n");
    chmod($program, 0700);
    $completion = escapeshellarg(realpath(__DIR__ . '/../../share/completion/token-bucket.bash'));
    $quoted = implode(' ', array_map('escapeshellarg', [$program, ...$words]));
    $script = "source $completion; COMP_WORDS=($quoted); COMP_CWORD=" . count($words) . '; _token_bucket; printf "%s\n" "${COMPREPLY[@]}"';
    return array_values(array_filter(explode("\n", (string) shell_exec('bash -c ' . escapeshellarg($script)))));
}

check('every command is offered', offered('') === array_keys(require __DIR__ . '/../../share/command/commands.php'), offered(''));
check('a command is completed', offered('sta') === ['status'], offered('sta'));
check("a command's options are offered", offered('top', '--') === ['--count', '--pool', '--user', '--json', '--help'], offered('top', '--'));
check('an option is completed', offered('find-limit', 'access.log', '--deny') === ['--deny-share'], offered('find-limit', 'access.log', '--deny'));
check('users are offered', in_array('root', offered('peek', '--user', 'roo'), true), offered('peek', '--user', 'roo'));
check('limits has one action', offered('limits', '') === ['check'], offered('limits', ''));
check('a word that is a command line of its own runs nothing', offered('$(touch here)', '--') === [] && !file_exists('here'));
