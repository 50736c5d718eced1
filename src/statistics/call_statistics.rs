//! Which outcomes a call has, by its operation, its answer and what happened in it.

use super::context::CallContext;
use super::denial_log::{DenialCause, DenialReason};
use super::outcome::Outcome;
use super::statistics::Statistics;
use crate::error::Result;
use crate::guard::{DecidedBy, Event, Report};
use crate::limit::{Limit, Op};
use crate::settings::Settings;
use crate::store::Answer;

/// What happened in a call beside its answer: a bit for each [`Outcome`]. Not the report itself: a reference to it would
/// keep it in memory (`make bench`, `check()`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Incidents(u8);

impl Incidents {
    /// Nothing happened.
    pub const NONE: Self = Self(0);

    #[inline(always)]
    const fn with(self, outcome: Outcome, has_occurred: bool) -> Self {
        Self(self.0 | (has_occurred as u8) << outcome as u8)
    }

    const fn has(self, outcome: Outcome) -> bool {
        self.0 & 1 << outcome as u8 != 0
    }

    /// Those of a call that a store on this host answered, or that failed there.
    #[inline(always)]
    pub fn of_local<T>(answer: &Result<Answer<T>>) -> Self {
        match answer {
            Ok(answer) => Self::NONE.with(Outcome::Evicted, answer.lacked_room),
            Err(_) => Self::NONE.with(Outcome::Failed, true),
        }
    }

    fn of<T>(report: &Report<T>) -> Self {
        let failure = if report.is_busy { Outcome::Busy } else { Outcome::Failed };
        Self::NONE
            .with(failure, report.has_failed)
            .with(Outcome::Degraded, report.is_degraded())
            .with(Outcome::Evicted, report.lacked_room)
            .with(Outcome::Exempt, report.decided_by == DecidedBy::Exemption)
    }
}

/// Counts the calls on a limiter, by its settings. A copy is passed: a reference to it would keep it in memory (`make bench`,
/// `consume()`).
#[derive(Clone, Copy)]
pub struct CallStatistics<'a> {
    /// Where they are counted.
    pub statistics: &'a Statistics,
    /// The limiter's settings.
    pub settings: &'a Settings,
}

impl CallStatistics<'_> {
    /// Adds a call by its report, as [`add_call`](Self::add_call) does.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "those of add_call()")]
    pub fn add_report<T>(
        self,
        context: &CallContext<'_>,
        limit: Option<&Limit>,
        op: &Op,
        report: &Report<T>,
        is_accepted: impl FnOnce(&T) -> bool,
        now: impl FnOnce() -> u64,
        cause: impl FnOnce() -> DenialCause,
    ) -> Option<Box<Event>> {
        let accepted = report.answer.as_ref().ok().map(is_accepted);
        self.add_call(context, limit, op, accepted, Incidents::of(report), now, cause)
    }

    /// Adds how a call ended that asked whether to go on, and what happened in any call. `now` is asked for a call that is
    /// counted, `cause` for a denial. Returns the warning of a likely mistake.
    #[inline(always)]
    #[expect(
        clippy::too_many_arguments,
        reason = "a struct of them would lie in memory (make bench)"
    )]
    pub fn add_call(
        self,
        context: &CallContext<'_>,
        limit: Option<&Limit>,
        op: &Op,
        accepted: Option<bool>,
        incidents: Incidents,
        now: impl FnOnce() -> u64,
        cause: impl FnOnce() -> DenialCause,
    ) -> Option<Box<Event>> {
        match (op, accepted) {
            // The usual case first, for it is part of every decision.
            (Op::Take { .. } | Op::Check, Some(accepted)) if incidents == Incidents::NONE => {
                self.add_answer(context, limit, accepted, now, cause)
            }
            _ => self.add_unusual(*context, limit, op, accepted, incidents, now, cause),
        }
    }

    #[inline(always)]
    fn add_answer(
        self,
        context: &CallContext<'_>,
        limit: Option<&Limit>,
        accepted: bool,
        now: impl FnOnce() -> u64,
        cause: impl FnOnce() -> DenialCause,
    ) -> Option<Box<Event>> {
        match accepted {
            true => self.statistics.add_outcome(context, limit, Outcome::Accepted, now),
            false => self.statistics.add_denial(context, limit, self.settings, now, cause),
        }
    }

    #[cold]
    #[inline(never)]
    #[expect(clippy::too_many_arguments, reason = "those of add_call()")]
    fn add_unusual(
        self,
        context: CallContext<'_>,
        limit: Option<&Limit>,
        op: &Op,
        accepted: Option<bool>,
        incidents: Incidents,
        now: impl FnOnce() -> u64,
        cause: impl FnOnce() -> DenialCause,
    ) -> Option<Box<Event>> {
        if incidents.has(Outcome::Exempt) {
            if is_counted(op, accepted) {
                self.statistics.add_incident(context, Outcome::Exempt);
            }
            return None;
        }
        let lacked_room = incidents.has(Outcome::Evicted);
        if !is_counted(op, accepted) {
            self.add_incidents(context, Incidents::NONE.with(Outcome::Evicted, lacked_room));
            return None;
        }
        // An open breaker may have kept the call from the store, and no policy answered it.
        let has_failed = accepted.is_none() && !incidents.has(Outcome::Busy);
        self.add_incidents(context, incidents.with(Outcome::Failed, has_failed));
        self.add_answer(&context, limit, accepted?, now, || match lacked_room {
            true => DenialCause { reason: DenialReason::NoRoom, ..cause() },
            false => cause(),
        })
    }

    /// Adds what happened in a call on one of several limits that neither was charged nor denied, for another one decided.
    #[cold]
    pub fn add_uncharged<T>(self, context: CallContext<'_>, report: &Report<T>) {
        self.add_incidents(context, Incidents::of(report));
    }

    fn add_incidents(self, context: CallContext<'_>, incidents: Incidents) {
        let all = [Outcome::Evicted, Outcome::Failed, Outcome::Busy, Outcome::Degraded];
        for outcome in all.into_iter().filter(|outcome| incidents.has(*outcome)) {
            self.statistics.add_incident(context, outcome);
        }
    }
}

/// Whether an operation with this answer asked whether to go on.
fn is_counted(op: &Op, accepted: Option<bool>) -> bool {
    match op {
        Op::Peek { .. } | Op::Refund { .. } | Op::GiveBack { .. } | Op::Settle { .. } => false,
        Op::Reset | Op::Block { .. } => false,
        // If another process has made the bucket, the caller makes an ordinary call next.
        Op::Start { .. } => accepted == Some(true),
        _ => true,
    }
}
