//! Servers that this process does not ask for a while: it could not, or its calls failed while those of other
//! processes were answered; or for whose gate it does not wait, for it has waited in vain.
//!
//! Another process of this host may reach such a server, so the breakers that all share stay closed.

use super::breaker::SHORTEST_SILENCE;
use crate::limit::SECOND;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// The longest pause, in nanoseconds: that of a process that has no descriptor left, no route or no right.
const LONGEST_PAUSE: u64 = SECOND;

/// How many failures in a row no pause follows: a lost packet costs one call, or two if one of the next
/// connection is lost, too.
const WITHOUT_PAUSE: u32 = 2;

/// The first pause, four times as long after each further failure. As long as the silence that the breakers take for
/// an outage, so that the next failure of a process that alone asks the server opens the breaker.
const FIRST_PAUSE: u64 = SHORTEST_SILENCE;

/// The failure in a row beside calls that were answered that is worth a warning: the one after the first pause.
const WORTH_A_WARNING: u32 = WITHOUT_PAUSE + 2;

/// The servers that this process failed to ask, by the store's breakers.
#[derive(Default)]
pub struct LocalFailures {
    /// Without those that the process reached last.
    servers: RefCell<HashMap<u64, Failures>>,
    /// A bit for each server that the process has reached at any time: a store has at most 100.
    reached: Cell<u128>,
}

/// The failures of this process at one server since it last reached it.
#[derive(Clone, Copy, Default)]
struct Failures {
    count: u32,
    has_warned: bool,
    pause: Pause,
}

/// A time in which this process does not ask a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pause {
    /// Its end, in nanoseconds since boot.
    pub until: u64,
    /// Whether others were connecting, and the process has not tried. It may, if it need not wait.
    pub is_waiting: bool,
}

impl LocalFailures {
    /// The pause in which this process must not ask at `now`, or must not wait until it may connect.
    pub fn pause(&self, breaker: u64, now: u64) -> Option<Pause> {
        let all = self.servers.borrow();
        all.get(&breaker).map(|failures| failures.pause).filter(|pause| now < pause.until)
    }

    /// Notes at `now` that this process could not ask. Returns whether that is worth a warning: the first since the
    /// server was last reached is.
    pub fn note_unable(&self, breaker: u64, now: u64) -> bool {
        self.note(breaker, 1, |_| now.saturating_add(LONGEST_PAUSE))
    }

    /// Notes at `now` that a call failed while others were answered. Returns whether so many have failed in a row
    /// that it is worth a warning.
    pub fn note_failed_alone(&self, breaker: u64, now: u64) -> bool {
        self.note(breaker, WORTH_A_WARNING, |before| now.saturating_add(pause_after(before)))
    }

    /// Notes at `now` that this process has waited for others to connect first, in vain. The pauses differ, so that not all
    /// processes wait again at once.
    pub fn note_waiting(&self, breaker: u64, now: u64) {
        let mut all = self.servers.borrow_mut();
        let until = now + FIRST_PAUSE + now % (2 * FIRST_PAUSE);
        all.entry(breaker).or_default().pause = Pause { until, is_waiting: true };
    }

    /// Notes a failure, after which the process must not ask before the time that `until` makes of the number of
    /// failures before it. Returns whether it is the first of at least so many in a row that may give a warning.
    fn note(&self, breaker: u64, worth_a_warning: u32, until: impl FnOnce(u32) -> u64) -> bool {
        let mut all = self.servers.borrow_mut();
        let failures = all.entry(breaker).or_default();
        failures.pause = Pause { until: until(failures.count), is_waiting: false };
        failures.count = failures.count.saturating_add(1);
        let is_due = failures.count >= worth_a_warning && !failures.has_warned;
        failures.has_warned |= is_due;
        is_due
    }

    /// The number of servers that this process must not ask at `now`, for it failed to.
    pub fn count(&self, now: u64) -> usize {
        let is_on = |pause: Pause| now < pause.until && !pause.is_waiting;
        self.servers.borrow().values().filter(|failures| is_on(failures.pause)).count()
    }

