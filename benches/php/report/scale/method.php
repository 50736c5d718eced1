<?php
/*
 * The section on the model.
 */

function method_section(array $data): string
{
    return <<<MD
        ## The model, and what it leaves out

        `benches/scale` simulates each call as an event: the worker's own work, the network, a queue before the server's processors. Leases, the deny cache and the arithmetic of limits in it are the
        extension's own code, with the simulated time. It fails if a client gets more than the [bounds](stores.md#leases) allow, in all or in any stretch of time.

        | | |
        |---|---|
        | calls | at random times (Poisson), each at a random host, of client k in proportion to 1 / k (Zipf; web requests have exponents around 0.6 to 1, [Breslau et al. 1999](https://pages.cs.wisc.edu/~cao/papers/zipf-implications.html)) |
        | network | 100 µs each way, no loss, no limit of its bandwidth |
        | servers | one processor for Redis and each node of the cluster, {$data['threads']} for memcached (its threads), 4 for MariaDB; each at the measured cost of a busy server, or of one that slept |
        | MariaDB | waits for no disk, as measured (`innodb_flush_log_at_trx_commit=0`). `commit=1000` adds a millisecond, in which the row is locked |
        | not in it | time-outs and breakers (a call above 50 ms counts as late), TLS, replicas, resharding, PHP-FPM's own queue, a contended word in shared memory |
        | extrapolated | everything above four hosts and two cores; servers and callers shared them in all measurements |

        All of it again (needs what `make bench` needs): `scripts/bench.sh scale`; in short, into `target/bench`: `BENCH_ROUNDS=2 scripts/bench.sh scale`. Your fleet, with the costs of
        [costs.txt](scaling/costs.txt) or of your own run:

            cargo bench --bench scale -- store=redis_tcp hosts=40 calls=60000 clients=2000000 capacity=300 rate=5 lease=100 network=250

        MD;
}
