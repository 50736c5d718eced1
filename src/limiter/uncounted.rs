//! Calls that are not counted, or not yet: refunds, and the calls on one of several limits.

use super::flagged_decision::{DecisionFlags, FlaggedDecision};
use super::limiter::{Limiter, decision_of_failed_dry_run};
use crate::clock::boot_time;
use crate::error::Result;
use crate::guard::{DecidedBy, GuardedCall};
use crate::limit::{Decision, Limit, Op};
use crate::statistics::CallEnd;
use crate::store::Request;
use std::cell::Cell;

/// An answer that is not counted yet.
pub(super) struct Uncounted {
    /// The answer, or the error where the policy is to throw.
    pub answer: Result<FlaggedDecision>,
    /// How the call ended.
    pub end: CallEnd,
}

impl Limiter {
    /// Gives back what a decision took, to where it was taken. Returns whether anything was given back: not
    /// if the decision took nothing, if its fixed window has ended or was reset, if the identifier is
    /// blocked, or if the store failed a moment ago and was not asked. None if it was asked and gave no answer.
    ///
    /// # Errors
    ///
    /// Those of [`decide`](Self::decide).
    pub fn refund(
        &self,
        identifier: &[u8],
        limit: &Limit,
        flagged: &FlaggedDecision,
        frozen: Option<u64>,
    ) -> Result<Option<bool>> {
        let FlaggedDecision { decision, flags } = flagged;
        if decision.taken == 0 {
            return Ok(Some(false));
        }
        let op = match flags.is_by_lease() {
            true => match still_missing(limit, decision) {
                0 => return Ok(Some(false)),
                cost => Op::Refund { cost, expiry: None },
            },
            false => decision.refund(),
        };
        let (key_hash, evicted) = (Cell::default(), Cell::new(false));
        let key = self.plain_key(identifier, limit, &key_hash);
        let request = self.request(&key, limit, &op, frozen.into(), &evicted);
        let is_accepted = |decision: Decision| Some(decision.accepted);
        let refunded = match &self.guard {
            Some(guard) if flags.is_by_host() => guard.decide_on_host(&request).map(is_accepted),
            Some(guard) => guard.refund(&*self.store, &request, flags.is_by_lease()),
            None => self.store.decide(&request).map(is_accepted),
        };
        match refunded {
            // A dry run fails no call.
            Err(_) if !self.policy.enforce => Ok(None),
            other => other,
        }
    }

    /// Makes a call without counting it.
    pub(super) fn decide_uncounted(&self, request: &Request<'_>) -> Uncounted {
        let (store, guard) = self.store_and_guard();
        let call = match guard {
            // Several limits that are charged together have no leases.
            Some(guard) => guard.decide_without_lease(&**store, request, boot_time()),
            None => {
                let answer = store.decide(request);
                let has_failed = answer.is_err();
                GuardedCall { answer, has_failed, decided_by: DecidedBy::Store }
            }
        };
        self.uncounted(request, call)
    }

    /// The answer of a call, which is not counted yet.
    pub(super) fn uncounted(&self, request: &Request<'_>, call: GuardedCall) -> Uncounted {
        let end = CallEnd::new(&call, |decision| decision.accepted, request.evicted.get());
        let flags = DecisionFlags::new(call.decided_by, self.policy.enforce);
        let answer = match call.answer {
            Ok(decision) => Ok(FlaggedDecision { decision, flags }),
            Err(error) if self.policy.enforce => Err(error),
            Err(_) => Ok(decision_of_failed_dry_run(request.limit, request.frozen())),
        };
        Uncounted { answer, end }
    }
}

/// How many of the tokens that a decision took from a lease have not come back by themselves. It expires by this host's
/// clock, which says nothing to a server.
fn still_missing(limit: &Limit, decision: &Decision) -> u64 {
    let Limit::TokenBucket(bucket) = limit else { return 0 };
    let left = decision.expires_at.saturating_sub(boot_time());
    decision.taken.min(bucket.tokens_begun_in(left))
}
