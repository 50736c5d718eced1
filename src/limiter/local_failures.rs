//! Servers that this process alone cannot ask: it has no descriptor left, no route, no right.
//!
//! Another process of this host may well reach them, so the breakers that all share stay closed. This
//! process still leaves such a server alone for a while, for a try may take long: a name is looked up
//! without a time-out of ours.

use crate::limit::SECOND;
use std::cell::RefCell;
use std::collections::HashMap;

/// How long a server is left alone at least, in nanoseconds.
const SHORTEST: u64 = SECOND;
/// How many times longer a server is left alone than the failed try took: so a worker spends no more
/// than a tenth of its time on tries.
const SPARING: u64 = 10;

/// When this process may ask again, by the store's circuits; those that it reaches are not in it.
#[derive(Default)]
pub struct LocalFailures(RefCell<HashMap<u64, u64>>);

impl LocalFailures {
    /// Until when not to ask, if that is later than `now`.
    pub fn denied_until(&self, circuit: u64, now: u64) -> Option<u64> {
        self.0.borrow().get(&circuit).copied().filter(|until| now < *until)
    }

    /// Notes that a try that began at `from` failed at `now`; whether that is news.
    pub fn note(&self, circuit: u64, from: u64, now: u64) -> bool {
        let pause = now.saturating_sub(from).saturating_mul(SPARING).max(SHORTEST);
        self.0.borrow_mut().insert(circuit, now.saturating_add(pause)).is_none()
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
    fn failure_is_news_once_until_the_server_is_reached() {
        let failures = LocalFailures::default();
        assert!(failures.note(1, 0, 5));
        assert_eq!(failures.denied_until(1, 6), Some(5 + SHORTEST));
        assert_eq!(failures.denied_until(2, 6), None, "another server");
        assert_eq!(failures.denied_until(1, 5 + SHORTEST), None);
        assert!(!failures.note(1, SHORTEST, SHORTEST + 5));
        failures.clear(1);
        assert_eq!(failures.denied_until(1, SHORTEST + 6), None);
        assert!(failures.note(1, 0, 5));
    }

    #[test]
    fn long_try_is_not_made_again_soon() {
        let failures = LocalFailures::default();
        failures.note(1, 0, 20 * SECOND);
        assert_eq!(failures.denied_until(1, 21 * SECOND), Some(220 * SECOND));
    }
}
