//! The time that is left to one call.

use super::pause::{self, Moment};
use super::socket::share;
use super::timeouts::Timeouts;
use std::time::Duration;

/// The time that is left to one call for all it has to do: connect, log in, send, retry.
///
/// It starts with the call's time-out. The first connection adds the time-out for connections, once. Pauses
/// of this process are added, too: see [`pause`].
pub struct Budget {
    timeouts: Timeouts,
    end: Moment,
    connected: bool,
}

impl Budget {
    /// The budget of a call that begins now.
    pub fn start(timeouts: Timeouts) -> Self {
        Self { timeouts, end: pause::start() + timeouts.call, connected: false }
    }

    /// The time-outs that the budget started with.
    pub fn timeouts(&self) -> Timeouts {
        self.timeouts
    }

    /// The deadline of a connection that is opened now.
    pub fn connect_by(&mut self) -> Moment {
        if !self.connected {
            self.connected = true;
            self.end += self.timeouts.connect;
        }
        self.end.min(pause::now() + self.timeouts.connect)
    }

    /// The deadline of a connection to the first of `many` servers that are tried in turn. A silent server
    /// leaves time for the others.
    pub fn connect_one_of_by(&mut self, many: usize) -> Moment {
        share(self.connect_by(), many)
    }

    /// The deadline of the answer to a command that is sent now.
    pub fn answer_by(&self) -> Moment {
        self.end.min(pause::now() + self.timeouts.call)
    }

    /// Whether there is time for another try: an eighth of the call's time-out.
    pub fn is_left(&self) -> bool {
        pause::now() + self.timeouts.call / 8 < self.end
    }

    /// How much time is left.
    pub fn left(&self) -> Duration {
        self.end.left_at(pause::now())
    }

    /// Whether there is time for a round trip that takes so long as a rule.
    pub fn has_time_for(&self, round_trip: Duration) -> bool {
        !self.spare(round_trip).is_zero()
    }

    /// How long a call may still wait before it begins a round trip that takes so long as a rule, and at least an eighth of the call's
    /// time-out. A call that has half of its time may always try, or a slow trip would keep all others from being made.
    pub fn spare(&self, round_trip: Duration) -> Duration {
        let call = self.timeouts.call;
        self.left().saturating_sub(round_trip.max(call / 8).min(call / 2))
    }
}
