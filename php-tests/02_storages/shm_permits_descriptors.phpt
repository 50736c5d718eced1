--TEST--
SharedMemoryStorage: a process whose descriptors are closed, or stand for other files, keeps its permits and frees no other's
--EXTENSIONS--
ffi
posix
--FILE--
<?php
require dirname(__DIR__) . '/permit_process.inc';

foreach (['close', 'replace'] as $what) {
    $table = "shm:descriptors-$what";
    $process = fn (): PermitProcess => new PermitProcess($table, 2);
    // Those of a process that holds a permit.
    [$holder, $other, $next] = [$process(), $process(), $process()];
    echo "$what: ", $holder->ask_all('acquire', $what), ', others ', $other->ask('acquire'), ' ', $next->ask_all('acquire', 'active'), ', ';
    echo $holder->ask_all('renew', 'acquire', 'active'), "\n";
    // Those of a process that is denied: it has a number, by a permit that it gave back.
    $other->ask('release');
    $next->end();
    $next = $process();
    echo '    denied: ', $next->ask_all('acquire', 'release', $what), ' ', $other->ask('acquire'), ' ', $next->ask_all('acquire', 'acquire', 'active'), ', ';
    echo $holder->ask_all('renew', 'acquire'), "\n";
    // It can still be seen that one has died.
    $holder->kill();
    echo '    killed: ', $next->ask_all('active', 'acquire', 'acquire', 'active'), "\n";
    $other->kill();
    $next->kill();
    echo '    all killed: ', $process()->ask_all('acquire', 'acquire', 'acquire'), "\n";
}
?>
--EXPECT--
close: yes done, others yes no 2, true no 2
    denied: yes done done yes no no 2, true no
    killed: 1 yes no 2
    all killed: yes yes no
replace: yes done, others yes no 2, true no 2
    denied: yes done done yes no no 2, true no
    killed: 1 yes no 2
    all killed: yes yes no
