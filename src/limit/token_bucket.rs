//! The token bucket, and the rule of `check`.

use super::Algorithm;
use super::Decision;
use super::interval::Interval;
use super::span::{FRACTION_BITS, GRAIN, MAX_REFILL, Span, ceil_to_grain};
use super::state::State;

/// The largest capacity: 2³¹ − 1.
pub const MAX_CAPACITY: u32 = i32::MAX as u32;

/// The highest refill rate: 10⁹ tokens a second.
pub const MAX_RATE: f64 = 1e9;

/// The longest debt, by `reserve` or by `check`: as long as the longest refill.
const MAX_DEBT: u64 = MAX_REFILL;

/// What to do to a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Take `cost` tokens if they are there, else nothing.
    Take {
        /// Tokens. 0 takes nothing and is accepted.
        cost: u64,
    },
    /// Tell whether `Take` would succeed; change nothing.
    Peek {
        /// Tokens.
        cost: u64,
    },
    /// The registry's rule: take one token whether it is there or not, and be limited
    /// if it was not. A client that keeps coming stays limited; one that is silent for
    /// a whole refill starts afresh.
    Check,
    /// Take `cost` tokens, in advance if need be, unless the wait is above `max_wait`.
    Reserve {
        /// Tokens.
        cost: u64,
        /// Nanoseconds.
        max_wait: u64,
    },
    /// Give `cost` tokens back, never above the capacity.
    Refund {
        /// Tokens.
        cost: u64,
    },
    /// Make the bucket full.
    Reset,
    /// Give a bucket that is full, or unknown, its first level; be denied if it is not.
    Start {
        /// What is missing to a full bucket, in nanoseconds.
        missing: u64,
    },
}

impl Op {
    /// Whether it may be done again where it is not known if it was done. That charges twice at
    /// worst; only what gives tokens back could give too many.
    pub const fn may_repeat(self) -> bool {
        !matches!(self, Self::Refund { .. })
    }
}

/// Why numbers do not make a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// The capacity is below 1 or above [`MAX_CAPACITY`].
    #[error("must be between 1 and {MAX_CAPACITY}")]
    Capacity,
    /// The rate is not finite, or not above zero.
    #[error("must be finite and greater than 0")]
    Rate,
    /// The hits of a window are below 1 or above [`MAX_HITS`](super::MAX_HITS).
    #[error("must be between 1 and {}", super::MAX_HITS)]
    Hits,
    /// The interval or period is not a time, or too long.
    #[error("must be greater than 0 and at most four years, in seconds")]
    Interval,
    /// The rate is above [`MAX_RATE`].
    #[error("must be at most 1000000000")]
    RateTooHigh,
    /// The window is below 1 second.
    #[error("must be greater than 0")]
    Window,
    /// A full refill takes longer than [`MAX_REFILL`].
    #[error("must refill the whole bucket within four years")]
    RefillTooLong,
}

/// A token bucket: holds `capacity` tokens, starts full, refills continuously.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenBucket {
    capacity: u64,
    /// Parts in a nanosecond, for the two spans: 1 to 2³⁰.
    parts: u64,
    /// What one token is worth. Above zero.
    interval: Span,
    /// What a full bucket is worth: `capacity` intervals, at most [`MAX_REFILL`].
    full: Span,
}