    /// Whether this process has reached the server at any time.
    pub fn has_reached(&self, breaker: u64) -> bool {
        self.reached.get() & bit(breaker) != 0
    }

    /// Notes that the server was reached.
    pub fn note_reached(&self, breaker: u64) {
        self.reached.set(self.reached.get() | bit(breaker));
        if !self.servers.borrow().is_empty() {
            self.servers.borrow_mut().remove(&breaker);
        }
    }
}

const fn bit(breaker: u64) -> u128 {
    1 << (breaker % 128)
}

/// The pause after a failure that has so many before it.
fn pause_after(before: u32) -> u64 {
    match before.checked_sub(WITHOUT_PAUSE) {
        None => 0,
        // 4^3 times the first pause is longer than the longest.
        Some(times) => (FIRST_PAUSE << (2 * times.min(3))).min(LONGEST_PAUSE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_failure_is_reported_once_until_the_server_is_reached() {
        let failures = LocalFailures::default();
        assert!(failures.note_unable(1, 5));
        let pause = Pause { until: 5 + LONGEST_PAUSE, is_waiting: false };
        assert_eq!(failures.pause(1, 6), Some(pause));
        assert_eq!((failures.count(6), failures.count(5 + LONGEST_PAUSE)), (1, 0));
        assert_eq!(failures.pause(2, 6), None, "another server");
        assert_eq!(failures.pause(1, 5 + LONGEST_PAUSE), None);
        assert!(!failures.note_unable(1, LONGEST_PAUSE + 5));
        failures.note_reached(1);
        assert_eq!(failures.pause(1, LONGEST_PAUSE + 6), None);
        assert!(failures.note_unable(1, 5));
    }

    #[test]
    fn process_that_cannot_ask_warns_also_after_a_call_that_failed_alone() {
        let failures = LocalFailures::default();
        assert!(!failures.note_failed_alone(1, 5));
        assert!(failures.note_unable(1, 5));
        assert!((0..9).all(|_| !failures.note_failed_alone(1, 5)));
    }

    #[test]
    fn process_whose_calls_fail_alone_asks_less_and_less_often() {
        let failures = LocalFailures::default();
        let mut pauses = Vec::new();
        for time in 1..=8 {
            assert_eq!(failures.note_failed_alone(1, 5), time == WORTH_A_WARNING);
            pauses.push(failures.pause(1, 5).map_or(0, |pause| (pause.until - 5) / 1_000_000));
        }
        assert_eq!(pauses, [0, 0, 40, 160, 640, 1_000, 1_000, 1_000]);
        failures.note_reached(1);
        failures.note_failed_alone(1, 5);
        assert_eq!(failures.pause(1, 5), None);
    }

    #[test]
    fn processes_that_wait_for_others_come_back_at_different_times() {
        let failures = LocalFailures::default();
        let until = |now: u64| {
            failures.note_waiting(1, now);
            assert_eq!(failures.count(now), 0, "it has not failed to ask");
            failures.pause(1, now).filter(|pause| pause.is_waiting).unwrap().until - now
        };
        let pauses: Vec<_> = (0..100).map(|i| until(1_000 * SECOND + i * 7_000_003)).collect();
        let (shortest, longest) = (*pauses.iter().min().unwrap(), *pauses.iter().max().unwrap());
        assert!(shortest >= FIRST_PAUSE && longest < 3 * FIRST_PAUSE);
        assert!(longest - shortest > FIRST_PAUSE);
    }

    #[test]
    fn reached_servers_are_told_apart() {
        let failures = LocalFailures::default();
        failures.note_unable(2, 5);
        for server in [0, 3, 3, 99] {
            failures.note_reached(server);
        }
        let reached = (0..100).filter(|server| failures.has_reached(*server));
        assert_eq!(reached.collect::<Vec<_>>(), [0, 3, 99]);
        assert!(failures.pause(2, 6).is_some(), "a server that was not reached");
    }
}
