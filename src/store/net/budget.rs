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
    pub fn connect_by(&mut self) -> Instant {
        if !self.connected {
            self.connected = true;
            self.end += self.timeouts.connect;
        }
        self.end.min(Instant::now() + self.timeouts.connect)
    }

    /// As [`connect_by`](Self::connect_by), for the first of `many` servers to be tried: who
    /// does not answer must leave time for the others.
    pub fn connect_one_of_by(&mut self, many: usize) -> Instant {
        let (end, now) = (self.connect_by(), Instant::now());
        now + end.saturating_duration_since(now) / u32::try_from(many.max(1)).unwrap_or(u32::MAX)
    }

    /// Until when the answer to a command sent now must be there.
    pub fn answer_by(&self) -> Instant {
        self.end.min(Instant::now() + self.timeouts.call)
    }

    /// Whether there is time for another try.
    pub fn is_left(&self) -> bool {
        Instant::now() < self.end
    }
}
