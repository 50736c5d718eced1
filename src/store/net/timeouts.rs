//! The time-outs of a store on servers.

use std::time::Duration;

/// The time-outs of a store on servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For a call on an open connection.
    pub call: Duration,
    /// For opening a connection: name, socket, TLS, login.
    pub connect: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { call: Duration::from_millis(50), connect: Duration::from_millis(100) }
    }
}
