//! How a token bucket decides: the generic cell rate algorithm (GCRA, [ITU-T I.371]).
//!
//! A bucket is kept as the time at which it is full again. A token costs a fixed span of time, so a
//! call that takes `n` tokens moves that time ahead:
//!
//! ```text
//! full_at' = max(full_at, now) + n * interval
//! accepted   if full_at' <= now + capacity * interval
//! ```
//!
//! Waiting lets the time come nearer; no clean-up ever runs. `check` may move it beyond that limit
//! (a debt), and so may `reserve`, which tells the caller how long to wait.
//!
//! [ITU-T I.371]: https://www.itu.int/rec/T-REC-I.371

use super::algorithm::WordAlgorithm;
use super::block;
use super::bounds::MAX_DEBT;
use super::decision::{Available, Decision, Verdict};
use super::op::Op;
use super::reply::Reply;
use super::span::{FRACTION_BITS, GRAIN, Span, ceil_to_grain};
use super::state::{State, max_ahead};
use super::token_bucket::TokenBucket;

impl WordAlgorithm for TokenBucket {
    #[inline(always)]
    fn apply<R: Reply>(&self, state: State, now: u64, op: &Op) -> (R, State) {
        // The usual case has a path of its own, in which the compiler knows the operation and the
        // kind of state, and that no time is from the future.
        if let (&Op::Take { cost }, State::Filling { full_at }) = (op, state) {
            let latest = latest(self, now);
            if full_at <= latest {
                let bucket = Bucket::at(self, State::Filling { full_at }, now, latest);
                let (decision, after) = bucket.take(cost);
                return (R::of(decision), after);
            }
        }
        let (decision, after) = apply_any(self, state, now, op);
        (R::of(decision), after)
    }

    #[inline(always)]
    fn is_from_future(&self, state: State, now: u64) -> bool {
        match state {
            State::Filling { full_at } => full_at > latest(self, now),
            other => earliest_write(self, other) > now,
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
            Op::TakeUpTo { .. } => op.needs() <= self.capacity,
            Op::Check | Op::Settle { .. } | Op::Start { .. } => true,
            Op::Peek { .. } | Op::Refund { .. } | Op::Reset | Op::Block { .. } => false,
        }
    }
}

#[inline(never)]
fn apply_any(limit: &TokenBucket, state: State, now: u64, op: &Op) -> (Decision, State) {
    let op = *op;
    if let Some(decided) = block::decide(state, now, op, limit.capacity) {
        return decided;
    }
    let bucket = Bucket::new(limit, state, now);
    match op {
        Op::Take { cost } => bucket.take(cost),
        Op::TakeUpTo { most, least, leave } => bucket.take_up_to(most, least, leave),
        Op::Peek { cost } => (bucket.peek(cost), state),
        Op::Check => bucket.check(),
        Op::Reserve { cost, max_wait } => bucket.reserve(cost, max_wait),
        Op::Refund { cost, expiry } => bucket.refund(cost, expiry),
        Op::Settle { cost } => bucket.settle(cost),
        // A block was decided on above.
        Op::Reset | Op::Block { .. } => {
            (Bucket::new(limit, State::FULL, now).accept(), State::FULL)
        }
        Op::Start { missing } => bucket.start(missing),
    }
}

/// The earliest time that the clock can have shown when it wrote this state, in nanoseconds,
/// rounded up by less than a microsecond. Meaningless for a state of another limit.
pub fn earliest_write(limit: &TokenBucket, state: State) -> u64 {
    let furthest = match state {
        State::Filling { full_at } => full_at.ceil(),
        State::Reserved { full_at, fraction, ahead } => {
            (full_at + u64::from(fraction > 0)).saturating_sub(max_ahead(ahead))
        }
        State::Overdrawn { forgiven_at, .. } => forgiven_at,
        // Another algorithm's.
        _ => return 0,
    };
    furthest.saturating_sub(limit.full.ns)
}

/// The latest time at which a bucket that owes nothing can be full.
#[inline(always)]
fn latest(limit: &TokenBucket, now: u64) -> Span {
    limit.add(Span::from_ns(now), limit.full)
}

