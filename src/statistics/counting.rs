//! Counts the calls on a limiter.

use super::context::CallContext;
use super::denial_log::{DenialCause, DenialReason};
use super::records::Outcome;
use super::statistics::Statistics;
use crate::guard::{GuardedCall, Policy};
use crate::limit::{Limit, Op};
use crate::store::Store;

/// How a call ended, for the statistics.
pub struct CallEnd {
    /// None where neither the store nor the policy decided.
    pub accepted: Option<bool>,
    /// Whether the store was asked and failed.
    pub has_failed: bool,
    /// Whether this host or the on-error policy answered in the store's place.
    pub is_degraded: bool,
    /// Whether the store evicted another bucket in use.
    pub has_evicted: bool,
}

impl CallEnd {
    /// How a call on a guarded store ended.
    pub fn new<T>(
        call: &GuardedCall<T>,
        is_accepted: impl FnOnce(&T) -> bool,
        has_evicted: bool,
    ) -> Self {
        Self {
            accepted: call.answer.as_ref().ok().map(is_accepted),
            has_failed: call.has_failed,
            is_degraded: call.answer.is_ok() && call.decided_by.is_degraded(),
            has_evicted,
        }
    }
}

/// Counts the calls on a limiter.
pub struct CallCounts {
    statistics: Statistics,
    policy: Policy,
}

impl CallCounts {
    /// Counts by `statistics`, under the policy of the limiter.
    pub const fn new(statistics: Statistics, policy: Policy) -> Self {
        Self { statistics, policy }
    }

    /// Counts a call that was accepted.
    #[inline(always)]
    pub fn count_accepted(&self, context: &CallContext<'_>, limit: Option<&Limit>) {
        self.statistics.count(context, limit, Outcome::Accepted);
    }

    /// Counts the eviction of a bucket in use.
    #[cold]
    pub fn count_evicted(&self, context: CallContext<'_>) {
        self.statistics.count(&context, None, Outcome::Evicted);
    }

    /// Counts a call on a store on this host: the usual cases first, for they are part of every decision. `now` and
    /// `cause` are asked for a denial.
    #[inline(always)]
    #[expect(
        clippy::too_many_arguments,
        reason = "a struct of them would lie in memory (make bench)"
    )]
    pub fn count_local(
        &self,
        context: &CallContext<'_>,
        limit: Option<&Limit>,
        op: Op,
        accepted: Option<bool>,
        has_evicted: bool,
        now: impl FnOnce() -> u64,
        cause: impl FnOnce() -> DenialCause,
    ) {
        match (op, accepted) {
            (Op::Take { .. } | Op::Check, Some(true)) if !has_evicted => {
                self.count_accepted(context, limit);
            }
            (Op::Take { .. } | Op::Check, Some(false)) if !has_evicted => {
                self.count_denied(context, limit, now, cause);
            }
            _ => {
                let (has_failed, is_degraded) = (accepted.is_none(), false);
                let end = CallEnd { accepted, has_failed, is_degraded, has_evicted };
                self.count(*context, limit, op, &end, now, cause);
            }
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
    ) {
        self.statistics.count_denied(context, limit, &self.policy, now, cause);
    }

    /// Counts what happened in a call on one of several limits that neither was charged nor denied.
    #[cold]
    pub fn count_incidents(&self, context: CallContext<'_>, end: &CallEnd) {
        if end.has_evicted {
            self.count_evicted(context);
        }
        if end.has_failed {
            self.statistics.count(&context, None, Outcome::Failed);
        }
    }

    /// Counts a call that asked whether to go on, and what happened during any call. `now` and `cause` are asked for
    /// a denial.
    #[cold]
    #[inline(never)]
    pub fn count(
        &self,
        context: CallContext<'_>,
        limit: Option<&Limit>,
        op: Op,
        end: &CallEnd,
        now: impl FnOnce() -> u64,
        cause: impl FnOnce() -> DenialCause,
    ) {
        let CallEnd { accepted, has_failed, is_degraded, has_evicted } = *end;
        if has_evicted {
            self.count_evicted(context);
        }
        let is_counted = match op {
            Op::Peek { .. } | Op::Refund { .. } | Op::Reset | Op::Block { .. } => false,
            // If another process has made the bucket, the caller makes an ordinary call next.
            Op::Start { .. } => accepted == Some(true),
            _ => true,
        };
        if !is_counted {
            return;
        }
        // Also counts a call that an open breaker kept from the store, if no policy answered it.
        if has_failed || accepted.is_none() {
            self.statistics.count(&context, None, Outcome::Failed);
        }
        if is_degraded {
            self.statistics.count(&context, None, Outcome::Degraded);
        }
        match accepted {
            Some(true) => self.count_accepted(&context, limit),
            Some(false) => self.count_denied(&context, limit, now, || match has_evicted {
                true => DenialCause { reason: DenialReason::NoRoom, ..cause() },
                false => cause(),
            }),
            None => {}
        }
    }

    /// Notes a call on this store that operators make.
    pub fn note_operator(&self, store: &dyn Store) {
        self.statistics.note_operator(store);
    }

    /// Whether a call has noticed a likely mistake that was not reported yet.
    #[inline(always)]
    pub fn has_warning(&self) -> bool {
        self.statistics.has_warning()
    }

    /// The warning of a likely mistake. Returned once.
    pub fn take_warning(&self) -> Option<String> {
        self.statistics.take_warning()
    }
}
