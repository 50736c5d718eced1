<?php
/*
 * The data of the subjects, in a file for each; the report is made from them.
 */

function data_folder(): string
{
    return getenv('BENCH_DATA');
}

/** Keeps a subject's data, and how many cores other programs used just before it. */
function keep(string $subject, array $data): void
{
    $data['busy_cores'] = (float) getenv('BENCH_BUSY');
    file_put_contents(data_folder() . "/$subject.json", json_encode($data, JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR));
}

/** The most cores that other programs used just before one of these subjects, as a mark for the page; '' if that was little. */
function busy_mark(string ...$subjects): string
{
    $busy = max(array_map(fn ($subject) => kept($subject)['busy_cores'], $subjects));
    return $busy < (float) getenv('BENCH_QUIET') ? '' : ' **The machine was busy with other things**: they used ' . digits($busy) . ' cores before one of the subjects.';
}

function kept(string $subject): array
{
    $file = data_folder() . "/$subject.json";
    is_file($file) || throw new RuntimeException("$file is not there: run make bench");
    return json_decode(file_get_contents($file), true, flags: JSON_THROW_ON_ERROR);
}
