//! The decision of one limit, and where it was made.

use super::engine::shared_string::SharedString;
use crate::http::{Problem, QuotaPolicy};
use crate::identifier::Identifier;
use crate::limit::{Decision, Limit, Op, SECOND};
use crate::limiter::{DecidedBy, FlaggedDecision, Limiter, infer_name};
use std::rc::Rc;

/// The name of a limit in HTTP fields if its identifier has none: a client's address must not get there.
const UNNAMED: &[u8] = b"default";

/// The decision of one limit, and where it was made.
pub struct LimitDecision {
    pub flagged: FlaggedDecision,
    /// The limit that was applied.
    pub limit: Rc<Limit>,
    pub asked: Asked,
    /// How many tokens or hits each call on the limit leaves: `leave` in the operator's file.
    pub leave: u64,
    pub origin: Origin,
}

/// The tokens or hits that a call asked of a limit.
#[derive(Clone, Copy)]
pub struct Asked {
    /// All that it may use if it goes on without them; 0 of a peek.
    pub most: u64,
    /// As many must be there, beside those that it leaves.
    pub least: u64,
    /// Whether it only looks.
    pub is_peek: bool,
}

impl Asked {
    /// By an operation that leaves nothing.
    pub fn by(op: &Op) -> Self {
        let is_peek = matches!(op, Op::Peek { .. });
        Self { most: if is_peek { 0 } else { op.cost() }, least: op.needs(), is_peek }
    }

    /// By a call that takes `cost`, or by one that looks whether as many are there.
    pub const fn all(cost: u64, is_peek: bool) -> Self {
        Self { most: if is_peek { 0 } else { cost }, least: cost, is_peek }
    }
}

/// Where a decision was made.
pub struct Origin {
    /// None for a storage written in PHP.
    pub limiter: Option<Rc<Limiter>>,
    pub identifier: SharedString,
    /// The name of the limit, if its constructor was given one.
    pub name: Option<SharedString>,
}

/// The name of a limit: the one it was given, or the one that its identifier begins with.
pub fn limit_name<'a>(given: Option<&'a SharedString>, identifier: &'a SharedString) -> &'a [u8] {
    if let Some(name) = given {
        return name.as_bytes();
    }
    let inferred = infer_name(Identifier::Plain(identifier.as_bytes()));
    match inferred.is_whole_identifier || inferred.name.is_empty() {
        true => UNNAMED,
        false => inferred.name,
    }
}

impl LimitDecision {
    /// The decision of the limit, whether it is enforced or not.
    pub fn decided(&self) -> &Decision {
        &self.flagged.decision
    }

    /// The capacity of the limit.
    pub fn capacity(&self) -> i64 {
        // Never wraps: a limit from PHP is below 2^31.
        self.limit.capacity() as i64
    }

    pub fn remaining(&self) -> i64 {
        self.limit.remaining(self.decided()) as i64
    }

    /// Whether the limit does not hold for the client.
    pub fn is_exempt(&self) -> bool {
        self.flagged.flags.decided_by() == DecidedBy::Exemption
    }

    /// How many tokens the caller may use: those that were taken, or all that it asked for if the call goes on
    /// without (dry run, `on_error=open`, a client that is exempt).
    pub fn tokens(&self) -> i64 {
        let decision = self.decided();
        let tokens = match self.flagged.is_admitted() {
            true if decision.is_accepted() && decision.taken > 0 => decision.taken,
            true if self.flagged.flags.is_degraded() || self.is_exempt() => self.asked.most,
            true if !decision.is_accepted() => self.asked.most,
            _ => 0,
        };
        tokens as i64
    }

    pub fn retry_after(&self) -> f64 {
        if self.flagged.is_admitted() { 0.0 } else { self.decided().retry_after() }
    }

    /// How many seconds a reservation has to wait; 0.0 if the limit is not enforced.
    pub fn wait(&self) -> f64 {
        if self.flagged.flags.is_enforced() { self.decided().wait() } else { 0.0 }
    }

    /// How long a reservation has to wait, in nanoseconds; 0 if the limit is not enforced.
    pub fn wait_ns(&self) -> u64 {
        if self.flagged.flags.is_enforced() { self.decided().wait } else { 0 }
    }

    /// The name of the limit.
    pub fn name(&self) -> &[u8] {
        limit_name(self.origin.name.as_ref(), &self.origin.identifier)
    }

    /// Why the limit denies the call.
    pub fn problem(&self) -> Problem {
        let decision = self.decided();
        if decision.is_blocked() {
            return Problem::AbnormalUsage;
        }
        let is_store_down = self.flagged.flags.decided_by() == DecidedBy::Policy;
        // As much is left, so the call was to leave more.
        let is_kept = self.limit.remaining(decision) >= self.asked.least;
        match is_store_down || is_kept {
            true => Problem::ReducedCapacity,
            false => Problem::QuotaExceeded,
        }
    }

    /// What the HTTP fields say of the limit.
    pub fn policy(&self) -> QuotaPolicy<'_> {
        let decision = self.decided();
        let wait = match decision.is_accepted() {
            true => {
                // A window ends less than a microsecond after its interval.
                let end = if let Limit::TokenBucket(_) = *self.limit { 0.0 } else { 1e-6 };
                self.limit.more_after(decision, self.leave) as f64 / 1e9 - end
            }
            false => decision.retry_after(),
        };
        QuotaPolicy {
            name: self.name(),
            quota: self.limit.capacity().saturating_sub(self.leave),
            window: self.limit.window().div_ceil(SECOND).max(1),
            remaining: self.limit.remaining(decision).saturating_sub(self.leave),
            wait: whole_seconds(wait),
        }
    }

    /// Whole seconds until the same call would be accepted, at least 1 if it is denied; `None` for never.
    pub fn retry_after_seconds(&self) -> Option<u64> {
        match self.retry_after() {
            0.0 => Some(0),
            seconds => whole_seconds(seconds),
        }
    }
}

/// Rounds up to whole seconds, at least 1; none for ever.
fn whole_seconds(seconds: f64) -> Option<u64> {
    seconds.is_finite().then(|| seconds.ceil().max(1.0) as u64)
}
