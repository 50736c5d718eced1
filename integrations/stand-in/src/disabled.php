<?php

/*
 * In the place of functions that a host has disabled, and that the stand-in can do without. A call in this namespace finds them first.
 */

declare(strict_types=1);

namespace TokenBucket\StandIn;

// Programs that fork are not run on such a host.
if (is_missing('getmypid')) { function getmypid(): int { return 0; } }
if (is_missing('error_log')) { function error_log(string $message): bool { return false; } }
if (is_missing('ini_get')) { function ini_get(string $option): bool { return false; } }
if (is_missing('get_cfg_var')) { function get_cfg_var(string $option): bool { return false; } }
if (is_missing('glob')) { function glob(string $pattern): array { return []; } }
if (is_missing('chmod')) { function chmod(string $path, int $mode): bool { return false; } }
if (is_missing('sys_get_temp_dir')) { function sys_get_temp_dir(): string { return '/tmp'; } }
if (is_missing('usleep')) { function usleep(int $microseconds): void { time_nanosleep(0, $microseconds * 1_000); } }
if (is_missing('debug_backtrace')) { function debug_backtrace(): array { return (new \Exception())->getTrace(); } }
