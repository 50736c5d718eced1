<?php
/**
 * Fails on a method that stands apart from its type, on a cycle between the files of src, on a room that knows one above it, and on a floor that is skipped.
 *
 * A file depends on another if it names one of its items, by `use` or by a path that begins with `crate`, `super`,
 * `self` or a child module. A re-export leads on to the file of the item, and is no dependency of its own unless the
 * file uses the name. Code under #[cfg(test)] does not count.
 * Usage: php imports.php FOLDER
 */

/** The floor of each room: a file names items of its own room and of floors below it. */
const FLOORS = [
    'limit' => 1,
    'error' => 2, 'clock' => 2, 'hash' => 2, 'address' => 2, 'identifier' => 2, 'process' => 2, 'regular_file' => 2, 'descriptor' => 2, 'http' => 2, 'settings' => 2, 'suggestion' => 2,
    'dsn' => 3,
    'net' => 4, 'mapped' => 4,
    'store' => 5,
    'guard' => 6,
    'statistics' => 7,
    'limiter' => 8,
    'php' => 9,
];

/** What the files of a room may not name although it is below them, and why. */
const SKIPPED_FLOORS = [
    ['php', '/^(store|guard|statistics|net|mapped)\b/', 'src/php reaches stores, and what is known of them, through src/limiter only'],
    ['limiter', '/^store::(?!Store\b)[a-z]/', 'src/limiter knows no store from the inside: crate::store::NAME only'],
];

/** A file of src, its path as a module, and its text without comments, strings and tests. */
final class Source
{
    /** @var array<string, string> the path that each imported name stands for */
    public array $imports = [];
    /** @var list<string> the paths it names, in full */
    public array $paths = [];
    /** @var list<string> the modules whose items it imports with `*` */
    public array $globs = [];
    /** @var list<string> the modules that are compiled for tests only */
    public array $test_modules = [];
    public string $text;

    /** @param list<string> $module */
    public function __construct(public readonly string $file, public readonly array $module)
    {
        $text = file_get_contents($file);
        // One pass, so that neither a quote in a comment nor a comment in a string counts.
        $text = preg_replace('~//[^\n]*|/\*.*?\*/|r(#*)".*?"\1|b?"(?:[^"\\\\]|\\\\.)*"|\'(?:[^\'\\\\\n]|\\\\.)\'~s', '', $text);
        $item = '(?:#\[[^\]]*\]\s*)*[^;{]*(?:;|(\{(?:[^{}]++|(?1))*\})\s*;?)';
        $this->text = preg_replace_callback("~#\[cfg\((?:all\()?test\b[^\]]*\]\s*$item~s", function (array $found): string {
            if (preg_match('/\bmod (\w+)\s*;/', $found[0], $name)) {
                $this->test_modules[] = $this->absolute($name[1]);
            }
            return '';
        }, $text);
    }

    /** Reads the imports and paths. */
    public function read(array $modules): void
    {
        preg_match_all('/^\s*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);/m', $this->text, $uses, PREG_SET_ORDER);
        $code = preg_replace('/^\s*(pub(\([^)]*\))?\s+)?use\s+[^;]+;/m', '', $this->text);
        foreach ($uses as [, $public, $tree]) {
            foreach (self::expand(preg_replace('/\s+/', ' ', trim($tree))) as [$path, $name]) {
                if (($path = $this->absolute($path, $modules)) === null) {
                    continue;
                }
                if ($name === '*') {
                    $this->globs[] = $path;
                } else {
                    $this->imports[$name] = $path;
                }
                // A re-export is a dependency only of a file that uses the name.
                if ($public === '' || $name !== '*' && preg_match("/\b$name\b/", $code)) {
                    $this->paths[] = $path;
                }
            }
        }
        preg_match_all('/(?<![\w:])(?:\w+::)+\w+/', $code, $found);
        foreach (array_unique($found[0]) as $path) {
            $this->paths[] = $this->absolute($path, $modules);
        }
        $this->paths = array_values(array_unique(array_filter($this->paths)));
    }

    /** A path from src/lib.rs, without `crate`; null if it is of another crate or a type's. `limit` is a crate of its own, and a module of src/lib.rs. */
    private function absolute(string $path, ?array $modules = null): ?string
    {
        $parts = explode('::', $path);
        $base = $this->module;
        if ($parts[0] === 'crate') {
            $base = ($this->module[0] ?? '') === 'limit' ? ['limit'] : [];
            array_shift($parts);
        } elseif ($parts[0] === 'self' || $parts[0] === 'super') {
            for (; in_array($parts[0] ?? '', ['self', 'super'], true); array_shift($parts)) {
                $parts[0] === 'self' || array_pop($base);
            }
        } elseif ($modules !== null && !isset($modules[implode('::', [...$base, $parts[0]])])) {
            return null;
        }
        return implode('::', [...$base, ...$parts]);
    }

    /** @return list<array{string, string}> each path of a `use` tree, and the name it gets */
    private static function expand(string $tree): array
    {
        if (!preg_match('/^(.*?)\{(.*)\}$/', $tree, $found)) {
            [$path, $name] = explode(' as ', $tree) + [1 => null];
            $path = preg_replace('/::self$/', '', trim($path));
            if (str_ends_with($path, '::*')) {
                return [[substr($path, 0, -3), '*']];
            }
            return [[$path, trim($name ?? substr("::$path", strrpos("::$path", '::') + 2))]];
        }
        $paths = [];
        preg_match_all('/(?:[^,{}]++|(\{(?:[^{}]++|(?1))*\}))+/', $found[2], $branches);
        foreach (array_filter(array_map(trim(...), $branches[0])) as $branch) {
            array_push($paths, ...self::expand($found[1] . $branch));
        }
        return $paths;
    }
}

