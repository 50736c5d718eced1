//! How far a server is: whether a call can succeed within its time-outs, given the round trips that it needs.
//!
//! A call that cannot succeed is not made, but about one a second is: the route may have become shorter, and no other
//! call would notice. Each process asks once a second of its own. The round trip is the shortest that a process of this host has measured
//! within a minute, on any server of the store: one that waits for its processor measures longer ones.

use crate::error::{Error, ErrorKind};
use crate::limit::SECOND;
use crate::net::Timeouts;
use crate::net::failure::NO_ANSWER;
use std::cell::RefCell;
use std::collections::HashMap;
use std::time::Duration;

/// How far a server is.
#[derive(Debug, Clone, Copy)]
pub struct Distance {
    /// How long a round trip takes at least; zero if none was measured.
    pub round_trip: Duration,
    /// How many round trips the call takes.
    pub trips: u32,
    /// How many round trips it takes to connect.
    pub trips_to_connect: u32,
}

impl Distance {
    /// Whether a call on an open connection takes longer than these time-outs allow.
    pub fn is_too_far(&self, timeouts: Timeouts) -> bool {
        self.round_trip * self.trips > timeouts.call
    }

    /// Why a call on `server` with these time-outs failed, and whether the reason is that its bucket is busy.
    pub fn explain(&self, error: &Error, server: &str, timeouts: Timeouts) -> (String, bool) {
        let reason = error.to_string();
        match (error.kind(), self.advice(timeouts)) {
            (ErrorKind::Busy, None) => (reason, true),
            // Its time was too short.
            (ErrorKind::Busy, Some(advice)) => (format!("{server}: {advice}"), false),
            (ErrorKind::Storage, Some(advice)) if reason.ends_with(NO_ANSWER) => {
                (format!("{reason}; {advice}"), false)
            }
            _ => (reason, false),
        }
    }

    /// What the time-outs must be. None if they allow for what the round trips take and a quarter more.
    pub fn advice(&self, timeouts: Timeouts) -> Option<String> {
        let (call, connect) = (self.at_least(self.trips), self.at_least(self.trips_to_connect));
        let mut parts = Vec::new();
        if call > timeouts.call {
            let (trips, ms) = (in_words(self.trips), call.as_millis());
            parts.push(format!("a call takes {trips}: timeout_ms must be at least {ms}"));
        }
        if connect > timeouts.connect {
            let (trips, ms) = (in_words(self.trips_to_connect), connect.as_millis());
            parts.push(format!(
                "a connection takes {trips}: connect_timeout_ms must be at least {ms}"
            ));
        }
        let round_trip = self.round_trip.as_secs_f64() * 1_000.0;
        (!parts.is_empty())
            .then(|| format!("the round trip is {round_trip:.0} ms, {}", parts.join(", and ")))
    }

    /// The time of so many trips and a quarter more, in whole milliseconds.
    fn at_least(&self, trips: u32) -> Duration {
        let needed = self.round_trip * trips * 5 / 4;
        Duration::from_millis(needed.as_micros().div_ceil(1_000) as u64)
    }
}

fn in_words(number: u32) -> String {
    let words = ["no", "one", "two", "three", "four", "five", "six"];
    words.get(number as usize).map_or_else(|| number.to_string(), |word| (*word).to_owned())
}

/// When this process next asks a server that is too far, by the store's breakers.
#[derive(Default)]
pub struct FarServers(RefCell<HashMap<u64, u64>>);

impl FarServers {
    /// Whether a call on a server that is too far may be made at `now`. If not, when the next one may.
    pub fn may_ask(&self, breaker: u64, now: u64) -> Result<(), u64> {
        let mut all = self.0.borrow_mut();
        let next = all.entry(breaker).or_default();
        if now < *next {
            return Err(*next);
        }
        *next = now.saturating_add(SECOND);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(number: u64) -> Duration {
        Duration::from_millis(number)
    }

    #[test]
    fn advice_names_each_time_out_that_is_too_short_and_is_followed_by_none() {
        let distance = Distance { round_trip: ms(41), trips: 2, trips_to_connect: 3 };
        let advice =
            |call, connect| distance.advice(Timeouts { call: ms(call), connect: ms(connect) });
        let call = "a call takes two: timeout_ms must be at least 103";
        let connect = "a connection takes three: connect_timeout_ms must be at least 154";
        for (timeouts, expected) in [
            ((50, 100), Some(format!("the round trip is 41 ms, {call}, and {connect}"))),
            ((102, 154), Some(format!("the round trip is 41 ms, {call}"))),
            ((103, 153), Some(format!("the round trip is 41 ms, {connect}"))),
            ((103, 154), None),
        ] {
            assert_eq!(advice(timeouts.0, timeouts.1), expected);
        }
        let unknown = Distance { round_trip: ms(0), ..distance };
        assert_eq!(unknown.advice(Timeouts { call: ms(1), connect: ms(1) }), None);
    }

    #[test]
    fn call_is_too_far_if_its_trips_alone_take_longer_than_its_time() {
        let is_too_far = |round_trip, trips| {
            let distance = Distance { round_trip: ms(round_trip), trips, trips_to_connect: 4 };
            let timeouts = Timeouts { call: ms(50), connect: ms(100) };
            distance.is_too_far(timeouts)
        };
        assert_eq!([is_too_far(25, 2), is_too_far(26, 2)], [false, true]);
        assert_eq!([is_too_far(26, 1), is_too_far(0, 99)], [false, false]);
    }

    #[test]
    fn failure_is_explained_by_the_round_trip_if_that_is_too_long() {
        let timeouts = Timeouts { call: ms(50), connect: ms(200) };
        let explain = |round_trip, error: Error| {
            let distance = Distance { round_trip: ms(round_trip), trips: 2, trips_to_connect: 3 };
            distance.explain(&error, "The server", timeouts)
        };
        let advice = "the round trip is 21 ms, a call takes two: timeout_ms must be at least 53";
        let busy = || Error::busy("The server: the bucket is too busy");
        assert_eq!(explain(20, busy()), (busy().into_message(), true));
        assert_eq!(explain(21, busy()), (format!("The server: {advice}"), false));
        let silent = || Error::storage("The server: no answer in time");
        assert_eq!(explain(20, silent()), (silent().into_message(), false));
        let both = format!("The server: no answer in time; {advice}");
        assert_eq!(explain(21, silent()), (both, false));
        for other in [Error::refused("read only"), Error::storage("cannot connect")] {
            assert_eq!(explain(21, other.clone()), (other.into_message(), false));
        }
    }

    #[test]
    fn server_that_is_too_far_is_asked_once_a_second() {
        let far = FarServers::default();
        assert_eq!(far.may_ask(1, 5), Ok(()));
        assert_eq!(far.may_ask(1, 6), Err(SECOND + 5));
        assert_eq!(far.may_ask(2, 6), Ok(()), "another server");
        assert_eq!(far.may_ask(1, SECOND + 5), Ok(()));
        assert_eq!(far.may_ask(1, SECOND + 6), Err(2 * SECOND + 5));
    }
}
