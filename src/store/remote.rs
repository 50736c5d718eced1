//! What only a store on servers has.

use super::key::Key;
use super::request::Store;

/// A store on servers, which may fail.
pub trait RemoteStore: Store {
    /// A number for the server that answers for `key`. A failure of one server says nothing of servers
    /// with other numbers.
    fn breaker(&self, _key: &Key<'_>) -> u64 {
        0
    }

    /// How many breakers the store has: [`breaker`](Self::breaker) returns numbers below that.
    fn breakers(&self) -> u64 {
        1
    }

    /// Whether this process has a connection to a server of the store.
    fn is_connected(&self) -> bool;

    /// Closes the connections that cannot be used any more. Returns whether this process has one to the server behind
    /// this breaker that the server has not closed; false if it is not known to which server one is.
    fn keeps_connection(&self, breaker: u64) -> bool;

    /// The kind of store and its servers, for messages.
    fn name(&self) -> String;
}
