//! Servers that this process cannot ask: it has no descriptor left, no route or no right.
//!
//! Another process of this host may reach such a server, so the breakers that all share stay closed.
//! This process pauses before it asks the server again.

use crate::limit::SECOND;
use std::cell::RefCell;
use std::collections::HashMap;

/// The pause after a failure, in nanoseconds.
const PAUSE: u64 = SECOND;

/// When this process may ask a server again, by the store's breakers. A server that it reached last
/// is not in the map.
#[derive(Default)]
pub struct LocalFailures(RefCell<HashMap<u64, u64>>);

impl LocalFailures {
    /// The time before which this process must not ask, if that is later than `now`.
    pub fn denied_until(&self, breaker: u64, now: u64) -> Option<u64> {
        self.0.borrow().get(&breaker).copied().filter(|until| now < *until)
    }

    /// Notes a failure at `now`. Returns whether it is the first since the server was last reached.
    pub fn note(&self, breaker: u64, now: u64) -> bool {
        self.0.borrow_mut().insert(breaker, now.saturating_add(PAUSE)).is_none()
    }

    /// The number of servers that this process must not ask at `now`.
    pub fn count(&self, now: u64) -> usize {
        self.0.borrow().values().filter(|until| now < **until).count()
    }

    /// Notes that the server was reached.
    pub fn clear(&self, breaker: u64) {
        if !self.0.borrow().is_empty() {
            self.0.borrow_mut().remove(&breaker);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_failure_is_reported_once_until_the_server_is_reached() {
        let failures = LocalFailures::default();
        assert!(failures.note(1, 5));
        assert_eq!(failures.denied_until(1, 6), Some(5 + PAUSE));
        assert_eq!((failures.count(6), failures.count(5 + PAUSE)), (1, 0));
        assert_eq!(failures.denied_until(2, 6), None, "another server");
        assert_eq!(failures.denied_until(1, 5 + PAUSE), None);
        assert!(!failures.note(1, PAUSE + 5));
        failures.clear(1);
        assert_eq!(failures.denied_until(1, PAUSE + 6), None);
        assert!(failures.note(1, 5));
    }
}
