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

impl Timeouts {
    /// How long a call may wait for other processes of the host that connect.
    pub fn at_gate(&self) -> Duration {
        self.connect / 4
    }

    /// By when a call must be answered that was sent at `sent`, in nanoseconds.
    pub fn due(&self, sent: u64) -> u64 {
        sent.saturating_add(self.call.as_nanos() as u64)
    }

    /// The longest time that a call may take, in nanoseconds.
    pub fn longest(&self) -> u64 {
        (self.at_gate() + self.connect + self.call).as_nanos() as u64
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { call: Duration::from_millis(50), connect: Duration::from_millis(100) }
    }
}
