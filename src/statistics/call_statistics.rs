//! Counts the calls on a limiter.

use super::blocks::BlockedKey;
use super::context::CallContext;
use super::denial_log::{DenialCause, DenialReason};
use super::outcome::Outcome;
use super::statistics::Statistics;
use crate::clock::boot_time;
use crate::error::Result;
use crate::guard::{Event, Report};
use crate::limit::{Limit, Op};
use crate::settings::Settings;
use crate::store::{Answer, Store};

/// What happened in a call beside its answer. Not the report itself: a reference to it would keep it in memory (`make bench`,
/// `check()`).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Incidents {
    has_failed: bool,
    is_busy: bool,
    is_degraded: bool,
    lacked_room: bool,
}

impl Incidents {
    const NONE: Self =
        Self { has_failed: false, is_busy: false, is_degraded: false, lacked_room: false };

    /// Those of a call that a store on this host answered, or that failed there.
    #[inline(always)]
    pub fn of_local<T>(answer: &Result<Answer<T>>) -> Self {
        let lacked_room = answer.as_ref().is_ok_and(|answer| answer.lacked_room);
        Self { has_failed: answer.is_err(), lacked_room, ..Self::NONE }
    }

    fn of<T>(report: &Report<T>) -> Self {
        Self {
            has_failed: report.has_failed,
            is_busy: report.is_busy,
            is_degraded: report.is_degraded(),
            lacked_room: report.lacked_room,
        }
    }
}

/// Counts the calls on a limiter.
pub struct CallStatistics {
    statistics: Statistics,
    settings: Settings,
}

impl CallStatistics {
    /// Counts by `statistics`, by the settings of the limiter.
    pub const fn new(statistics: Statistics, settings: Settings) -> Self {
        Self { statistics, settings }
    }

    /// Counts a call that was accepted.
    #[inline(always)]
    pub fn count_accepted(
        &self,
        context: &CallContext<'_>,
        limit: Option<&Limit>,
        now: impl FnOnce() -> u64,
    ) -> Option<Box<Event>> {
        self.statistics.count(context, limit, Outcome::Accepted, now)
    }

    /// Counts the eviction of a bucket in use.
    #[cold]
    pub fn count_evicted(&self, context: CallContext<'_>) {
        self.count_incident(&context, Outcome::Evicted);
    }

    fn count_incident(&self, context: &CallContext<'_>, outcome: Outcome) {
        // Without the limit no mistake is noticed.
        let _ = self.statistics.count(context, None, outcome, boot_time);
    }

    /// Counts a call by its report, as [`count_call`](Self::count_call) does.
    #[inline(always)]
    #[expect(clippy::too_many_arguments, reason = "those of count_call()")]
    pub fn count<T>(
        &self,
        context: &CallContext<'_>,
        limit: Option<&Limit>,
        op: &Op,
        report: &Report<T>,
        is_accepted: impl FnOnce(&T) -> bool,
        now: impl FnOnce() -> u64,
        cause: impl FnOnce() -> DenialCause,
    ) -> Option<Box<Event>> {
        let accepted = report.answer.as_ref().ok().map(is_accepted);
        self.count_call(context, limit, op, accepted, Incidents::of(report), now, cause)
    }

    /// Counts a call that asked whether to go on, and what happened during any call: the usual cases first, for they are
    /// part of every decision. `now` and `cause` are asked for a denial. Returns the warning of a likely mistake.
    #[inline(always)]
    #[expect(
        clippy::too_many_arguments,
        reason = "a struct of them would lie in memory (make bench)"
    )]
    pub fn count_call(
        &self,
        context: &CallContext<'_>,
        limit: Option<&Limit>,
        op: &Op,
        accepted: Option<bool>,
        incidents: Incidents,
        now: impl FnOnce() -> u64,
        cause: impl FnOnce() -> DenialCause,
    ) -> Option<Box<Event>> {
        match (op, accepted) {
            (Op::Take { .. } | Op::Check, Some(true)) if incidents == Incidents::NONE => {
                self.count_accepted(context, limit, now)
            }
            (Op::Take { .. } | Op::Check, Some(false)) if incidents == Incidents::NONE => {
                self.count_denied(context, limit, now, cause)
            }
            _ => self.count_unusual(*context, limit, op, accepted, incidents, now, cause),
        }
    }

    /// Counts a call that the limit denied.
    #[inline(always)]
    fn count_denied(
        &self,
        context: &CallContext<'_>,
        limit: Option<&Limit>,
        now: impl FnOnce() -> u64,
        cause: impl FnOnce() -> DenialCause,
    ) -> Option<Box<Event>> {
        self.statistics.count_denied(context, limit, &self.settings, now, cause)
    }

    /// Counts what happened in a call on one of several limits that neither was charged nor denied.
    #[cold]
    pub fn count_incidents<T>(&self, context: CallContext<'_>, report: &Report<T>) {
        if report.lacked_room {
            self.count_evicted(context);
        }
        if report.has_failed {
            self.count_failed(&context, report.is_busy);
        }
    }

    fn count_failed(&self, context: &CallContext<'_>, is_busy: bool) {
        let outcome = if is_busy { Outcome::Busy } else { Outcome::Failed };
        self.count_incident(context, outcome);
    }

    #[cold]
    #[inline(never)]
    #[expect(clippy::too_many_arguments, reason = "those of count()")]
    fn count_unusual(
        &self,
        context: CallContext<'_>,
        limit: Option<&Limit>,
        op: &Op,
        accepted: Option<bool>,
        incidents: Incidents,
        now: impl FnOnce() -> u64,
        cause: impl FnOnce() -> DenialCause,
    ) -> Option<Box<Event>> {
        let Incidents { has_failed, is_busy, is_degraded, lacked_room } = incidents;
        if lacked_room {
            self.count_evicted(context);
        }
        let is_counted = match op {
            Op::Peek { .. }
            | Op::Refund { .. }
            | Op::Settle { .. }
            | Op::Reset
            | Op::Block { .. } => false,
            // If another process has made the bucket, the caller makes an ordinary call next.
            Op::Start { .. } => accepted == Some(true),
            _ => true,
        };
        if !is_counted {
            return None;
        }
        // Also counts a call that an open breaker kept from the store, if no policy answered it.
        if has_failed || accepted.is_none() {
            self.count_failed(&context, is_busy);
        }
        if is_degraded {
            self.count_incident(&context, Outcome::Degraded);
        }
        match accepted {
            Some(true) => self.count_accepted(&context, limit, now),
            Some(false) => self.count_denied(&context, limit, now, || match lacked_room {
                true => DenialCause { reason: DenialReason::NoRoom, ..cause() },
                false => cause(),
            }),
            None => None,
        }
    }

    /// Notes for operators until when a key is blocked, or that it was reset.
    #[cold]
    pub fn note_block(&self, key: &BlockedKey<'_>, until: Option<u64>) {
        self.statistics.note_block(key, until, self.settings.track_identifiers);
    }

    /// Returns the warning of a call that probably changes the wrong user's table.
    #[cold]
    pub fn warn_of_other_users(&self, store: &dyn Store) -> Option<Box<Event>> {
        self.statistics.warn_of_other_users(store)
    }
}
