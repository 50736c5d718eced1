//! How long a call may take.

use super::pause;
use super::socket::share;
use super::timeouts::Timeouts;
use std::time::{Duration, Instant};

/// The time left to a call, whatever it has to do: connect, log in, retry.
///
/// One time-out for the call; a connection that has to be made adds the time for that, once. Time in
/// which this process could not run is added, too: see [`pause`].
pub struct Budget {
    timeouts: Timeouts,
    end: Instant,
    connected: bool,
}

impl Budget {
    /// The budget of a call that begins now.
    pub fn start(timeouts: Timeouts) -> Self {
        Self { timeouts, end: pause::start() + timeouts.call, connected: false }
    }

    /// The time-outs that it was made of.
    pub fn timeouts(&self) -> Timeouts {
        self.timeouts
    }

    /// Until when a connection that is needed now must stand.
    pub fn connect_by(&mut self) -> Instant {
        if !self.connected {
            self.connected = true;
            self.end += self.timeouts.connect;
        }
        self.end.min(pause::now() + self.timeouts.connect)
    }

    /// As [`connect_by`](Self::connect_by), for the first of `many` servers to be tried: who
    /// does not answer must leave time for the others.
    pub fn connect_one_of_by(&mut self, many: usize) -> Instant {
        share(self.connect_by(), many)
    }

    /// Until when the answer to a command sent now must be there.
    pub fn answer_by(&self) -> Instant {
        self.end.min(pause::now() + self.timeouts.call)
    }

    /// Whether there is time for another try: an eighth of what an answer may take.
    pub fn is_left(&self) -> bool {
        pause::now() + self.timeouts.call / 8 < self.end
    }

    /// Notes that the call has waited for something other than a server, for no longer than `at_most`.
    pub fn waited(&self, at_most: Duration) {
        pause::waited(at_most);
    }
}