impl TokenBucket {
    /// A bucket of `capacity` tokens that gets `rate` of them back each second.
    ///
    /// # Errors
    ///
    /// The capacity must be within 1 and [`MAX_CAPACITY`]; the rate finite, above zero
    /// and at most [`MAX_RATE`]; a full refill at most [`MAX_REFILL`].
    ///
    /// # Example
    ///
    /// ```
    /// use token_bucket::limit::TokenBucket;
    ///
    /// let limit = TokenBucket::per_second(10, 0.5)?;
    /// assert_eq!(limit.refill_time().ceil(), 20_000_000_000);
    /// # Ok::<(), token_bucket::limit::LimitError>(())
    /// ```
    pub fn per_second(capacity: i64, rate: f64) -> Result<Self, LimitError> {
        let capacity = valid_capacity(capacity)?;
        if !(rate.is_finite() && rate > 0.0) {
            return Err(LimitError::Rate);
        }
        if rate > MAX_RATE {
            return Err(LimitError::RateTooHigh);
        }
        // Keeps out the rates too small for the exact arithmetic, which has the last word.
        if f64::from(capacity) / rate > MAX_REFILL as f64 / 1e9 * 1.01 {
            return Err(LimitError::RefillTooLong);
        }
        Self::of(capacity, Interval::of_rate(rate))
    }

    /// A bucket of `limit` tokens that come back evenly over `window` seconds.
    ///
    /// # Errors
    ///
    /// As [`per_second`](Self::per_second), and the window must be at least 1.
    pub fn per_window(limit: i64, window: i64) -> Result<Self, LimitError> {
        let capacity = valid_capacity(limit)?;
        let window = u64::try_from(window).ok().filter(|w| *w > 0).ok_or(LimitError::Window)?;
        if f64::from(capacity) / window as f64 > MAX_RATE {
            return Err(LimitError::RateTooHigh);
        }
        Self::of(capacity, Interval::of_ratio(u128::from(window), u128::from(capacity)))
    }

    fn of(capacity: u32, interval: Interval) -> Result<Self, LimitError> {
        let full = interval.times(capacity.into());
        if full.ceil() > MAX_REFILL {
            return Err(LimitError::RefillTooLong);
        }
        Ok(Self { capacity: capacity.into(), parts: interval.parts, interval: interval.span, full })
    }

    /// A bucket whose tokens are nanoseconds: what the classic storage contract speaks of.
    ///
    /// # Errors
    ///
    /// `full` must be within 1 and [`MAX_REFILL`].
    pub fn of_time(full: u64) -> Result<Self, LimitError> {
        if full == 0 {
            return Err(LimitError::Capacity);
        }
        if full > MAX_REFILL {
            return Err(LimitError::RefillTooLong);
        }
        let (interval, full_span) = (Span::from_ns(1), Span::from_ns(full));
        Ok(Self { capacity: full, parts: 1, interval, full: full_span })
    }

    /// The tokens it holds when full.
    pub const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The time an empty bucket takes to be full.
    pub const fn refill_time(&self) -> Span {
        self.full
    }

    /// What the clock of who wrote this state must have shown at least, in nanoseconds, rounded up
    /// to less than a microsecond more. Under another limit it may be anything.
    pub fn written_at(&self, state: State) -> u64 {
        let furthest = match state {
            State::Filling { full_at } => full_at.ceil(),
            State::Reserved { full_at, fraction, ahead } => {
                (full_at + u64::from(fraction > 0)).saturating_sub(reach(ahead))
            }
            State::Overdrawn { forgiven_at, .. } => forgiven_at,
            State::Window { .. } => return 0,
        };
        furthest.saturating_sub(self.full.ns)
    }

    /// How many parts a nanosecond has in the times of this limit.
    pub const fn parts(&self) -> u64 {
        self.parts
    }

    /// What `tokens` are worth.
    #[inline(always)]
    pub fn cost_in_time(&self, tokens: u64) -> Span {
        if tokens == 1 {
            return self.interval;
        }
        Interval { span: self.interval, parts: self.parts }.times(tokens)
    }

    /// What is left of `from` once `span` is taken, or nothing.
    pub fn less(&self, from: Span, span: Span) -> Span {
        self.sub(from, span)
    }

    /// Whole tokens that come in `span`.
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

    /// The sum of two times; a part of another limit's is cut to what this one knows.
    #[inline(always)]
    fn add(&self, a: Span, b: Span) -> Span {
        let part = a.part.min(self.parts - 1) + b.part;
        let carry = part >= self.parts;
        Span {
            ns: a.ns.saturating_add(b.ns).saturating_add(carry.into()),
            part: if carry { part - self.parts } else { part },
        }
    }

