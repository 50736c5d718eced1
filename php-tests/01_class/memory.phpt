--TEST--
TokenBucket: a hundred thousand objects, calls and exceptions leave no memory behind
--FILE--
<?php
class Own extends TokenBucket
{
    protected function key(string $id): string { return "own-$id"; }
}

function work(int $times): void
{
    for ($i = 0; $i < $times; $i++) {
        $bucket = new TokenBucket('shm:memory', "memory-$i", 10, 1);
        $bucket->consume();
        $bucket->check("client-$i", 10, 60);
        json_encode($bucket->attempt());
        (new Own('array:', 'own'))->check('a', 5);
        (new TokenBucket\ArrayStorage)->consume("id-$i", 1, 2, fn () => true);
        foreach ([fn () => $bucket->consume(-1), fn () => new TokenBucket('nowhere:', 'x', 1, 1)] as $wrong) {
            try {
                $wrong();
            } catch (Throwable) {
            }
        }
    }
}

work(1_000);
gc_collect_cycles();
$before = memory_get_usage();
work(100_000);
gc_collect_cycles();
var_dump(memory_get_usage() - $before);
?>
--EXPECT--
int(0)
