//! Simulates fleets of hosts that share limits: docs/fleet/tables.md.
//!
//! ```text
//! cargo bench --bench scale                                       all that docs/fleet/tables.md shows, as JSON
//! cargo bench --bench scale -- store=redis_tcp hosts=100 ...      one fleet; each line below with its default
//! ```
//!
//! The costs of a decision come from a file that `scripts/bench.sh scale` writes. The same arguments give the same output.

mod costs;
mod experiments;
mod fleet;
mod host;
mod random;
mod results;
mod server;
mod simulation;

use costs::Costs;
use fleet::{Fleet, Load};
use simulation::Simulation;
use std::collections::HashMap;
use std::io::Write;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run() {
        Ok(text) => match writeln!(std::io::stdout(), "{text}") {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        },
        Err(error) => {
            // Without standard error there is no one to tell.
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<String, String> {
    let mut arguments = HashMap::new();
    // cargo bench adds --bench.
    for argument in std::env::args().skip(1).filter(|argument| argument != "--bench") {
        let (name, value) = argument.split_once('=').ok_or_else(|| usage(&argument))?;
        arguments.insert(name.to_owned(), value.to_owned());
    }
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/fleet/costs.txt");
    let file = arguments.remove("costs").unwrap_or_else(|| default.to_owned());
    let text = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
    let costs = costs::parse(&text).map_err(|error| format!("{file}: {error}"))?;
    let Some(store) = arguments.remove("store") else {
        return match arguments.keys().next() {
            Some(argument) => Err(usage(argument)),
            None => experiments::run(&costs),
        };
    };
    let fleet = one_fleet(&costs, &store, &arguments)?;
    let outcome = Simulation::run(&fleet)?;
    Ok(experiments::describe(&fleet, &outcome).print())
}

fn usage(argument: &str) -> String {
    format!(
        "unknown argument {argument}. Known: costs=FILE; store=NAME, and with it hosts, workers (of each host), calls (a second, of all hosts; \
         or the word workers: each worker calls all the time), clients, zipf, capacity, rate, lease, deny_cache (0 or 1), nodes, processors (of a server), network \
         (µs one way, or the word none: all share two processors), commit (µs), ramp and warm_up (seconds), seconds, seed"
    )
}

fn one_fleet(
    costs: &HashMap<String, Costs>,
    store: &str,
    arguments: &HashMap<String, String>,
) -> Result<Fleet, String> {
    let mut fleet = Fleet::new(costs.get(store).ok_or_else(|| {
        let mut stores: Vec<&str> = costs.keys().map(String::as_str).collect();
        stores.sort_unstable();
        format!("unknown store {store}. Known: {}", stores.join(", "))
    })?);
    for (name, value) in arguments {
        let number: f64 = match (name.as_str(), value.as_str()) {
            ("calls", "workers") => 0.0,
            ("network", "none") => {
                fleet.network = None;
                continue;
            }
            _ => value.parse().map_err(|error| format!("{name}: {error}"))?,
        };
        let most = match name.as_str() {
            "zipf" => 10.0,
            "nodes" | "processors" => 1e3,
            "hosts" | "seconds" | "ramp" | "warm_up" => 1e4,
            // They take 44 bytes each.
            "clients" => 5e7,
            "calls" => 1e8,
            _ => 1e9,
        };
        if !(0.0..=most).contains(&number) {
            return Err(format!("{name} must be 0 to {most}"));
        }
        match name.as_str() {
            "hosts" => fleet.hosts = (number as usize).max(1),
            "workers" => fleet.workers = (number as usize).max(1),
            "calls" if number == 0.0 => fleet.load = Load::Workers,
            "calls" => fleet.load = Load::Arrivals(number),
            "clients" => fleet.clients = (number as u32).max(1),
            "zipf" => fleet.zipf = number,
            "capacity" => fleet.capacity = number as i64,
            "rate" => fleet.rate = number,
            "lease" => fleet.lease = (number as u32).min(4_095),
            "deny_cache" => fleet.deny_cache = number != 0.0,
            "nodes" => fleet.nodes = (number as usize).max(1),
            "processors" => fleet.costs.processors = (number as usize).max(1),
            "network" => fleet.network = Some((number * 1e3) as u64),
            "commit" => fleet.commit = (number * 1e3) as u64,
            "ramp" => fleet.ramp = (number * 1e9) as u64,
            "warm_up" => fleet.warm_up = (number * 1e9) as u64,
            "seconds" => fleet.duration = ((number * 1e9) as u64).max(1_000_000),
            "seed" => fleet.seed = number as u64,
            _ => return Err(usage(name)),
        }
    }
    Ok(fleet)
}
