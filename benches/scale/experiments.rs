//! The simulations that docs/fleet/tables.md shows.

use crate::costs::Costs;
use crate::fleet::{Fleet, Load};
use crate::results::Object;
use crate::simulation::{Outcome, Simulation};
use std::collections::{HashMap, HashSet};

/// The stores of the fleets, over a network: the name in the costs, how many servers.
const STORES: [(&str, &str, usize); 4] = [
    ("redis", "redis_tcp", 1),
    ("cluster", "redis_cluster", 6),
    ("memcached", "memcached_tcp", 1),
    ("mariadb", "mariadb_unix", 1),
];
const LEASES: [u32; 2] = [0, 100];
/// Calls a second of a fleet.
const RATES: [f64; 17] =
    [1e3, 2e3, 3e3, 5e3, 7e3, 1e4, 2e4, 3e4, 5e4, 7e4, 1e5, 2e5, 3e5, 5e5, 7e5, 1e6, 2e6];
/// A client's limit, where there are many: a burst, and tokens a second.
const CLIENT_LIMIT: (i64, f64) = (100, 10.0);

/// Runs all of them; returns their outcomes as JSON.
pub fn run(costs: &HashMap<String, Costs>) -> Result<String, String> {
    let mut groups = Vec::new();
    for (name, is_rising, fleets) in [
        ("points", false, points(costs)?),
        ("rates", true, rates(costs)?),
        ("hosts", true, hosts(costs)?),
        ("key", false, key(costs)?),
        ("clients", false, clients(costs)?),
        ("split", false, split(costs)?),
        ("flood", false, flood(costs)?),
        ("start", false, start(costs)?),
        ("bound", false, bound(costs)?),
    ] {
        let mut lines = Vec::new();
        let mut overloaded = HashSet::new();
        for (labels, fleet) in &fleets {
            // More of a load that was too much says no more, and takes long to simulate.
            let series = format!("{} {}", labels.print(), fleet.lease);
            if is_rising && overloaded.contains(&series) {
                continue;
            }
            let outcome = Simulation::run(fleet).map_err(|error| format!("{name}: {error}"))?;
            lines.push(describe_as(labels.clone(), fleet, &outcome).print());
            if !outcome.keeps_up(fleet) {
                overloaded.insert(series);
            }
        }
        groups.push(format!("\"{name}\": [\n{}\n]", lines.join(",\n")));
    }
    Ok(format!("{{\n{}\n}}", groups.join(",\n")))
}

type Fleets = Vec<(Object, Fleet)>;

fn fleet(costs: &HashMap<String, Costs>, store: &str) -> Result<Fleet, String> {
    costs.get(store).map(Fleet::new).ok_or_else(|| format!("no costs of {store}"))
}

/// The fleets whose decisions a second were measured: they share this machine, a processor for the callers and one for the server.
fn points(costs: &HashMap<String, Costs>) -> Result<Fleets, String> {
    let mut fleets = Vec::new();
    for store in ["redis_unix", "memcached_unix", "mariadb_unix"] {
        for (keys, clients) in [("hot", 1), ("quiet", 10_000)] {
            for lease in LEASES {
                for hosts in [1, 2, 4] {
                    let labels = Object::default().text("store", store).text("keys", keys);
                    let mut fleet = fleet(costs, store)?;
                    fleet.costs.processors = 1;
                    (fleet.hosts, fleet.workers, fleet.clients) = (hosts, 1, clients);
                    (fleet.lease, fleet.load) = (lease, Load::Workers);
                    (fleet.zipf, fleet.network, fleet.ramp) = (0.0, None, 0);
                    (fleet.warm_up, fleet.duration) = (100_000_000, 500_000_000);
                    fleets.push((labels, fleet));
                }
            }
        }
    }
    Ok(fleets)
}

