//! What only a store on servers has.

use super::key::Key;
use super::request::Store;
use super::writes::Writes;
use crate::limit::Op;
use std::time::Duration;

/// How many breakers a store on servers has at most.
pub const BREAKERS: u64 = 32;

/// A store on servers, which may fail.
pub trait RemoteStore: Store {
    /// The number of the breaker of the server that answers for `key`, modulo [`BREAKERS`]. A failure of one server says nothing of
    /// servers with other numbers.
    fn breaker(&self, _key: &Key<'_>) -> u64 {
        0
    }

    /// The writes of this store, if they may wait for a lock of another session while reads are answered. They have the last
    /// breaker of the store.
    fn writes(&self) -> Option<&Writes> {
        None
    }

    /// Whether this process has a connection to a server of the store.
    fn is_connected(&self) -> bool;

    /// Closes the connections that cannot be used any more. Returns whether this process has one to the server behind
    /// this breaker that the server has not closed; false if it is not known to which server one is.
    fn keeps_connection(&self, breaker: u64) -> bool;

    /// Closes the connection to the server that said last that it must not be written to, and forgets what led to it: so the next call
    /// finds its server anew. A store whose servers do not say so has nothing to do.
    fn rediscover(&self) {}

    /// How long a round trip to the server behind this breaker takes at least, by this process's own calls; zero before the
    /// first.
    fn round_trip(&self, breaker: u64) -> Duration;

    /// How many round trips a call takes on an open connection that does this, on one key each.
    fn trips(&self, ops: &[Op]) -> u32;

    /// How many round trips it takes to connect.
    fn trips_to_connect(&self) -> u32;

    /// How far this host's clock was behind those of other hosts at most, as states showed since the last call of this; else zero.
    fn take_clock_behind(&self) -> Duration {
        Duration::ZERO
    }

    /// The kind of store and its servers, for messages.
    fn name(&self) -> String;
}
