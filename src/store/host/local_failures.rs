//! Servers that this process alone cannot ask: it has no descriptor left, no route, no right.
//!
//! Another process of this host may well reach them, so the breakers that all share stay closed. This
//! process still leaves such a server alone for a while.

use crate::limit::SECOND;
use std::cell::RefCell;
use std::collections::HashMap;

/// How long a server is left alone, in nanoseconds.
const PAUSE: u64 = SECOND;

/// When this process may ask again, by the store's circuits; those that it reaches are not in it.
#[derive(Default)]
pub struct LocalFailures(RefCell<HashMap<u64, u64>>);

impl LocalFailures {
    /// Until when not to ask, if that is later than `now`.
    pub fn denied_until(&self, circuit: u64, now: u64) -> Option<u64> {
        self.0.borrow().get(&circuit).copied().filter(|until| now < *until)
    }

    /// Notes that a try failed at `now`. Returns whether it is the first since the server was reached.
    pub fn note(&self, circuit: u64, now: u64) -> bool {
        self.0.borrow_mut().insert(circuit, now.saturating_add(PAUSE)).is_none()
    }

    /// How many servers this process may not ask at `now`.
    pub fn count(&self, now: u64) -> usize {
        self.0.borrow().values().filter(|until| now < **until).count()
    }

    /// Notes that the server was reached.
    pub fn clear(&self, circuit: u64) {
        if !self.0.borrow().is_empty() {
            self.0.borrow_mut().remove(&circuit);
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
