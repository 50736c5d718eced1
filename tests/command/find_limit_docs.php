<?php
declare(strict_types=1);

/* The output in docs/find-limit.md is what its command prints; [...] stands for lines that the page leaves out. */

require __DIR__ . '/harness.inc';
require __DIR__ . '/synthetic_log.inc';

write_file('access.log', synthetic_log());
$page = file_get_contents(__DIR__ . '/../../docs/find-limit.md');
check('the page has a command and its output', preg_match('~^    \$ bin/token-bucket (find-limit access\.log .*)\n\n((?:    .*\n|\n)+)~m', $page, $match) === 1);
$result = command(str_getcsv($match[1], ' ', "'", ''));
$shown = preg_replace('~^    ~m', '', rtrim($match[2]));
$pattern = '~\A' . implode('(?:\n.*)+', array_map(static fn (string $part): string => preg_quote($part, '~'), preg_split('~\n *\[\.\.\.\]~', $shown))) . '\Z~';
check('the output is as on the page', preg_match($pattern, rtrim($result['out'])) === 1, $result['err'] . $result['out']);

// Each option is on the page.
$help = command(['find-limit', '--help'])['out'];
preg_match_all('~^  (--[a-z0-9-]+)~m', $help, $options);
foreach (array_diff($options[1], ['--help']) as $option) {
    check("the page explains $option", str_contains($page, $option));
}
