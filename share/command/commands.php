<?php
declare(strict_types=1);

/*
 * Every sub-command: its name, its class, one line for the list of commands, and its usage. To add one, write a class that
 * implements TokenBucket\Command\Command into this folder, and a row here.
 */
return [
    'find-limit' => [
        'class' => TokenBucket\Command\FindLimit::class,
        'summary' => 'Suggest limits from access logs',
        'usage' => "find-limit LOG... [--match 'POST /login'] [--by network]",
    ],
];