/** @return array<string, Source> the files by module, without those for tests */
function read_sources(string $folder): array
{
    $sources = [];
    foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator($folder, FilesystemIterator::SKIP_DOTS)) as $file) {
        if ($file->getExtension() === 'rs') {
            $module = preg_replace('~(/mod)?\.rs$~', '', substr($file->getPathname(), strlen($folder) + 1));
            $module = $module === 'lib' ? [] : explode('/', $module);
            $sources[implode('::', $module)] = new Source($file->getPathname(), $module);
        }
    }
    foreach (array_merge(...array_column($sources, 'test_modules')) as $test) {
        $sources = array_filter($sources, fn (string $module): bool => !str_starts_with("$module::", "$test::"), ARRAY_FILTER_USE_KEY);
    }
    ksort($sources);
    foreach ($sources as $source) {
        $source->read($sources);
    }
    return $sources;
}

/** The module whose file has the item that a path names. */
function module_of(string $path, array $sources, int $depth = 0): string
{
    $module = $path;
    while (!isset($sources[$module])) {
        $module = (string) substr($module, 0, (int) strrpos($module, '::'));
    }
    $rest = ltrim(substr($path, strlen($module)), ':');
    $name = explode('::', $rest)[0];
    if ($name === '' || $depth > 8) {
        return $module;
    }
    if (isset($sources[$module]->imports[$name])) {
        return module_of($sources[$module]->imports[$name] . substr($rest, strlen($name)), $sources, $depth + 1);
    }
    // Of what it imports with `*`, the module that defines the name.
    $is_defined = fn (string $in): bool => preg_match("/\b(?:fn|struct|enum|trait|type|const|static|union|macro_rules!)\s+$name\b/", $sources[$in]->text) === 1;
    foreach ($is_defined($module) ? [] : $sources[$module]->globs as $glob) {
        if (isset($sources[$glob]) && $is_defined($glob)) {
            return $glob;
        }
    }
    return $module;
}

/** The shortest way from a module back to itself, or null. */
function cycle_through(string $start, array $edges): ?array
{
    $ways = [[$start]];
    for ($seen = []; $way = array_shift($ways);) {
        foreach ($edges[end($way)] as $next => $_) {
            if ($next === $start) {
                return [...$way, $start];
            }
            if (!isset($seen[$next])) {
                $seen[$next] = true;
                $ways[] = [...$way, $next];
            }
        }
    }
    return null;
}

/** The types that a file gives methods of their own, although they are another file's: methods of traits may stand there. */
function foreign_types(Source $source): array
{
    preg_match_all('/^impl\b((?:(?!\bfor\b)[^{])*)\{/m', $source->text, $found);
    // Without what stands in angle brackets, and without the way to the type.
    $types = preg_replace(['/<(?:[^<>]++|(?R))*>/', '/\bwhere\b.*/s', '/.*::/', '/\s+/'], '', str_replace('->', '', $found[1]));
    $is_foreign = fn (string $type): bool => !preg_match("/\b(?:struct|enum|union)\s+$type\b/", $source->text);
    return array_unique(array_filter($types, $is_foreign));
}

$folder = $argv[1];
$sources = read_sources($folder);
$without_floor = array_diff(array_map(fn (Source $source): string => $source->module[0] ?? 'lib', $sources), [...array_keys(FLOORS), 'lib']);
if ($without_floor) {
    echo 'No floor in ' . __FILE__ . ' for: ' . implode(', ', array_unique($without_floor)) . "\n";
    exit(1);
}
$faults = [];
$edges = [];
foreach ($sources as $module => $source) {
    $edges[$module] = [];
    foreach (foreign_types($source) as $type) {
        $faults[] = "$source->file has methods of $type, which is another file's: put them beside it, or make them functions";
    }
    foreach ($source->paths as $path) {
        $target = module_of($path, $sources);
        if ($target !== $module) {
            $edges[$module][$target] ??= $path;
        }
        $room = $source->module[0] ?? 'lib';
        $named = explode('::', $path)[0];
        if (isset(FLOORS[$room], FLOORS[$named]) && $room !== $named && FLOORS[$named] >= FLOORS[$room]) {
            $faults[] = "$source->file names crate::$path: $named is not on a floor below $room";
        }
        foreach (SKIPPED_FLOORS as [$above, $forbidden, $reason]) {
            if ($room === $above && preg_match($forbidden, $path)) {
                $faults[] = "$source->file names crate::$path: $reason";
            }
        }
    }
}
$shown = [];
foreach (array_keys($sources) as $module) {
    $cycle = isset($shown[$module]) ? null : cycle_through($module, $edges);
    if ($cycle !== null) {
        $steps = array_map(fn (string $from, string $to): string => "\n    {$sources[$from]->file} names crate::{$edges[$from][$to]}", array_slice($cycle, 0, -1), array_slice($cycle, 1));
        $faults[] = 'A cycle:' . implode('', $steps);
        $shown += array_flip($cycle);
    }
}
echo $faults ? implode("\n", $faults) . "\n" : '';
exit($faults ? 1 : 0);
