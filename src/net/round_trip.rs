//! How long a round trip to a server takes, as this process has measured it.
//!
//! Each connection to the server measures from the first byte that it sends to the first byte of the answer.

use crate::limit::SECOND;
use std::cell::Cell;
use std::time::Duration;

/// The shortest trip is that of two periods of this length, in nanoseconds, so that it follows a route that changes.
const PERIOD: u64 = SECOND;

/// How long a round trip to a server takes. Zero stands for a trip that was not measured.
#[derive(Default)]
pub struct RoundTrip {
    /// How long a trip takes, smoothed, and by how much that differs.
    smoothed: Cell<[Duration; 2]>,
    shortest: Cell<Shortest>,
    /// How long the last connection took: one trip, or less where a proxy takes connections in the server's place.
    connecting: Cell<Duration>,
}

/// The shortest trips of two periods. A period without an answer does not end one, so that an answer that a stall delays after
/// a quiet minute is not taken for a distance.
#[derive(Clone, Copy, Default)]
struct Shortest {
    /// When the current period began, by this host's clock.
    since: u64,
    current: Duration,
    previous: Duration,
}

impl RoundTrip {
    /// How long a trip takes as a rule, as TCP expects an acknowledgement (RFC 6298).
    pub fn expected(&self) -> Duration {
        let [smoothed, deviation] = self.smoothed.get();
        smoothed + 4 * deviation
    }

    /// The shortest trip of the last seconds, so what the network alone takes.
    pub fn shortest(&self) -> Duration {
        let Shortest { current, previous, .. } = self.shortest.get();
        if current.is_zero() { self.connecting.get() } else { current.min(previous) }
    }

    /// Notes that an answer arrived at `now`, by this host's clock, and how long it took.
    pub(super) fn note_answer(&self, took: Duration, now: u64) {
        let [smoothed, deviation] = self.smoothed.get();
        self.smoothed.set(match smoothed {
            Duration::ZERO => [took, took / 2],
            _ => [smoothed * 7 / 8 + took / 8, deviation * 3 / 4 + took.abs_diff(smoothed) / 4],
        });
        let Shortest { since, current, previous } = self.shortest.get();
        self.shortest.set(match now.saturating_sub(since) {
            _ if current.is_zero() => Shortest { since: now, current: took, previous: took },
            ..PERIOD => Shortest { since, current: current.min(took), previous },
            _ => Shortest { since: now, current: took, previous: current },
        });
    }

    /// Notes how long it took to connect.
    pub(super) fn note_connecting(&self, took: Duration) {
        self.connecting.set(took);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn shortest_trip_is_that_of_the_last_two_seconds_in_which_the_server_answered() {
        let trips = RoundTrip::default();
        assert_eq!(trips.shortest(), Duration::ZERO);
        let mut shortest = Vec::new();
        for (seconds, took) in [
            (9.0, 40),
            (9.5, 45),
            (10.2, 41),
            (10.9, 3),
            (11.3, 44),
            (19.0, 106), // after a quiet time
            (19.1, 52),
            (29.0, 53),
        ] {
            trips.note_answer(took * MS, (seconds * SECOND as f64) as u64);
            shortest.push(trips.shortest().as_millis());
        }
        assert_eq!(shortest, [40, 40, 40, 3, 3, 44, 44, 52]);
    }

    #[test]
    fn connection_tells_the_trip_until_an_answer_does() {
        let trips = RoundTrip::default();
        trips.note_connecting(7 * MS);
        assert_eq!((trips.shortest(), trips.expected()), (7 * MS, Duration::ZERO));
        trips.note_answer(40 * MS, 5 * SECOND);
        trips.note_connecting(2 * MS);
        assert_eq!((trips.shortest(), trips.expected()), (40 * MS, 120 * MS));
    }
}
