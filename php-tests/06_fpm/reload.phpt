--TEST--
php-fpm: a reload keeps the counts
--EXTENSIONS--
pcntl
posix
--FILE--
<?php
require __DIR__ . '/fpm.inc';

$fpm = new Fpm(['www' => []]);
$fpm->script('bucket.php', file_get_contents(__DIR__ . '/bucket.inc'));

function take(int $tries): array
{
    global $fpm;
    return $fpm->request('www', 'bucket.php', ['id' => 'reload', 'capacity' => 5, 'tries' => $tries])->json();
}

['pid' => $pid, 'taken' => $taken] = take(3);
$before = $fpm->workers();
echo 'before: taken ', $taken, ', by one of the ', count($before), ' workers: ';
var_dump(in_array($pid, $before));

$fpm->reload();

['pid' => $pid, 'taken' => $taken] = take(9);
$after = $fpm->workers();
echo 'after: taken ', $taken, ', by one of the ', count($after), ' workers: ';
var_dump(in_array($pid, $after));
echo 'workers that were there before: ', count(array_intersect($before, $after)), "\n";
?>
--EXPECT--
before: taken 3, by one of the 4 workers: bool(true)
after: taken 2, by one of the 4 workers: bool(true)
workers that were there before: 0
