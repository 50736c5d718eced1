//! When this process warns of a server that refuses calls.

use crate::limit::SECOND;
use std::cell::RefCell;

/// The time between two warnings of one reason, in nanoseconds: clients may choose the keys that are
/// refused.
const APART: u64 = 60 * SECOND;
/// The most reasons that are told apart.
const MAX_REASONS: usize = 8;

/// The reasons that were warned of, and until when not to again.
#[derive(Default)]
pub struct RefusalWarnings(RefCell<Vec<(String, u64)>>);

impl RefusalWarnings {
    /// Whether to warn of a refusal for this reason at `now`. Then it is taken to be done.
    pub fn is_due(&self, reason: &str, now: u64) -> bool {
        let mut warned = self.0.borrow_mut();
        warned.retain(|(_, until)| now < *until);
        let is_due = warned.len() < MAX_REASONS && !warned.iter().any(|(known, _)| known == reason);
        if is_due {
            warned.push((reason.to_owned(), now + APART));
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
        assert!(warnings.is_due("busy", 0));
        assert!(!warnings.is_due("busy", APART - 1));
        assert!(warnings.is_due("full", 1));
        assert!(warnings.is_due("busy", APART));
        for i in 0..100 {
            warnings.is_due(&i.to_string(), APART);
        }
        assert_eq!(warnings.0.borrow().len(), MAX_REASONS);
    }
}
