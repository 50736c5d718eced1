//! How long a call may take.

use super::Timeouts;
use std::time::Instant;

/// The time left to a call, whatever it has to do: connect, log in, retry.
///
/// One time-out for the call; a connection that has to be made adds the time for that, once.
pub struct Budget {
    timeouts: Timeouts,
    end: Instant,
    connected: bool,
}

impl Budget {
    /// The budget of a call that begins now.
    pub fn start(timeouts: Timeouts) -> Self {
        Self { timeouts, end: Instant::now() + timeouts.call, connected: false }
    }

    /// Until when a connection that is needed now must stand.
    pub fn to_connect(&mut self) -> Instant {
        if !self.connected {
            self.connected = true;
            self.end += self.timeouts.connect;
        }
        self.end.min(Instant::now() + self.timeouts.connect)
    }

    /// As [`to_connect`](Self::to_connect), for the first of `many` servers to be tried: who
    /// does not answer must leave time for the others.
    pub fn to_connect_one_of(&mut self, many: usize) -> Instant {
        let (end, now) = (self.to_connect(), Instant::now());
        now + end.saturating_duration_since(now) / u32::try_from(many.max(1)).unwrap_or(u32::MAX)
    }

    /// Until when the answer to a command sent now must be there.
    pub fn to_answer(&self) -> Instant {
        self.end.min(Instant::now() + self.timeouts.call)
    }

    /// Whether there is time for another try.
    pub fn is_left(&self) -> bool {
        Instant::now() < self.end
    }
}
