<?php
/*
 * The section on a limiter's cost for a whole page.
 */

function page(): Section
{
    $section = new Section('A whole page');
    $data = kept('page');
    $counted = kept('instructions');
    $pages = $data['pages'];
    $none = $pages['none'];
    $limiters = limiters();
    $title = fn (string $name) => isset($limiters[$name]) ? "{$limiters[$name]->title}" . ($limiters[$name]->store === MEMORY ? '' : ", {$limiters[$name]->store}") : 'no limiter';
    $ratios = $numbers = $plot = [];
    foreach ($pages as $name => ['requests_a_second' => $requests, 'cpu_ns' => $cpu]) {
        $instructions = $counted['pages'][$name] ?? null;
        $more = $instructions === null ? '' : percent($instructions / $counted['pages']['none']);
        $ratios[] = $name === 'none'
            ? [$title($name), '', '', '']
            : [$title($name), percent(ratio_of($requests, $none['requests_a_second'])), percent(ratio_of($cpu, $none['cpu_ns'])), $more];
        $numbers[] = [$title($name), number_format(median($requests)), duration(median($cpu)), $instructions === null ? '' : number_format($instructions)];
        $plot['no limiter'] ??= [];
        $plot[isset($limiters[$name]) ? $limiters[$name]->store : 'none'][$name] = [median($cpu) / 1e3, median($cpu) / 1e3];
    }
    unset($plot['no limiter']);
    $plot = ['no limiter' => ['the page alone' => $plot['none']['none']]] + array_diff_key($plot, ['none' => 0]);
    foreach (by_store(array_intersect_key($limiters, $pages)) as $store => $rivals) {
        $ours = $pages[array_key_first($rivals)]['cpu_ns'];
        foreach ($rivals as $name => $limiter) {
            $ratio = ratio_of($pages[$name]['cpu_ns'], $ours);
            if (!$limiter->is_ours() && $ratio < 1) {
                $section->losses[] = ['a whole page', $store, $limiter->title . over_admission_of($name), "the worker's processor time is " . percent($ratio) . ' (' . rounds_below($pages[$name]['cpu_ns'], $ours) . ')', $ratio];
            }
        }
    }
    $cpu = ratio_of($pages['shm']['cpu_ns'], $none['cpu_ns']);
    $instructions = $counted['pages']['shm'] / $counted['pages']['none'];
    $requests = ratio_of($pages['shm']['requests_a_second'], $none['requests_a_second']);
    $section->goals = [
        new Goal('a page with `shm:` before it, requests a second', 'within 2 % of the page without', percent($requests), $requests >= 0.98),
        new Goal("its worker's processor time", 'within 2 %', percent($cpu), $cpu <= 1.02),
        new Goal('its instructions in user space', 'within 2 %', percent($instructions), $instructions <= 1.02),
    ];
    $section->summary[] = 'Page with shm: before it: ' . percent($requests) . ' requests a second, ' . percent($cpu) . ' processor time, ' . percent($instructions) . ' instructions';
    $spread = $none['requests_a_second'];
    // From round to round a page differs by some percent.
    $section->text = (abs($cpu - 1) < 0.05 ? 'With `shm:` no difference could be measured. A page\'s worker took ' : 'A page\'s worker took ' . percent($cpu) . ' of processor time with `shm:`, ') . percent(ratio_of($pages['redis_unix']['cpu_ns'], $none['cpu_ns'])) . ' of processor time with Redis, ' . percent(ratio_of($pages['symfony_redis_unix']['cpu_ns'], $none['cpu_ns']))
        . ' with symfony/rate-limiter on Redis. [In numbers](benchmarks/tables.md#a-whole-page).' . "\n\n" . dots('page', $limiters, $plot, "µs of a worker's processor time a request", false);
    $section->tables = "An HTML page of " . number_format($data['bytes'] / 1e3) . " kB with a template and some work on strings, by nginx and php-fpm ({$data['workers']} workers, opcache on), asked by wrk over {$data['connections']} connections for {$data['seconds']} s a round; "
        . "all of them, and the servers, share this machine. The page is the same; what is before it makes its object anew for each request, and connections are the worker's. "
        . "Beside the page without a limiter:\n\n"
        . table(['limiter', 'requests a second', "worker's processor time", 'instructions in user space'], $ratios, 'lrrr')
        . "\nFrom round to round the page without a limiter had " . number_format(min($spread)) . ' to ' . number_format(max($spread)) . " requests a second, so of that column a difference below some percent says little. "
        . "Processor time is that of the workers (`schedstat`), user and system. Instructions are counted by valgrind in php-cgi over {$counted['requests']} requests and are the same from run to run but for some in ten thousand; "
        . "what the kernel does is not in them, which is most of what a server's round trip takes. With the extension not loaded at all the instructions of the page differ by " . percent($counted['pages']['without the extension'] / $counted['pages']['none']) . ".\n\n"
        . table(['limiter', 'requests a second', "worker's processor time a request", 'instructions a request'], $numbers, 'lrrr');
    return $section;
}
