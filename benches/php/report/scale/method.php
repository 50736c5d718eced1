<?php
/*
 * The section on the model, and the one on how to use it.
 */

function method_section(array $data, array $bounds): string
{
    $beyond = implode(', ', array_map(fn (array $fleet) => rough(max(0, $fleet['beyond'])) . " ({$fleet['hosts']} hosts)", $bounds));
    return <<<MD
        ## The model, and what it leaves out

        `benches/scale` simulates each call as an event: the worker's own work, the network, a queue before the server's processors. Leases, the deny cache and the arithmetic of limits in it are the
        extension's own code, with the simulated time; turns follow it. It fails if a client gets more than the [bounds](../stores.md#leases) allow, in all or in any stretch of time. Where
        hosts with `lease=100` call twice as often as a limit of 10,000 and 10,000 a second allows, they hand out at most so many tokens beyond it in any stretch: $beyond; hosts x 100 are the bound.

        | | |
        |---|---|
        | calls | at random times (Poisson), each at a random host, of client k in proportion to 1 / k (Zipf). For web pages exponents of [0.6 to 0.8](https://www.oreilly.com/library/view/web-caching/156592536X/apas06.html) were found, which spread calls more: `zipf=0.7` |
        | begin | calls become as many as stated within three seconds, so that leases can begin; measured is what comes after |
        | workers | 50 of each host; up to 511 further calls of a host wait for one, as in PHP-FPM |
        | network | 100 µs each way, no loss, no limit of its bandwidth |
        | servers | one processor for Redis and each node of the cluster, {$data['threads']} for memcached (its threads), 4 for MariaDB; each at the measured cost of a busy server, or of one that slept |
        | MariaDB | waits for no disk, as measured (`innodb_flush_log_at_trx_commit=0`). `commit=1000` adds a millisecond, in which the row is locked |
        | memcached, MariaDB | of a host's calls on a key one asks at a time. After a lost swap it pauses, for a random time that grows with the measured round trip; on MariaDB it locks the row after two, in a transaction of four trips. A call that has no time for a trip is *busy*, and its host's `on_error` answers it |
        | leases | a call that meets a lease's batch on its way waits for it, at most for half of its time |
        | not in it | breakers and the time-outs of trips (a call above 50 ms counts as late), a process that others give up because its trip takes longer than 20 ms, the time-out of MariaDB's statements, TLS, replicas, resharding, a contended word in shared memory |
        | extrapolated | everything above four hosts and two cores; servers and callers shared them in all measurements |

        MD;
}

function command_section(): string
{
    return <<<'MD'
        ## Your fleet

        All of it again (needs what `make bench` needs): `scripts/bench.sh scale`; in short, into `target/bench`: `QUICK=1 scripts/bench.sh scale`. Your fleet, with the costs of
        [costs.txt](costs.txt) or of your own run:

            cargo bench --bench scale -- store=redis_tcp hosts=40 calls=60000 clients=2000000 capacity=300 rate=5 lease=100 network=250

        MD;
}
