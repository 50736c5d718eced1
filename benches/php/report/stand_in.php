<?php
/*
 * The section on the stand-in in plain PHP.
 */

function stand_in(): Section
{
    $section = new Section('The stand-in in plain PHP');
    $data = kept('stand_in');
    ['stand_in' => $own, 'symfony' => $symfony, 'extension' => $extension] = $data['limiters'];
    $rows = [];
    foreach (array_keys($own) as $clients) {
        $than = ratio_of($own[$clients], $symfony[$clients]);
        $what = number_format($clients) . ($clients === 1 ? ' client' : ' clients');
        $rows[] = [$what, duration(median($own[$clients])), duration(median($symfony[$clients])), ratio($than), duration(median($extension[$clients])), ratio(ratio_of($own[$clients], $extension[$clients]))];
        $section->goals[] = new Goal("a decision of the stand-in, $what", "at most 1.0 times symfony/rate-limiter's with files and flock", ratio($than), $than <= 1.0);
        $section->summary[] = "Stand-in, $what: " . ratio($than) . ' symfony/rate-limiter with files and flock';
    }
    $section->text = "A decision in one process, the limiter made for each call and symfony's factory once, {$data['rounds']} rounds. symfony/rate-limiter has its cache and its lock in files; both have them in memory (tmpfs).\n\n"
        . table(['', 'the stand-in', 'symfony, files and flock', "of symfony's time", 'the extension, `shm:`', "of the extension's time"], $rows, 'lrrrrr');
    return $section;
}