/// Cuts a timestamp from the future to the furthest that this limit allows; `latest` is one full
/// refill from now. A state of another algorithm becomes a full bucket.
#[inline(always)]
fn without_future(state: State, latest: Span) -> State {
    match state {
        State::Filling { full_at } if full_at > latest => State::Filling { full_at: latest },
        State::Reserved { full_at, ahead, .. } if full_at > latest.ceil() + max_ahead(ahead) => {
            State::Reserved { full_at: latest.ceil() + max_ahead(ahead), fraction: 0, ahead }
        }
        State::Overdrawn { forgiven_at, debt } if forgiven_at > ceil_to_grain(latest.ceil()) => {
            State::Overdrawn { forgiven_at: ceil_to_grain(latest.ceil()), debt }
        }
        State::Filling { .. } | State::Reserved { .. } | State::Overdrawn { .. } => state,
        _ => State::FULL,
    }
}

/// When a bucket in this state is full, its debt paid. A debt that is forgiven by `now` counts
/// for nothing.
#[inline(always)]
fn full_at(limit: &TokenBucket, state: State, now: u64) -> Span {
    match state {
        State::Filling { full_at } => limit.add(full_at, Span::default()),
        State::Reserved { full_at, fraction, .. } => {
            // Rounded down, for the fraction was rounded up. Never wraps: 24 bits times at most
            // 2^30.
            let part = (u64::from(fraction) * limit.parts) >> FRACTION_BITS;
            limit.add(Span { ns: full_at, part }, Span::default())
        }
        State::Overdrawn { forgiven_at, debt } if forgiven_at > now => {
            Span::from_ns(forgiven_at + debt.min(MAX_DEBT))
        }
        // A debt that is forgiven, or a state of another algorithm.
        _ => Span::default(),
    }
}

/// A bucket at a moment: a limit, and a state as the clock lets it be.
struct Bucket<'a> {
    limit: &'a TokenBucket,
    now: u64,
    /// The latest time at which a bucket that owes nothing can be full: one full refill from now.
    latest: Span,
    /// The state, without timestamps from the future.
    state: State,
    /// When the bucket is full again; not before now.
    full_at: Span,
}

impl<'a> Bucket<'a> {
    #[inline(always)]
    fn new(limit: &'a TokenBucket, state: State, now: u64) -> Self {
        let latest = latest(limit, now);
        Self::at(limit, without_future(state, latest), now, latest)
    }

    /// `state` has no timestamp from the future.
    #[inline(always)]
    fn at(limit: &'a TokenBucket, state: State, now: u64, latest: Span) -> Self {
        let full_at = full_at(limit, state, now).not_before(now);
        Self { limit, now, latest, state, full_at }
    }

    /// What is in the bucket, as the time in which it came back.
    #[inline(always)]
    fn available(&self) -> Span {
        self.limit.sub(self.latest, self.full_at)
    }

    #[inline(always)]
    fn expires_at(&self) -> u64 {
        self.state.expires_at().max(self.now)
    }

    /// Accepts a call that leaves the bucket as it is.
    #[inline(always)]
    fn accept(&self) -> Decision {
        Decision {
            verdict: Verdict::Accepted,
            now: self.now,
            retry_at: self.now,
            expires_at: self.expires_at(),
            available: Available::refill(self.available()),
            taken: 0,
            wait: 0,
        }
    }

    /// Denies a call until `retry_at` and leaves the bucket as it is.
    #[inline(always)]
    fn deny(&self, retry_at: u64) -> (Decision, State) {
        (Decision { verdict: Verdict::Denied, retry_at, ..self.accept() }, self.state)
    }

    /// Accepts a call that takes `taken` tokens, after which the bucket is full at `full_at`, which is not
    /// after `latest`.
    #[inline(always)]
    fn accept_until(&self, full_at: Span, taken: u64) -> (Decision, State) {
        let decision = Decision {
            verdict: Verdict::Accepted,
            now: self.now,
            retry_at: self.now,
            expires_at: full_at.ceil(),
            available: Available::refill(self.limit.sub(self.latest, full_at)),
            taken,
            wait: 0,
        };
        (decision, State::Filling { full_at })
    }