/// More and more calls a second of 100 hosts, on one key and on ten million.
fn rates(costs: &HashMap<String, Costs>) -> Result<Fleets, String> {
    let mut fleets = Vec::new();
    for (title, store, nodes) in STORES {
        for (keys, clients) in [("one", 1), ("many", 10_000_000)] {
            for lease in LEASES {
                for calls in RATES {
                    let labels = Object::default().text("store", title).text("keys", keys);
                    let mut fleet = fleet(costs, store)?;
                    (fleet.hosts, fleet.clients, fleet.lease, fleet.nodes) =
                        (100, clients, lease, nodes);
                    fleet.load = Load::Arrivals(calls);
                    if clients > 1 {
                        (fleet.capacity, fleet.rate) = CLIENT_LIMIT;
                    }
                    // Half a second shows an overload: the queue grows all the while.
                    fleet.duration = if calls > 1e5 { 500_000_000 } else { 1_000_000_000 };
                    fleets.push((labels, fleet));
                }
            }
        }
    }
    Ok(fleets)
}

/// More and more hosts of a thousand calls a second each, on one key.
fn hosts(costs: &HashMap<String, Costs>) -> Result<Fleets, String> {
    let mut fleets = Vec::new();
    for (title, store, nodes) in STORES {
        for lease in LEASES {
            for hosts in [1, 2, 5, 10, 20, 50, 100] {
                let mut fleet = fleet(costs, store)?;
                (fleet.hosts, fleet.lease, fleet.nodes) = (hosts, lease, nodes);
                fleet.load = Load::Arrivals(hosts as f64 * 1e3);
                fleets.push((Object::default().text("store", title), fleet));
            }
        }
    }
    Ok(fleets)
}

/// More and more calls a second of a key at each of ten hosts: from when on leases pay.
fn key(costs: &HashMap<String, Costs>) -> Result<Fleets, String> {
    let mut fleets = Vec::new();
    for calls in [0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1e3, 2e3, 5e3, 1e4] {
        let mut fleet = fleet(costs, "redis_tcp")?;
        fleet.load = Load::Arrivals(calls * 10.0);
        fleet.lease = 100;
        (fleet.warm_up, fleet.duration) =
            (10_000_000_000, if calls < 100.0 { 100_000_000_000 } else { 10_000_000_000 });
        fleets.push((Object::default(), fleet));
    }
    Ok(fleets)
}

/// More and more clients at 100 hosts of five hundred calls a second each.
fn clients(costs: &HashMap<String, Costs>) -> Result<Fleets, String> {
    let mut fleets = Vec::new();
    for (limit, (capacity, rate)) in [("low", CLIENT_LIMIT), ("high", (1_000_000, 100_000.0))] {
        for lease in LEASES {
            for clients in [1, 100, 10_000, 100_000, 1_000_000, 10_000_000] {
                let mut fleet = fleet(costs, "redis_tcp")?;
                (fleet.hosts, fleet.clients, fleet.lease) = (100, clients, lease);
                (fleet.capacity, fleet.rate) = (capacity, rate);
                fleet.load = Load::Arrivals(5e4);
                (fleet.warm_up, fleet.duration) = (5_000_000_000, 5_000_000_000);
                fleets.push((Object::default().text("limit", limit), fleet));
            }
        }
    }
    Ok(fleets)
}

/// A limit that each host has a part of in its own memory, called at 80 % of the limit.
fn split(costs: &HashMap<String, Costs>) -> Result<Fleets, String> {
    let mut fleets = Vec::new();
    for hosts in [10, 100] {
        for rate in [100.0, 1e3, 1e4] {
            let mut fleet = fleet(costs, "shm")?;
            fleet.hosts = hosts;
            let share = rate / hosts as f64;
            // A second's tokens at once.
            (fleet.capacity, fleet.rate) = ((share as i64).max(1), share);
            fleet.load = Load::Arrivals(rate * 0.8);
            (fleet.warm_up, fleet.duration) = (10_000_000_000, 50_000_000_000);
            fleets.push((Object::default().number("limit", rate), fleet));
        }
    }
    Ok(fleets)
}

