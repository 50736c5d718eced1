//! The numbers of a token bucket, and sums of its times.

use super::bounds::{LONGEST_AHEAD, MAX_CAPACITY, MAX_RATE, MAX_REFILL};
use super::decision::{Available, Decision};
use super::error::LimitError;
use super::interval::Interval;
use super::refills::from_code;
use super::span::Span;

/// A token bucket: holds `capacity` tokens, starts full, refills continuously.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TokenBucket {
    pub(super) capacity: u64,
    /// How many parts a nanosecond has in the two spans: 1 to 2³⁰.
    pub(super) parts: u64,
    /// The time in which one token comes back. Above zero.
    pub(super) interval: Span,
    /// The time in which an empty bucket refills: `capacity` intervals, at most [`MAX_REFILL`].
    pub(super) full: Span,
}

impl TokenBucket {
    /// A bucket of `capacity` tokens that gets `rate` of them back each second.
    ///
    /// # Errors
    ///
    /// The capacity must be within 1 and [`MAX_CAPACITY`]; the rate finite, above zero and at most
    /// [`MAX_RATE`]; a full refill at most [`MAX_REFILL`].
    ///
    /// # Example
    ///
    /// ```
    /// use token_bucket_limit::TokenBucket;
    ///
    /// let limit = TokenBucket::per_second(10, 0.5)?;
    /// assert_eq!(limit.refill_time().ceil(), 20_000_000_000);
    /// # Ok::<(), token_bucket_limit::LimitError>(())
    /// ```
    pub fn per_second(capacity: i64, rate: f64) -> Result<Self, LimitError> {
        let capacity = check_capacity(capacity)?;
        if !(rate.is_finite() && rate > 0.0) {
            return Err(LimitError::Rate);
        }
        if rate > MAX_RATE {
            return Err(LimitError::RateTooHigh);
        }
        // Rates that are too small for the exact arithmetic. `from_interval` has the last word.
        if f64::from(capacity) / rate > MAX_REFILL as f64 / 1e9 * 1.01 {
            return Err(LimitError::RefillTooLong);
        }
        Self::from_interval(capacity, Interval::from_rate(rate))
    }

    /// A bucket of `capacity` tokens that come back evenly over `period` seconds.
    ///
    /// # Errors
    ///
    /// The capacity must be within 1 and [`MAX_CAPACITY`]; the period finite, above zero and at most
    /// [`MAX_REFILL`]; the rate that follows at most [`MAX_RATE`].
    pub fn per_period(capacity: i64, period: f64) -> Result<Self, LimitError> {
        let tokens = check_capacity(capacity)?;
        if !(period.is_finite() && period > 0.0) {
            return Err(LimitError::Interval);
        }
        if f64::from(tokens) / period > MAX_RATE {
            return Err(LimitError::RateTooHigh);
        }
        // Periods that are too long for the exact arithmetic. `from_interval` has the last word.
        if period > MAX_REFILL as f64 / 1e9 * 1.01 {
            return Err(LimitError::Interval);
        }
        // A float below some nanoseconds is too fine for it.
        let interval = match period < 1e-6 {
            true => Interval::from_rate(f64::from(tokens) / period),
            false => Interval::from_period(tokens, period),
        };
        Self::from_interval(tokens, interval)
    }

    /// A bucket of `capacity` tokens that gets one back each nanosecond: a token is a nanosecond, the
    /// unit of storages written in PHP.
    ///
    /// # Errors
    ///
    /// `capacity` must be within 1 and [`MAX_REFILL`].
    pub fn per_nanosecond(capacity: u64) -> Result<Self, LimitError> {
        if capacity == 0 {
            return Err(LimitError::Capacity);
        }
        if capacity > MAX_REFILL {
            return Err(LimitError::RefillTooLong);
        }
        Ok(Self { capacity, parts: 1, interval: Span::from_ns(1), full: Span::from_ns(capacity) })
    }

    /// One token that comes back within a nanosecond, for operations that need no limit.
    pub const SMALLEST: Self =
        Self { capacity: 1, parts: 1, interval: Span::from_ns(1), full: Span::from_ns(1) };

    fn from_interval(capacity: u32, interval: Interval) -> Result<Self, LimitError> {
        let Interval { span, parts } = interval;
        let full = times(span, parts, capacity.into());
        if full.ceil() > MAX_REFILL {
            return Err(LimitError::RefillTooLong);
        }
        Ok(Self { capacity: capacity.into(), parts, interval: span, full })
    }

