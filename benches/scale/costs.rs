//! What a decision costs on a store, as measured by `scripts/bench.sh scale`.

use std::collections::HashMap;
use std::fmt::Display;
use std::str::FromStr;

/// How a store decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// In the host's own memory: no trip.
    Local,
    /// One trip, in which the server decides.
    Script,
    /// A trip that reads, and one that swaps.
    Swap,
}

/// The costs of a store. Times are in nanoseconds.
#[derive(Clone, Debug)]
pub struct Costs {
    pub protocol: Protocol,
    /// Whether a swap that was lost twice locks its row.
    pub has_row_locks: bool,
    /// The server's processor, for a trip that reads a state.
    pub read: u64,
    /// The server's processor, for a trip that takes a token.
    pub take: u64,
    /// The server's processor, for a trip that takes a batch.
    pub batch: u64,
    /// What a server that slept takes longer.
    pub server_wake: u64,
    /// The caller's processor, for a trip.
    pub caller: u64,
    /// What a caller that slept takes longer.
    pub caller_wake: u64,
    /// The time in which neither has a processor, of a trip on one machine.
    pub gap: u64,
    /// A decision without a trip.
    pub local: u64,
    /// A denial that the host knows.
    pub denied: u64,
    /// Bytes to and from the server, of a trip that reads.
    pub read_bytes: [f64; 2],
    /// Of a trip that takes a token.
    pub take_bytes: [f64; 2],
    /// Of a trip that takes a batch.
    pub batch_bytes: [f64; 2],
    /// Bytes that the state of a client takes.
    pub client_bytes: f64,
    /// Processors that one server can use.
    pub processors: usize,
}

/// Costs by store: lines of `store name value`.
pub fn parse(text: &str) -> Result<HashMap<String, Costs>, String> {
    let mut values: HashMap<&str, HashMap<&str, &str>> = HashMap::new();
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        let (Some(store), Some(name), Some(value)) = (words.next(), words.next(), words.next())
        else {
            return Err(format!("not `store name value`: {line}"));
        };
        values.entry(store).or_default().insert(name, value);
    }
    values
        .into_iter()
        .map(|(store, values)| {
            let costs = read(store, &values).map_err(|error| format!("{store}: {error}"))?;
            Ok((store.to_owned(), costs))
        })
        .collect()
}

fn read(store: &str, values: &HashMap<&str, &str>) -> Result<Costs, String> {
    Ok(Costs {
        protocol: match *values.get("protocol").ok_or("no protocol")? {
            "local" => Protocol::Local,
            "script" => Protocol::Script,
            "swap" => Protocol::Swap,
            other => return Err(format!("unknown protocol {other}")),
        },
        has_row_locks: store.starts_with("mariadb"),
        read: number(values, "read")?,
        take: number(values, "take")?,
        batch: number(values, "batch")?,
        server_wake: number(values, "server_wake")?,
        caller: number(values, "caller")?,
        caller_wake: number(values, "caller_wake")?,
        gap: number(values, "gap")?,
        local: number(values, "local")?,
        denied: number(values, "denied")?,
        read_bytes: [number(values, "read_in")?, number(values, "read_out")?],
        take_bytes: [number(values, "take_in")?, number(values, "take_out")?],
        batch_bytes: [number(values, "batch_in")?, number(values, "batch_out")?],
        client_bytes: number(values, "client_bytes")?,
        processors: number(values, "processors")?,
    })
}

fn number<T: FromStr<Err: Display>>(values: &HashMap<&str, &str>, name: &str) -> Result<T, String> {
    let value = values.get(name).ok_or_else(|| format!("no {name}"))?;
    value.parse().map_err(|e| format!("{name}: {e}"))
}
