//! The answer to one call.

use super::span::{SECOND, Span};

/// The answer to one call, as the limit computed it.
///
/// It holds times, and turns them into the numbers a caller wants only when asked:
/// most callers want nothing but [`accepted`](Self::accepted).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whether the call may go on.
    pub accepted: bool,
    /// When the decision was made, in nanoseconds of the store's clock.
    pub now: u64,
    /// The first moment at which the same call would be accepted: `now` if it was,
    /// [`Decision::NEVER`] if its cost is above the capacity.
    pub retry_at: u64,
    /// When the bucket will be as good as new.
    pub full_at: u64,
    /// What is in the bucket after the call, as the time it took to come; of a window, the hits that
    /// are left. [`Limit::remaining`](super::Limit::remaining) turns it into a number.
    pub available: Span,
    /// How long the caller of `reserve` has to wait, in nanoseconds.
    pub wait: u64,
}

impl Decision {
    /// A `retry_at` that never comes.
    pub const NEVER: u64 = u64::MAX;

    /// Seconds until the same call would be accepted: 0 if it was, infinite if its cost
    /// can never be met.
    pub fn retry_after(&self) -> f64 {
        if self.retry_at == Self::NEVER {
            return f64::INFINITY;
        }
        seconds(self.retry_at.saturating_sub(self.now))
    }

    /// Seconds until the bucket is full, if nobody takes more.
    pub fn reset_after(&self) -> f64 {
        seconds(self.full_at.saturating_sub(self.now))
    }

    /// Seconds to wait before acting on a reservation.
    pub fn wait(&self) -> f64 {
        seconds(self.wait)
    }
}

/// Nanoseconds as seconds, never less than they are: a caller who waits that long must
/// not come too early.
fn seconds(ns: u64) -> f64 {
    let mut seconds = ns as f64 / SECOND as f64;
    // Beyond 2^53 ns (104 days) a quotient may have been rounded down, by an ulp or two.
    while ((seconds * SECOND as f64).round() as u64) < ns {
        seconds = seconds.next_up();
    }
    seconds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::MAX_REFILL;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn seconds_survive_the_way_back(ns in 0..2 * MAX_REFILL) {
            let back = (seconds(ns) * 1e9).round() as u64;
            prop_assert!(back >= ns, "{} came back as {}", ns, back);
            prop_assert!(back - ns <= 64);
            if ns < 1 << 50 { prop_assert_eq!(back, ns); }
        }
    }
}
