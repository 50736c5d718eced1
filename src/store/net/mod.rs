//! Connections to servers, each call within its time.
//!
//! * [`socket`]: a socket that is never waited for beyond a deadline
//! * [`tls`]: encryption, the server always verified
//! * [`verdict`]: what is said of a TLS connection that came to nothing
//! * [`channel`]: a connection, plain or encrypted, that knows its process and whether it is
//!   still good
//! * [`kept`]: a connection that is kept from call to call
//! * [`mark`]: by which a reply is known to be the one to this call
//! * [`budget`]: how long a call may take
//! * [`failure`]: why a call came to nothing
//! * [`pause`]: the time, without that in which this process could not run

pub mod budget;
pub mod channel;
pub mod failure;
pub mod kept;
pub mod mark;
mod pause;
mod socket;
pub mod tls;
mod verdict;

/// The time-outs of a store on a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a call on a connection that stands.
    pub call: std::time::Duration,
    /// For making the connection: name, socket, TLS, log-in.
    pub connect: std::time::Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        let [call, connect] = [50, 100].map(std::time::Duration::from_millis);
        Self { call, connect }
    }
}
