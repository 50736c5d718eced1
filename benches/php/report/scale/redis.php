<?php
/*
 * The section on what a decision's parts cost a Redis server.
 */

function redis_section(array $data): string
{
    $titles = [
        'INCR' => '`INCR`',
        'empty' => 'a script that does nothing',
        'TIME' => 'a script with `TIME`',
        'GET' => 'a script with `TIME` and `GET`',
        'SET' => 'a script with `TIME`, `GET` and `SET ... EX`',
        'token_bucket' => "**token_bucket's decision**",
        'function' => 'the same text as a function (`FCALL`)',
        'IFEQ' => '`TIME` and `SET ... IFEQ ... PX` without a script',
    ];
    $rows = [];
    foreach ($titles as $case => $title) {
        $rows[] = [$title, ...array_map(fn (array $measured) => isset($measured[$case]) ? duration(median($measured[$case])) : '', array_values($data['servers']))];
    }
    return "## What a decision costs Redis\n\n" . 'The processor time of the server for one of ' . number_format($data['commands']) . " pipelined commands, so without the system calls that a trip takes. No script decides for less than the one with three\n"
        . "commands; of what the newest servers have, a function spares little, and `SET ... IFEQ` (Valkey) would decide without a script, if the caller knew the state and the time before.\n\n"
        . table(['', ...array_keys($data['servers'])], $rows, 'l' . str_repeat('r', count($data['servers'])));
}
