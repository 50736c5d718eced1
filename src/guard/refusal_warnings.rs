//! When this process warns that a server refuses calls.

use crate::limit::SECOND;
use std::cell::RefCell;

/// The time between two warnings of one reason, in nanoseconds. Clients may choose the keys that are
/// refused, so a warning for each would fill the log.
const INTERVAL: u64 = 60 * SECOND;
/// The most reasons that are warned of within that time.
const MAX_REASONS: usize = 8;

/// The reasons that this process has warned of, and when it may warn of each again.
#[derive(Default)]
pub struct RefusalWarnings(RefCell<Vec<(String, u64)>>);

impl RefusalWarnings {
    /// Whether to warn of a refusal for this reason at `now`. If so, the warning counts as given.
    pub fn claim(&self, reason: &str, now: u64) -> bool {
        let mut warned = self.0.borrow_mut();
        warned.retain(|(_, until)| now < *until);
        let is_due = warned.len() < MAX_REASONS && !warned.iter().any(|(known, _)| known == reason);
        if is_due {
            warned.push((reason.to_owned(), now + INTERVAL));
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reason_is_warned_of_once_a_minute() {
        let warnings = RefusalWarnings::default();
        assert!(warnings.claim("busy", 0));
        assert!(!warnings.claim("busy", 60 * SECOND - 1));
        assert!(warnings.claim("full", 1));
        assert!(warnings.claim("busy", 60 * SECOND));
        for i in 0..100 {
            warnings.claim(&i.to_string(), INTERVAL);
        }
        assert_eq!(warnings.0.borrow().len(), MAX_REASONS);
    }
}
