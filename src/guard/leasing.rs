//! Decides by tokens that this host has taken from a server ahead (`leases`).
//!
//! Only calls that take tokens from a token bucket, or give some back, have leases. All other calls ask the server, which does
//! not know what hosts still hold; those that change the bucket otherwise end this host's lease.

use super::guard::{Guard, PolicyAnswers, answers_to};
use super::host::Host;
use super::leases::{Fetch, LeaseKey, Step, Taken, is_scarce, level, missing};
use super::report::{DecidedBy, Report};
use crate::clock::boot_time;
use crate::error::Result;
use crate::limit::{Decision, Limit, Op};
use crate::store::{Answer, Request, Store};

impl Guard {
    /// Decides on a call, with a lease. `sent` is the time.
    pub(super) fn decide_with_lease(
        &self,
        store: &dyn Store,
        request: &Request<'_>,
        sent: u64,
    ) -> Report {
        // A test's clock says nothing of leases, which end by this host's clock.
        if request.frozen().is_some() {
            return self.decide_without_lease(store, request, sent);
        }
        let lease =
            |cost: u64| u32::try_from(cost).ok().filter(|cost| (1..=self.lease).contains(cost));
        match *request.op {
            Op::Take { cost } => {
                let step = lease(cost).map(|cost| self.take(request, cost, sent));
                match step {
                    Some(Step::Taken(taken)) => leased(request, cost, taken, sent),
                    Some(Step::Fetch(fetch)) => self.fetch(store, request, &fetch, sent),
                    Some(Step::Ask) | None => self.decide_and_end_if_blocked(store, request, sent),
                }
            }
            Op::Peek { cost } => {
                let available =
                    self.with_lease(request, sent, |lease| lease.available(sent)).flatten();
                match available {
                    Some(held) if (1..=held.rest.into()).contains(&cost) => {
                        leased(request, 0, held, sent)
                    }
                    Some(Taken { rest, .. }) => {
                        let mut report = self.decide_without_lease(store, request, sent);
                        if let Ok(decision) = &mut report.answer
                            && decision.accepted
                        {
                            *decision = with_held(request.limit, *decision, rest);
                        }
                        report
                    }
                    None => self.decide_without_lease(store, request, sent),
                }
            }
            Op::Refund { cost, .. } => match self.give_back_to_lease(request, cost, sent) {
                Some(taken) => leased(request, 0, taken, sent),
                None => self.refund_by_store(store, request, sent, |it| it, answers_to(request)),
            },
            Op::Reset | Op::Block { .. } | Op::Start { .. } => {
                let report = self.decide_without_lease(store, request, sent);
                self.end_lease(request);
                report
            }
            _ => self.decide_without_lease(store, request, sent),
        }
    }

    /// Gives back what a decision took: to the lease that it was taken from, if there is room, else to the store. The
    /// answer is whether anything was given back; none if the store was asked and gave no answer.
    pub fn refund(
        &self,
        store: &dyn Store,
        request: &Request<'_>,
        is_by_lease: bool,
    ) -> Report<Option<bool>> {
        let sent = boot_time();
        if let Op::Refund { cost, .. } = *request.op
            && is_by_lease
            && self.give_back_to_lease(request, cost, sent).is_some()
        {
            return Report::answered(Some(true), DecidedBy::Lease);
        }
        let accepted = |decision: Decision| Some(decision.accepted);
        let none = PolicyAnswers::none();
        let report = self.refund_by_store(store, request, sent, accepted, none);
        let was_asked = report.has_failed;
        report.map(|answer| Ok(answer?.or((!was_asked).then_some(false))))
    }

    /// Puts tokens into the lease. None if there is no room for them.
    fn give_back_to_lease(&self, request: &Request<'_>, cost: u64, now: u64) -> Option<Taken> {
        let limit = request.limit;
        let missing = |full_at| missing(limit, &level(limit, full_at, now));
        self.with_lease(request, now, |lease| lease.give_back(cost, now, missing))?
    }

    /// Gives tokens back to the store. The lease keeps no more than then fits into the bucket.
    fn refund_by_store<T>(
        &self,
        store: &dyn Store,
        request: &Request<'_>,
        sent: u64,
        keep: impl FnOnce(Decision) -> T,
        answers: PolicyAnswers<T, impl FnOnce(&Host) -> Result<Answer<T>>>,
    ) -> Report<T> {
        let mut refunded = None;
        let keep = |decision| {
            refunded = Some(decision);
            keep(decision)
        };
        let report = self.decide_by_store(store, request, sent, keep, answers);
        if self.lease == 0 || request.frozen().is_some() {
            return report;
        }
        match refunded {
            Some(decision) if !decision.is_blocked => {
                let missing = missing(request.limit, &decision);
                let full_at = sent + (decision.expires_at - decision.now);
                self.with_lease(request, sent, |lease| lease.note_refund(missing, full_at));
            }
            None if !report.has_failed => {}
            // It may have been done, so it is not known what still fits into the bucket.
            _ => self.end_lease(request),
        }
        report
    }