    /// The difference of two times, or nothing where `b` is the later.
    #[inline(always)]
    fn sub(&self, a: Span, b: Span) -> Span {
        if a <= b {
            return Span::default();
        }
        let borrow = a.part < b.part;
        // Never wraps: `a` is the later, so it has the nanosecond that is borrowed.
        Span {
            ns: a.ns - b.ns - u64::from(borrow),
            part: if borrow { a.part + self.parts - b.part } else { a.part - b.part },
        }
    }
}

impl Interval {
    /// The interval `n` times over. Saturates far beyond any valid time.
    fn times(&self, n: u64) -> Span {
        // Only a refund can be of more than 2^33 tokens with parts, and it is cut there: that
        // is more than any bucket holds, and a debt of as many has been cut long before.
        let parts = n.min(1 << 33) * self.span.part;
        let (carry, part) = match self.parts {
            1 => (parts, 0),
            each => (parts / each, parts % each),
        };
        Span { ns: self.span.ns.saturating_mul(n).saturating_add(carry).min(1 << 62), part }
    }
}

/// How far a reservation may reach ahead, in nanoseconds, from the exponent that was kept.
///
/// At most 2⁵⁷, which is more than the longest debt. Beyond that only a reservation can be that is
/// added to such a debt, under a limit of years: then some of the debt is forgiven, which denied
/// calls made, and never a token that was had.
const fn reach(ahead: u8) -> u64 {
    1 << if ahead < 57 { ahead } else { 57 }
}

fn valid_capacity(capacity: i64) -> Result<u32, LimitError> {
    u32::try_from(capacity)
        .ok()
        .filter(|c| (1..=MAX_CAPACITY).contains(c))
        .ok_or(LimitError::Capacity)
}

impl Algorithm for TokenBucket {
    #[inline(always)]
    fn apply(&self, state: State, now: u64, op: Op) -> (Decision, State) {
        // The usual case first, and apart: here the compiler knows the operation and the state.
        if let (Op::Take { cost }, State::Filling { full_at }) = (op, state) {
            return Bucket::new(self, State::Filling { full_at }, now).take(cost);
        }
        apply_any(self, state, now, op)
    }

    #[inline(always)]
    fn is_from_future(&self, state: State, now: u64) -> bool {
        match state {
            State::Filling { full_at } => full_at.ns > now + self.full.ns,
            other => self.written_at(other) > now,
        }
    }

    #[cold]
    fn inherited_state(&self, expires_at: u64, now: u64) -> State {
        let empty = self.add(Span::from_ns(now), self.full);
        State::Filling { full_at: Span::from_ns(expires_at).min(empty) }
    }

    #[cold]
    fn takes(&self, op: Op) -> bool {
        match op {
            Op::Take { cost } | Op::Reserve { cost, .. } => (1..=self.capacity).contains(&cost),
            Op::Check | Op::Start { .. } => true,
            Op::Peek { .. } | Op::Refund { .. } | Op::Reset => false,
        }
    }
}

#[inline(never)]
fn apply_any(limit: &TokenBucket, state: State, now: u64, op: Op) -> (Decision, State) {
    let bucket = Bucket::new(limit, state, now);
    match op {
        Op::Take { cost } => bucket.take(cost),
        Op::Peek { cost } => (bucket.take(cost).0.unless_taken(&bucket), state),
        Op::Check => bucket.check(),
        Op::Reserve { cost, max_wait } => bucket.reserve(cost, max_wait),
        Op::Refund { cost } => bucket.refund(cost),
        Op::Reset => {
            let bucket = Bucket::new(limit, State::FULL, now);
            (bucket.accept(), State::FULL)
        }
        Op::Start { missing } => bucket.start(missing),
    }
}

