--TEST--
SharedMemoryStorage: processes in PID namespaces of their own, as in containers that share shm_path, count together and free the permits of those that died
--EXTENSIONS--
posix
--SKIPIF--
<?php
exec('unshare --pid --fork --kill-child true 2>&1', $output, $status);
if ($status !== 0) {
    die('skip needs a PID namespace: ' . implode(' ', $output));
}
?>
--FILE--
<?php
require dirname(__DIR__) . '/permit_process.inc';

$apart = fn (): PermitProcess => new PermitProcess('shm:namespaces', 2, 60, ['unshare', '--pid', '--fork', '--kill-child']);
[$a, $b, $outside] = [$apart(), $apart(), new PermitProcess('shm:namespaces', 2)];
echo 'process ids: ', $a->ask('pid'), ' ', $b->ask('pid'), "\n";
echo 'taken: ', $a->ask('acquire'), ' ', $b->ask('acquire'), ' ', $outside->ask_all('acquire', 'active'), "\n";
$a->kill();
// The kernel ends the namespace when its first process has ended.
comes_true(fn (): bool => $outside->ask('active') === '1') || print("not free\n");
echo 'one is killed: ', $b->ask('acquire'), ' ', $outside->ask_all('acquire', 'active'), "\n";
$next = $apart();
echo 'the next has the same process id: ', $next->ask_all('pid', 'acquire', 'active'), "\n";
$b->kill();
comes_true(fn (): bool => $next->ask('active') === '0') || print("not free\n");
echo 'the other is killed: ', $next->ask('acquire'), ' ', $outside->ask_all('acquire', 'acquire', 'active'), "\n";
?>
--EXPECT--
process ids: 1 1
taken: yes yes no 2
one is killed: yes no 2
the next has the same process id: 1 no 2
the other is killed: yes yes no 2
