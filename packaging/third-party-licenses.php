<?php
/**
 * Prints the licences of the crates that are linked into the extension, each text once.
 * Usage: php packaging/third-party-licenses.php TARGET, such as x86_64-unknown-linux-gnu
 */

function fail(string $message): never
{
    fwrite(STDERR, "$message\n");
    exit(1);
}

function output(string $command): string
{
    exec($command, $lines, $status);
    return $status === 0 ? implode("\n", $lines) : fail("Failed: $command");
}

chdir(dirname(__DIR__));
$target = escapeshellarg($argv[1] ?? fail("usage: php $argv[0] TARGET"));

// The linked crates, without macros and build dependencies, as "name vVERSION".
$tree = output("cargo tree --locked --edges normal,no-proc-macro --target $target --prefix none --no-dedupe --format '{p}'");
$linked = [];
foreach (explode("\n", $tree) as $line) {
    [$name, $version] = explode(' ', $line);
    $linked["$name " . ltrim($version, 'v')] = true;
}

$crates = [];
$owners = [];
$of_repository = [];
$without = [];
foreach (json_decode(output("cargo metadata --locked --format-version 1 --filter-platform $target"))->packages as $package) {
    $crate = "$package->name $package->version";
    if ($package->source === null || !isset($linked[$crate])) {
        continue;
    }
    $crates[$crate] = $package->license ?? 'see below';
    // musl has no GLOB_BRACE.
    $files = [];
    foreach (['LICEN[CS]E', 'COPYING', 'COPYRIGHT', 'NOTICE', 'UNLICENSE', 'licen[cs]e'] as $name) {
        $path = dirname($package->manifest_path) . "/$name*";
        array_push($files, ...glob($path), ...glob("$path/*"));
    }
    $texts = array_map(fn ($file) => trim(str_replace("\r", '', file_get_contents($file))), array_filter($files, 'is_file'));
    if ($texts === []) {
        $without[$crate] = $package->repository;
    }
    foreach (array_unique($texts) as $text) {
        $owners[$text][] = $crate;
        $of_repository[$package->repository][$text] = true;
    }
}

// A crate without a licence text has the texts of its repository.
foreach ($without as $crate => $repository) {
    foreach (array_keys($of_repository[$repository] ?? fail("No licence text for $crate")) as $text) {
        $owners[$text][] = $crate;
    }
}

echo "token_bucket.so contains these crates, each under the licence named; the texts follow.\n\n";
ksort($crates);
foreach ($crates as $crate => $license) {
    echo "$crate: $license\n";
}
uksort($owners, fn ($a, $b) => [$owners[$a], $a] <=> [$owners[$b], $b]);
foreach ($owners as $text => $names) {
    echo "\n", str_repeat('-', 78), "\n", wordwrap(implode(', ', $names), 78), "\n\n$text\n";
}