    /// The tokens that a full bucket holds.
    pub const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The time in which an empty bucket refills.
    pub const fn refill_time(&self) -> Span {
        self.full
    }

    /// How many parts a nanosecond has in the times of this limit.
    pub const fn parts(&self) -> u64 {
        self.parts
    }

    /// As many full refills as this code says, in nanoseconds: how far ahead of an empty bucket a reservation may lie.
    ///
    /// At most 2⁵⁷. Only a reservation on top of the longest debt, under a limit of years, lies further ahead: then some debt of
    /// denied calls is forgiven, never a token taken.
    pub(super) fn refills(&self, code: u8) -> u64 {
        let refills = u128::from(self.full.ceil()) * u128::from(from_code(code));
        refills.min(LONGEST_AHEAD.into()) as u64
    }

    /// The time in which `tokens` come back.
    #[inline(always)]
    pub fn cost_in_time(&self, tokens: u64) -> Span {
        if tokens == 1 {
            return self.interval;
        }
        times(self.interval, self.parts, tokens)
    }

    /// The whole tokens that come back in `span`.
    pub(super) fn tokens_in(&self, span: Span) -> u64 {
        let tokens = if self.parts == 1 {
            span.ns / self.interval.ns.max(1)
        } else {
            // Never wraps: times are below 2^63 ns, and parts at most 2^30.
            let parts = |s: Span| u128::from(s.ns) * u128::from(self.parts) + u128::from(s.part);
            u64::try_from(parts(span) / parts(self.interval).max(1)).unwrap_or(u64::MAX)
        };
        tokens.min(self.capacity)
    }

    /// The tokens that come back in `ns` nanoseconds, and one more if that one has begun to.
    pub fn tokens_begun_in(&self, ns: u64) -> u64 {
        let whole = self.tokens_in(Span::from_ns(ns));
        whole + u64::from(times(self.interval, self.parts, whole) < Span::from_ns(ns))
    }

    /// Nanoseconds until one token more can be used than is left.
    pub(super) fn more_after(&self, decision: &Decision, leave: u64) -> u64 {
        let left = decision.available.refill_time();
        let next = self.cost_in_time(self.tokens_in(left).max(leave) + 1);
        // A bucket that owes is longer from full than an empty one.
        let until_full = decision.expires_at.saturating_sub(decision.now);
        self.sub(next, left).ceil() + until_full.saturating_sub(self.full.ceil())
    }

    /// A decision as it would be on a bucket that holds `tokens` more.
    pub fn with_more(&self, decision: Decision, tokens: u64) -> Decision {
        let time = self.cost_in_time(tokens);
        Decision {
            expires_at: decision.expires_at.saturating_sub(time.ceil()).max(decision.now),
            available: Available::refill(
                self.add(decision.available.refill_time(), time).min(self.full),
            ),
            ..decision
        }
    }

    /// The sum of two times. A part of `a` that another limit wrote is cut to what this one can have.
    #[inline(always)]
    pub(super) fn add(&self, a: Span, b: Span) -> Span {
        let part = a.part.min(self.parts - 1) + b.part;
        let carry = part >= self.parts;
        Span {
            ns: a.ns.saturating_add(b.ns).saturating_add(carry.into()),
            part: if carry { part - self.parts } else { part },
        }
    }

    /// The difference of two times, or zero if `b` is later.
    #[inline(always)]
    pub(super) fn sub(&self, a: Span, b: Span) -> Span {
        if a <= b {
            return Span::default();
        }
        let borrow = a.part < b.part;
        // Never wraps: `a` is later, so it has the nanosecond that is borrowed.
        Span {
            ns: a.ns - b.ns - u64::from(borrow),
            part: if borrow { a.part + self.parts - b.part } else { a.part - b.part },
        }
    }
}

/// `span` `n` times, in `parts` of a nanosecond. Saturates far beyond any valid time.
fn times(span: Span, parts: u64, n: u64) -> Span {
    // Only what is settled or given back can be more than 2^33 tokens of a limit with parts. Cutting it there
    // changes nothing: no bucket and no debt is larger.
    let total = n.min(1 << 33) * span.part;
    let (carry, part) = match parts {
        1 => (total, 0),
        _ => (total / parts, total % parts),
    };
    Span { ns: span.ns.saturating_mul(n).saturating_add(carry).min(1 << 62), part }
}

fn check_capacity(capacity: i64) -> Result<u32, LimitError> {
    u32::try_from(capacity)
        .ok()
        .filter(|c| (1..=MAX_CAPACITY).contains(c))
        .ok_or(LimitError::Capacity)
}
