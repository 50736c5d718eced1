<?php
/*
 * The data of the subjects, in a file for each; the report is made from them.
 */

function data_folder(): string
{
    return getenv('BENCH_DATA');
}

function keep(string $subject, array $data): void
{
    file_put_contents(data_folder() . "/$subject.json", json_encode($data, JSON_PRETTY_PRINT | JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR));
}

function kept(string $subject): array
{
    $file = data_folder() . "/$subject.json";
    is_file($file) || throw new RuntimeException("$file is not there: run make bench");
    return json_decode(file_get_contents($file), true, flags: JSON_THROW_ON_ERROR);
}
