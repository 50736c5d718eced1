//! What a process does about once a second.

use crate::limit::SECOND;
use std::cell::Cell;

/// When it is next due, in nanoseconds since boot.
#[derive(Default)]
pub(super) struct OnceASecond(Cell<u64>);

impl OnceASecond {
    /// Whether it is due at `now`: then it is not for a second.
    #[inline]
    pub(super) fn is_due(&self, now: u64) -> bool {
        let is_due = now >= self.0.get();
        if is_due {
            self.0.set(now + SECOND);
        }
        is_due
    }
}