    fn take(&self, request: &Request<'_>, cost: u32, now: u64) -> Step {
        let longest = request.timeouts.longest();
        self.with_lease(request, now, |lease| lease.take(cost, now, longest)).unwrap_or(Step::Ask)
    }

    /// Asks the server for the tokens of a call, and for a batch. First gives it back what is left of the last batch.
    #[cold]
    fn fetch(&self, store: &dyn Store, request: &Request<'_>, fetch: &Fetch, sent: u64) -> Report {
        let mut event = None;
        if fetch.left_over > 0 {
            let op = Op::Refund { cost: fetch.left_over.into(), expiry: None };
            let (request, none) = (Request { op: &op, ..*request }, PolicyAnswers::none());
            // If the server does not answer, these tokens are lost to the client.
            event = self.decide_by_store(store, &request, sent, Some, none).event;
        }
        let give_up = || self.with_lease(request, boot_time(), |lease| lease.give_up(fetch));
        if let Some(denial) = self.known_denial(request, sent) {
            give_up();
            return Report::answered(denial, DecidedBy::DenyCache).after(event);
        }
        let cost = request.op.cost();
        let op = fetch.op(request.limit, cost, sent);
        let (asked, batch) = (boot_time(), Request { op: &op, ..*request });
        let mut report =
            self.decide_by_store(store, &batch, asked, |it| it, answers_to(request)).after(event);
        match (report.decided_by, &mut report.answer) {
            (DecidedBy::Store, Ok(decision)) if decision.accepted => {
                // Fits: a batch is at most MAX_LEASE.
                let tokens = decision.taken.saturating_sub(cost) as u32;
                let full_at = asked + (decision.expires_at - decision.now);
                let is_scarce = is_scarce(request.limit, decision);
                let now = boot_time();
                self.with_lease(request, now, |lease| {
                    lease.put(fetch, tokens, full_at, is_scarce, asked, now);
                });
                let held = with_held(request.limit, *decision, tokens);
                *decision = Decision { taken: cost, ..held };
            }
            _ => {
                give_up();
            }
        }
        report
    }

    /// Decides without a lease, and ends it if another host has blocked the bucket.
    fn decide_and_end_if_blocked(
        &self,
        store: &dyn Store,
        request: &Request<'_>,
        sent: u64,
    ) -> Report {
        let report = self.decide_without_lease(store, request, sent);
        if report.answer.as_ref().is_ok_and(|decision| decision.is_blocked) {
            self.end_lease(request);
        }
        report
    }

    fn end_lease(&self, request: &Request<'_>) {
        let now = boot_time();
        self.with_lease(request, now, |lease| lease.end(now));
    }

    /// Runs `work` on the lease of the request's bucket at `now`.
    fn with_lease<R>(
        &self,
        request: &Request<'_>,
        now: u64,
        work: impl FnOnce(&LeaseKey<'_>) -> R,
    ) -> Option<R> {
        self.host.with_lease(request.key, request.limit, self.lease, now, work)
    }
}

/// The decision on a call that takes `cost` tokens from a lease at `now`. Where it is not known when the bucket on the
/// server is full, it counts as empty, and nothing can be given back.
fn leased(request: &Request<'_>, cost: u64, taken: Taken, now: u64) -> Report {
    let full_at = taken.full_at.unwrap_or_else(|| match request.limit {
        Limit::TokenBucket(bucket) => now + bucket.refill_time().ceil(),
        _ => now,
    });
    let decision = with_held(request.limit, level(request.limit, full_at, now), taken.rest);
    let expires_at = taken.full_at.map_or(now, |_| decision.expires_at);
    let decision = Decision { taken: cost, expires_at, ..decision };
    Report::answered(decision, DecidedBy::Lease)
}

/// The decision of a server, with what this host holds of the bucket.
fn with_held(limit: &Limit, decision: Decision, tokens: u32) -> Decision {
    match limit {
        Limit::TokenBucket(bucket) => bucket.with_more(decision, tokens.into()),
        _ => decision,
    }
}