    /// The first moment at which a call is accepted that would make the bucket full at `full_at`:
    /// one full refill before that, or when all is forgiven.
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
        self.accept_until(full_at, cost)
    }

    #[inline(never)]
    fn take_up_to(&self, most: u64, least: u64, leave: u64) -> (Decision, State) {
        let there = self.limit.tokens_in(self.available()).saturating_sub(leave);
        let cost = most.min(there).max(least);
        match self.take(cost.saturating_add(leave)) {
            (needed, _) if needed.is_accepted() => self.take(cost),
            denied => denied,
        }
    }

    /// The answer of `take`, with the level that the bucket keeps.
    fn peek(&self, cost: u64) -> Decision {
        let Decision { verdict, retry_at, .. } = self.take(cost).0;
        Decision { verdict, retry_at, ..self.accept() }
    }

    #[inline(never)]
    fn check(&self) -> (Decision, State) {
        let full_at = self.limit.add(self.full_at, self.limit.interval);
        if full_at <= self.latest {
            return self.accept_until(full_at, 1);
        }
        // All is forgiven one full refill after this check. Both numbers are rounded up, against
        // the caller.
        let forgiven_at = ceil_to_grain(self.latest.ceil());
        let debt = ceil_to_grain(full_at.ceil().saturating_sub(forgiven_at)).min(MAX_DEBT - GRAIN);
        let state = State::Overdrawn { forgiven_at, debt };
        let charged = Bucket::new(self.limit, state, self.now);
        let retry_at =
            charged.affordable_at(charged.limit.add(charged.full_at, self.limit.interval));
        (Decision { verdict: Verdict::Denied, retry_at, ..charged.accept() }, state)
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
            return self.accept_until(full_at, cost);
        }
        let wait = self.affordable_at(full_at) - self.now;
        let max_wait = max_wait.min(MAX_DEBT);
        if wait > max_wait {
            return self.deny(self.now + wait - max_wait);
        }
        let decision = Decision {
            expires_at: full_at.ceil(),
            available: Available::NOTHING,
            taken: cost,
            wait,
            ..self.accept()
        };
        (decision, self.reserved_until(full_at))
    }

    /// The state of a bucket that is full at `full_at`, which is after `latest`.
    fn reserved_until(&self, full_at: Span) -> State {
        // Never wraps: a part is below 2^30. A fraction that rounds up to a whole nanosecond is
        // carried.
        let fraction = (full_at.part << FRACTION_BITS).div_ceil(self.limit.parts);
        let beyond = self.limit.sub(full_at, self.latest).ceil().max(1);
        State::Reserved {
            full_at: full_at.ns + (fraction >> FRACTION_BITS),
            fraction: (fraction & ((1 << FRACTION_BITS) - 1)) as u32,
            ahead: (u64::BITS - (beyond - 1).leading_zeros()) as u8,
        }
    }

    #[inline(never)]
    fn refund(&self, cost: u64, expiry: Option<u64>) -> (Decision, State) {
        let cost = self.limit.cost_in_time(cost);
        let still_missing = expiry.map(|time| Span::from_ns(time.saturating_sub(self.now)));
        if still_missing == Some(Span::default()) {
            return (Decision { verdict: Verdict::Denied, ..self.accept() }, self.state);
        }
        let floor = Span::from_ns(self.now);
        // An expiry is rounded up, so less than a nanosecond is kept back.
        let (back, kept_back) = match still_missing {
            Some(missing) if missing < cost => (missing, Span::from_ns(1)),
            _ => (cost, Span::default()),
        };
        let full_at = if self.limit.add(floor, back) >= self.full_at {
            floor
        } else {
            self.limit.add(self.limit.sub(self.full_at, back), kept_back)
        };
        let state = if full_at == floor { State::FULL } else { self.state_until(full_at) };
        (Bucket::new(self.limit, state, self.now).accept(), state)
    }

    #[inline(never)]
    fn settle(&self, cost: u64) -> (Decision, State) {
        // What is beyond one capacity below empty is forgotten.
        let furthest = self.limit.add(self.latest, self.limit.full).max(self.full_at);
        let full_at = self.limit.add(self.full_at, self.limit.cost_in_time(cost)).min(furthest);
        if full_at == self.full_at {
            return (self.accept(), self.state);
        }
        let state = self.state_until(full_at);
        (Bucket::new(self.limit, state, self.now).accept(), state)
    }

    /// The state of a bucket that is full at `full_at`. A debt that `check` made stays one, which is forgiven.
    fn state_until(&self, full_at: Span) -> State {
        match self.state {
            _ if full_at <= self.latest => State::Filling { full_at },
            State::Overdrawn { forgiven_at, .. } if forgiven_at > self.now => {
                let debt = ceil_to_grain(full_at.ceil().saturating_sub(forgiven_at));
                State::Overdrawn { forgiven_at, debt: debt.min(MAX_DEBT - GRAIN) }
            }
            _ => self.reserved_until(full_at),
        }
    }

    #[inline(never)]
    fn start(&self, missing: u64) -> (Decision, State) {
        let now = Span::from_ns(self.now);
        if self.full_at > now {
            return self.deny(self.expires_at());
        }
        self.accept_until(self.limit.add(now, Span::from_ns(missing)).min(self.latest), 0)
    }
}

#[cfg(test)]
mod tests;