impl Decision {
    /// The same answer, told of the bucket as it still is.
    fn unless_taken(self, bucket: &Bucket<'_>) -> Self {
        Self { accepted: self.accepted, retry_at: self.retry_at, ..bucket.accept() }
    }
}

/// A bucket at a moment: a limit, and a state read in the light of the clock.
struct Bucket<'a> {
    limit: &'a TokenBucket,
    now: u64,
    /// The latest time at which a bucket that owes nothing can be full.
    latest: Span,
    /// The state, with no time in it that no clock could have written.
    state: State,
    /// When the bucket is full again; not before now.
    full_at: Span,
}

impl<'a> Bucket<'a> {
    #[inline(always)]
    fn new(limit: &'a TokenBucket, state: State, now: u64) -> Self {
        let latest = limit.add(Span::from_ns(now), limit.full);
        let state = match state {
            // Of another limit's making.
            State::Window { .. } => State::FULL,
            State::Filling { full_at } if full_at > latest => State::Filling { full_at: latest },
            State::Reserved { full_at, ahead, .. } if full_at > latest.ceil() + reach(ahead) => {
                State::Reserved { full_at: latest.ceil() + reach(ahead), fraction: 0, ahead }
            }
            State::Overdrawn { forgiven_at, debt }
                if forgiven_at > ceil_to_grain(latest.ceil()) =>
            {
                State::Overdrawn { forgiven_at: ceil_to_grain(latest.ceil()), debt }
            }
            possible => possible,
        };
        let full_at = match state {
            State::Filling { full_at } => limit.add(full_at, Span::default()),
            State::Reserved { full_at, fraction, .. } => {
                // Down, for it was rounded up. Never wraps: 24 bits times at most 2^30.
                let part = (u64::from(fraction) * limit.parts) >> FRACTION_BITS;
                limit.add(Span { ns: full_at, part }, Span::default())
            }
            State::Overdrawn { forgiven_at, .. } if forgiven_at <= now => Span::default(),
            State::Overdrawn { forgiven_at, debt } => {
                Span::from_ns(forgiven_at + debt.min(MAX_DEBT))
            }
            State::Window { .. } => Span::default(),
        };
        Self { limit, now, latest, state, full_at: full_at.max(Span::from_ns(now)) }
    }

    /// What is in the bucket, as the time it took to come.
    #[inline(always)]
    fn available(&self) -> Span {
        self.limit.sub(self.latest, self.full_at)
    }

    /// When the bucket is as good as new.
    #[inline(always)]
    fn expires_at(&self) -> u64 {
        self.state.expires_at().max(self.now)
    }

    /// The answer "go on", of the bucket as it is.
    #[inline(always)]
    fn accept(&self) -> Decision {
        Decision {
            accepted: true,
            now: self.now,
            retry_at: self.now,
            full_at: self.expires_at(),
            available: self.available(),
            wait: 0,
        }
    }

    /// The answer "not before `retry_at`", and the bucket as it is.
    #[inline(always)]
    fn deny(&self, retry_at: u64) -> (Decision, State) {
        (Decision { accepted: false, retry_at, ..self.accept() }, self.state)
    }

    /// The answer "go on", of the bucket once it is full at `full_at`, not after `latest`.
    #[inline(always)]
    fn accept_until(&self, full_at: Span) -> (Decision, State) {
        let decision = Decision {
            accepted: true,
            now: self.now,
            retry_at: self.now,
            full_at: full_at.ceil(),
            available: self.limit.sub(self.latest, full_at),
            wait: 0,
        };
        (decision, State::Filling { full_at })
    }

    /// When a bucket that would be full at `full_at` once charged can be charged: when
    /// that is one full refill away, or when all is forgiven.
    #[inline(always)]
    fn affordable_at(&self, full_at: Span) -> u64 {
        let paid = self.limit.sub(full_at, self.limit.full).ceil();
        match self.state {
            State::Overdrawn { forgiven_at, .. } => paid.min(forgiven_at),
            _ => paid,
        }
    }

