//! A fleet: hosts, their clients and the servers that they ask.

use crate::costs::{Costs, Protocol};

/// What is simulated.
#[derive(Clone, Debug)]
pub struct Fleet {
    pub costs: Costs,
    pub hosts: usize,
    /// PHP-FPM's workers of each host.
    pub workers: usize,
    pub load: Load,
    pub clients: u32,
    /// The exponent of the Zipf distribution of calls over clients.
    pub zipf: f64,
    /// The limit of each client: its capacity, and the tokens that come back in a second.
    pub capacity: i64,
    pub rate: f64,
    /// The most tokens of a lease; 0 for none.
    pub lease: u32,
    pub deny_cache: bool,
    /// How many servers share the clients.
    pub nodes: usize,
    /// The time of a packet from a host to a server, or back, in nanoseconds. None if all share this machine: then it is what
    /// was measured, and all callers share one processor.
    pub network: Option<u64>,
    /// How long a write waits for a disk, in nanoseconds; its row is locked meanwhile.
    pub commit: u64,
    /// How long calls become more until they are as many as they will be, in nanoseconds.
    pub ramp: u64,
    /// What comes before the measurement, in nanoseconds.
    pub warm_up: u64,
    pub duration: u64,
    pub seed: u64,
}

/// How calls come.
#[derive(Clone, Copy, Debug)]
pub enum Load {
    /// So many a second in all, each at a random host.
    Arrivals(f64),
    /// Each worker calls as soon as its last call has returned.
    Workers,
}

impl Fleet {
    pub fn new(costs: &Costs) -> Self {
        Self {
            costs: costs.clone(),
            hosts: 10,
            workers: 50,
            load: Load::Arrivals(10_000.0),
            clients: 1,
            zipf: 1.0,
            capacity: 1_000_000_000,
            rate: 1_000_000.0,
            lease: 0,
            deny_cache: true,
            nodes: 1,
            network: Some(100_000),
            commit: 0,
            ramp: 3_000_000_000,
            warm_up: 4_000_000_000,
            duration: 2_000_000_000,
            seed: 1,
        }
    }

    /// Leases are for stores on servers.
    pub fn has_leases(&self) -> bool {
        self.lease > 0 && self.costs.protocol != Protocol::Local
    }
}
