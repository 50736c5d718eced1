<?php
/*
 * The section on the server's processor time for a decision.
 */

function server_cpu(): Section
{
    $section = new Section("The server's processor time");
    $data = kept('server_cpu');
    $ratios = [];
    foreach (by_store(array_intersect_key(limiters(), $data['limiters'])) as $store => $limiters) {
        $ours = array_key_first($limiters);
        foreach ($limiters as $name => $limiter) {
            $measured = $data['limiters'][$name];
            $ratio = ratio_of($measured, $data['limiters'][$ours]);
            $ratios[] = [$store, $limiter->title, $name === $ours ? '1' : ratio($ratio), duration(median($measured))];
            if (!$limiter->is_ours() && $ratio < 1) {
                $section->losses[] = ["the server's processor time", $store, $limiter->title . over_admission_of($name), 'a decision ' . ratio($ratio) . ' (' . rounds_below($measured, $data['limiters'][$ours]) . ')', $ratio];
            }
        }
        $section->summary[] = "Server's processor time, $store: token_bucket " . duration(median($data['limiters'][$ours])) . ' a decision';
    }
    $section->tables = 'The cost of one process for the server, over ' . number_format($data['decisions']) . " decisions a round: the time that all its threads were on a processor (`/proc/PID/task/*/schedstat`, in nanoseconds).\n\n"
        . table(['store', 'limiter', "of token_bucket's", 'a decision'], $ratios, 'llrr');
    return $section;
}
