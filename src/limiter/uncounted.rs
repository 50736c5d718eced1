//! Calls that are not counted, or not yet: refunds, and the calls on one of several limits.

use super::flagged_decision::FlaggedDecision;
use super::limiter::Limiter;
use crate::clock::boot_time;
use crate::error::Result;
use crate::guard::Report;
use crate::limit::{Decision, Limit, Op};
use crate::store::{Answer, Request};
use std::cell::Cell;

impl Limiter {
    /// Gives back what a decision took, to where it was taken. The answer is whether anything was given back: not
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
    ) -> Report<Option<bool>> {
        let nothing = || Report::answered(Some(false), flagged.flags.decided_by());
        let FlaggedDecision { decision, flags } = flagged;
        if decision.taken == 0 {
            return nothing();
        }
        let op = match flags.is_by_lease() {
            true => match still_missing(limit, decision) {
                0 => return nothing(),
                cost => Op::Refund { cost, expiry: None },
            },
            false => decision.refund(),
        };
        let key_hash = Cell::default();
        let key = self.plain_key(identifier, limit, &key_hash);
        let request = self.request(&key, limit, &op, frozen.into());
        let on_host = |answer: Result<Answer>| {
            let accepted = |Answer { decision, evicted }: Answer| Answer {
                decision: Some(decision.accepted),
                evicted,
            };
            Report::of_local(answer.map(accepted))
        };
        let refunded = match &self.guard {
            Some(guard) if flags.is_by_host() => on_host(guard.host.decide(&request)),
            Some(guard) => guard.refund(&*self.store, &request, flags.is_by_lease()),
            None => on_host(self.store.decide(&request)),
        };
        // A dry run fails no call.
        refunded.map(|answer| if self.policy.enforce { answer } else { Ok(answer.unwrap_or(None)) })
    }

    /// Makes a call without counting it.
    pub(super) fn decide_uncounted(&self, request: &Request<'_>) -> Report {
        let (store, guard) = self.store_and_guard();
        match guard {
            // Several limits that are charged together have no leases.
            Some(guard) => guard.decide_without_lease(&**store, request, boot_time()),
            None => Report::of_local(store.decide(request)),
        }
    }
}

/// How many of the tokens that a decision took from a lease have not come back by themselves. It expires by this host's
/// clock, which says nothing to a server.
fn still_missing(limit: &Limit, decision: &Decision) -> u64 {
    let Limit::TokenBucket(bucket) = limit else { return 0 };
    let left = decision.expires_at.saturating_sub(boot_time());
    decision.taken.min(bucket.tokens_begun_in(left))
}
