<?php
declare(strict_types=1);

/*
 * Every sub-command: its name, its class, one line for the list of commands, and its usage. To add one, write a class that
 * implements TokenBucket\Command\Command into this folder, and a row here.
 */
return [
    'status' => [
        'class' => TokenBucket\Command\Status::class,
        'summary' => 'Show counts, blocks, tables and servers',
        'usage' => 'status [--pool FILE]',
    ],
    'top' => [
        'class' => TokenBucket\Command\Top::class,
        'summary' => 'List the clients that are denied most, or blocked',
        'usage' => 'top [NAME] [--pool FILE]',
    ],
    'denials' => [
        'class' => TokenBucket\Command\Denials::class,
        'summary' => 'Tell which calls were denied lately, and why',
        'usage' => 'denials [NAME] [CLIENT] [--pool FILE]',
    ],
    'peek' => [
        'class' => TokenBucket\Command\Peek::class,
        'summary' => 'Tell whether a client would be denied',
        'usage' => 'peek NAME CLIENT | --identifier ID [--pool FILE]',
    ],
    'reset' => [
        'class' => TokenBucket\Command\Reset::class,
        'summary' => 'Forget the calls of a client, and lift its block',
        'usage' => 'reset NAME CLIENT | --identifier ID [--pool FILE]',
    ],
    'block' => [
        'class' => TokenBucket\Command\Block::class,
        'summary' => 'Deny every call of a client for some time',
        'usage' => 'block NAME CLIENT TIME | --identifier ID TIME',
    ],
    'unblock' => [
        'class' => TokenBucket\Command\Unblock::class,
        'summary' => 'Lift the block of a client',
        'usage' => 'unblock NAME CLIENT | --identifier ID [--pool FILE]',
    ],
    'blocked' => [
        'class' => TokenBucket\Command\Blocked::class,
        'summary' => 'List blocked clients that go on, for a firewall',
        'usage' => 'blocked NAME... [--format WHAT] [--never FILE] [--pool FILE]',
    ],
    'forget' => [
        'class' => TokenBucket\Command\Forget::class,
        'summary' => 'Forget a server that is no longer used',
        'usage' => 'forget SERVER [--pool FILE]',
    ],
    'limits' => [
        'class' => TokenBucket\Command\Limits::class,
        'summary' => 'Check a file of limits',
        'usage' => 'limits check FILE [NAME CLIENT]',
    ],
    'measure' => [
        'class' => TokenBucket\Command\Measure::class,
        'summary' => 'Measure how many decisions a server makes a second',
        'usage' => 'measure [DSN | -] [--processes N] [--pool FILE]',
    ],
    'find-limit' => [
        'class' => TokenBucket\Command\FindLimit::class,
        'summary' => 'Suggest limits from access logs',
        'usage' => "find-limit LOG... [--match 'POST /login'] [--by network]",
    ],
];
