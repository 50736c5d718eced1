//! What a limit answers to a call.

use super::op::Op;
use super::span::{SECOND, Span};

/// The answer to one call, as the limit computed it.
///
/// It holds times; methods turn them into the numbers that a caller asks for. Most callers ask for
/// [`is_accepted`](Self::is_accepted) alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whether the call is accepted, and whether the identifier is blocked.
    pub verdict: Verdict,
    /// When the decision was made, in nanoseconds of the store's clock.
    pub now: u64,
    /// Of a denied call, the first moment at which it would be accepted: [`Decision::NEVER`] if its cost is above the capacity. Of an
    /// accepted one `now`, but of a sliding window with hits when the first of them leaves.
    pub retry_at: u64,
    /// When the state expires: the bucket is full, all is forgiven, the window or
    /// the block has ended.
    pub expires_at: u64,
    /// What is left after the call. [`Limit::remaining`](super::Limit::remaining) turns it into a number.
    pub available: Available,
    /// How many tokens or hits the call took.
    pub taken: u64,
    /// How long the caller of `reserve` has to wait, in nanoseconds. For a [`Lease`](Op::Lease) the name of the state.
    pub wait: u64,
}

/// Whether a call is accepted, and whether the identifier is blocked.
///
/// One word instead of two bytes: a decision is copied in words, and the copy of a word that was just written byte by
/// byte waits for the writes (`make bench`, `attempt()`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Verdict {
    /// The limit denies the call.
    Denied = 0,
    /// The call is accepted.
    Accepted = 1,
    /// A block denies the call.
    Blocked = 2,
    /// The call has set the block.
    BlockSet = 3,
}

impl Verdict {
    /// The verdict of a limit.
    #[inline(always)]
    pub const fn of(accepted: bool) -> Self {
        if accepted { Self::Accepted } else { Self::Denied }
    }
}

/// What is left in a bucket or a window. The limit of the decision says which: [`refill_time`](Self::refill_time) is a
/// bucket's, [`count_hits`](Self::count_hits) a window's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Available(Span);

impl Available {
    /// Nothing.
    pub const NOTHING: Self = Self(Span { ns: 0, part: 0 });

    /// In a bucket: what comes back in this time.
    #[inline(always)]
    pub const fn refill(time: Span) -> Self {
        Self(time)
    }

    /// In a window: so many hits.
    #[inline(always)]
    pub const fn hits(hits: u64) -> Self {
        Self(Span::from_ns(hits))
    }

    /// Of a bucket: the time in which it came back.
    #[inline(always)]
    pub const fn refill_time(self) -> Span {
        self.0
    }

    /// Of a window: how many hits.
    #[inline(always)]
    pub const fn count_hits(self) -> u64 {
        self.0.ns
    }
}

impl Decision {
    /// The `retry_at` of a call that can never be accepted.
    pub const NEVER: u64 = u64::MAX;

    /// Whether the call is accepted.
    #[inline(always)]
    pub const fn is_accepted(self) -> bool {
        matches!(self.verdict, Verdict::Accepted | Verdict::BlockSet)
    }

    /// Whether a block denies the call, or was set by it.
    #[inline(always)]
    pub const fn is_blocked(self) -> bool {
        matches!(self.verdict, Verdict::Blocked | Verdict::BlockSet)
    }

    /// The operation that charges a call this cost in place of what it took.
    pub const fn settle(&self, cost: u64) -> Op {
        match self.taken.checked_sub(cost) {
            None | Some(0) => Op::Settle { cost: cost - self.taken, expiry: self.expires_at },
            Some(rest) => Op::Refund { cost: rest, expiry: Some(self.expires_at) },
        }
    }

    /// Seconds until the same call would be accepted: 0 if it is accepted, infinite if its cost is
    /// above the capacity.
    pub fn retry_after(&self) -> f64 {
        if self.is_accepted() {
            return 0.0;
        }
        if self.retry_at == Self::NEVER {
            return f64::INFINITY;
        }
        to_seconds(self.retry_at.saturating_sub(self.now))
    }

    /// Seconds until the bucket is full, if no more is taken.
    pub fn reset_after(&self) -> f64 {
        to_seconds(self.expires_at.saturating_sub(self.now))
    }

    /// Seconds to wait before acting on a reservation.
    pub fn wait(&self) -> f64 {
        to_seconds(self.wait)
    }
}

/// Nanoseconds as seconds, never rounded down: a caller that waits for them is not too early.
fn to_seconds(ns: u64) -> f64 {
    let mut seconds = ns as f64 / SECOND as f64;
    // Beyond 2^53 ns (104 days) the quotient may be rounded down, by an ulp or two.
    while ((seconds * SECOND as f64).round() as u64) < ns {
        seconds = seconds.next_up();
    }
    seconds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bounds::MAX_REFILL;
    use proptest::prelude::*;

    const ACCEPTED: Decision = Decision {
        verdict: Verdict::Accepted,
        now: 5 * SECOND,
        retry_at: 5 * SECOND,
        expires_at: 8 * SECOND,
        available: Available::NOTHING,
        taken: 3,
        wait: SECOND / 2,
    };

    #[test]
    fn times_are_told_in_seconds_from_now() {
        let seconds =
            |decision: Decision| (decision.retry_after(), decision.reset_after(), decision.wait());
        assert_eq!(seconds(ACCEPTED), (0.0, 3.0, 0.5));
        let denied = Decision { verdict: Verdict::Denied, retry_at: 7 * SECOND, ..ACCEPTED };
        assert_eq!(seconds(denied), (2.0, 3.0, 0.5));
        assert_eq!(Decision { retry_at: Decision::NEVER, ..denied }.retry_after(), f64::INFINITY);
    }

    #[test]
    fn block_is_set_or_denies() {
        let is = |verdict| {
            let decision = Decision { verdict, ..ACCEPTED };
            (decision.is_accepted(), decision.is_blocked())
        };
        assert_eq!((is(Verdict::Accepted), is(Verdict::Denied)), ((true, false), (false, false)));
        assert_eq!((is(Verdict::BlockSet), is(Verdict::Blocked)), ((true, true), (false, true)));
    }

    #[test]
    fn call_is_settled_by_what_it_took_too_much_or_too_little() {
        let expiry = 8 * SECOND;
        assert_eq!(ACCEPTED.settle(5), Op::Settle { cost: 2, expiry });
        assert_eq!(ACCEPTED.settle(3), Op::Settle { cost: 0, expiry });
        let refund = Op::Refund { cost: 2, expiry: Some(expiry) };
        assert_eq!(ACCEPTED.settle(1), refund);
    }

    proptest! {
        #[test]
        fn seconds_are_never_less_than_the_nanoseconds(ns in 0..2 * MAX_REFILL) {
            let back = (to_seconds(ns) * 1e9).round() as u64;
            prop_assert!(back >= ns, "{} came back as {}", ns, back);
            prop_assert!(back - ns <= 64);
            if ns < 1 << 50 { prop_assert_eq!(back, ns); }
        }
    }
}