    #[inline(always)]
    fn take(&self, cost: u64) -> (Decision, State) {
        if cost == 0 {
            return (self.accept(), self.state);
        }
        if cost > self.limit.capacity {
            return self.deny(Decision::NEVER);
        }
        let full_at = self.limit.add(self.full_at, self.limit.cost_in_time(cost));
        if full_at > self.latest {
            return self.deny(self.affordable_at(full_at));
        }
        self.accept_until(full_at)
    }

    #[inline(never)]
    fn check(&self) -> (Decision, State) {
        let full_at = self.limit.add(self.full_at, self.limit.interval);
        if full_at <= self.latest {
            return self.accept_until(full_at);
        }
        // Forgiven a whole refill after this check; both rounded up, against the caller.
        let forgiven_at = ceil_to_grain(self.latest.ceil());
        let debt = ceil_to_grain(full_at.ceil().saturating_sub(forgiven_at)).min(MAX_DEBT - GRAIN);
        let state = State::Overdrawn { forgiven_at, debt };
        let charged = Bucket::new(self.limit, state, self.now);
        let retry_at =
            charged.affordable_at(charged.limit.add(charged.full_at, self.limit.interval));
        (Decision { accepted: false, retry_at, ..charged.accept() }, state)
    }

    #[inline(never)]
    fn reserve(&self, cost: u64, max_wait: u64) -> (Decision, State) {
        if cost == 0 {
            return (self.accept(), self.state);
        }
        if cost > self.limit.capacity {
            return self.deny(Decision::NEVER);
        }
        let full_at = self.limit.add(self.full_at, self.limit.cost_in_time(cost));
        if full_at <= self.latest {
            return self.accept_until(full_at);
        }
        let wait = self.affordable_at(full_at) - self.now;
        let max_wait = max_wait.min(MAX_DEBT);
        if wait > max_wait {
            return self.deny(self.now + wait - max_wait);
        }
        let decision =
            Decision { full_at: full_at.ceil(), available: Span::default(), wait, ..self.accept() };
        (decision, self.reserved_until(full_at))
    }

    /// The state of a bucket that will be full at `full_at`, which is after `latest`.
    fn reserved_until(&self, full_at: Span) -> State {
        // Never wraps: a part is below 2^30. A fraction that rounds up to a whole nanosecond
        // is one.
        let fraction = (full_at.part << FRACTION_BITS).div_ceil(self.limit.parts);
        let beyond = self.limit.sub(full_at, self.latest).ceil().max(1);
        State::Reserved {
            full_at: full_at.ns + (fraction >> FRACTION_BITS),
            fraction: (fraction & ((1 << FRACTION_BITS) - 1)) as u32,
            ahead: (u64::BITS - (beyond - 1).leading_zeros()) as u8,
        }
    }

    #[inline(never)]
    fn refund(&self, cost: u64) -> (Decision, State) {
        let back = self.limit.cost_in_time(cost);
        let floor = Span::from_ns(self.now);
        let full_at = if self.limit.add(floor, back) >= self.full_at {
            floor
        } else {
            self.limit.sub(self.full_at, back)
        };
        let state = match self.state {
            _ if full_at == floor => State::FULL,
            _ if full_at <= self.latest => State::Filling { full_at },
            State::Overdrawn { forgiven_at, .. } => State::Overdrawn {
                forgiven_at,
                debt: ceil_to_grain(full_at.ceil().saturating_sub(forgiven_at)),
            },
            _ => self.reserved_until(full_at),
        };
        (Bucket::new(self.limit, state, self.now).accept(), state)
    }

    #[inline(never)]
    fn start(&self, missing: u64) -> (Decision, State) {
        if self.full_at > Span::from_ns(self.now) {
            return self.deny(self.expires_at());
        }
        self.accept_until(
            self.limit.add(Span::from_ns(self.now), Span::from_ns(missing)).min(self.latest),
        )
    }
}

#[cfg(test)]
mod tests;