/// A client whose calls are a hundred times its limit, with and without the deny cache.
fn flood(costs: &HashMap<String, Costs>) -> Result<Fleets, String> {
    let mut fleets = Vec::new();
    for (title, store, nodes) in STORES {
        for deny_cache in [false, true] {
            let mut fleet = fleet(costs, store)?;
            (fleet.hosts, fleet.nodes, fleet.deny_cache) = (10, nodes, deny_cache);
            (fleet.capacity, fleet.rate) = CLIENT_LIMIT;
            fleet.load = Load::Arrivals(1_000.0);
            fleet.duration = 10_000_000_000;
            fleets.push((Object::default().text("store", title), fleet));
        }
    }
    Ok(fleets)
}

/// The first seconds of a fleet that is there all at once, and of one that comes within seconds.
fn start(costs: &HashMap<String, Costs>) -> Result<Fleets, String> {
    let mut fleets = Vec::new();
    for (title, store, nodes) in STORES {
        for ramp in [0, 3_000_000_000] {
            let mut fleet = fleet(costs, store)?;
            (fleet.hosts, fleet.lease, fleet.nodes, fleet.ramp) = (100, 100, nodes, ramp);
            fleet.load = Load::Arrivals(if store == "redis_tcp" { 5e5 } else { 2e4 });
            (fleet.warm_up, fleet.duration) = (0, 4_000_000_000);
            fleets.push((Object::default().text("store", title), fleet));
        }
    }
    Ok(fleets)
}

/// Hosts that together call twice as often as a limit allows, with leases.
fn bound(costs: &HashMap<String, Costs>) -> Result<Fleets, String> {
    let mut fleets = Vec::new();
    for hosts in [2, 10, 100] {
        let mut fleet = fleet(costs, "redis_tcp")?;
        (fleet.hosts, fleet.lease) = (hosts, 100);
        (fleet.capacity, fleet.rate) = (10_000, 10_000.0);
        fleet.load = Load::Arrivals(2e4);
        fleet.duration = 10_000_000_000;
        fleets.push((Object::default(), fleet));
    }
    Ok(fleets)
}

/// The fleet and its outcome.
pub fn describe(fleet: &Fleet, outcome: &Outcome) -> Object {
    describe_as(Object::default(), fleet, outcome)
}

fn describe_as(labels: Object, fleet: &Fleet, outcome: &Outcome) -> Object {
    let counts = &outcome.counts;
    let seconds = fleet.duration as f64 / 1e9;
    let each = |count: f64| count / counts.decisions as f64;
    let [sent, received] = counts.bytes;
    let calls = match fleet.load {
        Load::Arrivals(calls) => calls,
        Load::Workers => 0.0,
    };
    labels
        .number("hosts", fleet.hosts as f64)
        .number("calls", calls)
        .number("clients", f64::from(fleet.clients))
        .number("lease", f64::from(fleet.lease))
        .number("deny_cache", f64::from(u8::from(fleet.deny_cache)))
        .number("nodes", fleet.nodes as f64)
        .number("keeps_up", f64::from(u8::from(outcome.keeps_up(fleet))))
        .number("ramp", fleet.ramp as f64 / 1e9)
        .number("decisions", counts.decisions as f64 / seconds)
        .number("accepted", each(counts.accepted as f64))
        .number("leased", each(counts.leased as f64))
        .number("known_denials", each(counts.known_denials as f64))
        .number("trips", each(counts.trips as f64))
        .number("lost_swaps", each(counts.lost_swaps as f64))
        .number("swap_decisions", each(counts.swap_decisions as f64))
        .number("locked", each(counts.locked as f64))
        .number("busy", each(counts.busy as f64))
        .number("late", each(counts.late as f64))
        .number("refused", counts.refused as f64)
        .number("unfinished", outcome.unfinished as f64)
        .number("utilisation", outcome.utilisation)
        .number("busiest", outcome.busiest)
        .number("cpu", outcome.cpu)
        .number("median", counts.times.quantile(0.5))
        .number("p99", counts.times.quantile(0.99))
        .number("bytes_to_server", sent / seconds)
        .number("bytes_from_server", received / seconds)
        .number("clients_seen", f64::from(outcome.clients))
        .number("memory", f64::from(outcome.clients) * fleet.costs.client_bytes)
        .number("beyond", outcome.most_beyond)
}
