//! One of several limits of a call.

use super::limiter::Limiter;
use crate::guard::{Event, Guard, NoAnswer, Report, answers_to};
use crate::identifier::Identifier;
use crate::limit::{Limit, Op};
use crate::statistics::{CallContext, Outcome, RecordHandle};
use crate::store::{Answer, Key, KeyHash, Request, Store};
use std::cell::Cell;
use std::rc::Rc;

/// One of several limits, and what a call takes from it.
#[derive(Clone, Copy)]
pub struct Member<'a> {
    /// The store, with its policy.
    pub limiter: &'a Limiter,
    /// The identifier.
    pub identifier: &'a [u8],
    /// The limit's name, if it was given one.
    pub name: Option<&'a [u8]>,
    /// Caches the hash of the key.
    pub key_hash: &'a Cell<KeyHash>,
    /// Caches where calls are counted.
    pub record: &'a Cell<RecordHandle>,
    /// The limit.
    pub limit: &'a Limit,
    /// Tokens or hits.
    pub cost: u64,
    /// So many must be left afterwards.
    pub leave: u64,
    /// Whether the limit does not hold for the client.
    pub is_exempt: bool,
}

impl<'a> Member<'a> {
    /// The context of a call on the limit.
    pub fn context(&self) -> CallContext<'a> {
        let Self { identifier, name, key_hash, record, is_exempt, .. } = *self;
        let identifier = Identifier::Plain(identifier);
        CallContext { identifier, name, key_hash, record, is_exempt }
    }

    #[inline(always)]
    pub(super) fn key(&self) -> Key<'a> {
        self.limiter.plain_key(self.identifier, self.limit, self.key_hash)
    }

    pub(super) fn peek(&self) -> Op {
        self.take().peek()
    }

    pub(super) fn take(&self) -> Op {
        Op::take(self.cost, self.leave)
    }

    /// The guard of the limiter; none for a store on this host.
    #[inline(always)]
    pub(super) fn guard(&self) -> Option<&'a Guard> {
        self.limiter.guard.as_deref()
    }

    /// The guard of the limiter, if it is on this store.
    pub(super) fn guard_on(&self, store: &Rc<dyn Store>) -> Option<&'a Guard> {
        self.guard().filter(|_| Rc::ptr_eq(&self.limiter.store, store))
    }

    pub(super) fn answer_by_policy(
        &self,
        guard: &Guard,
        op: Op,
        now: u64,
        no_answer: &NoAnswer,
    ) -> Report {
        let answer = |request: &Request<'_>| guard.answer_by_policy(no_answer, answers_to(request));
        self.with_request(op, now, answer)
    }

    /// Runs `work` with the request of an operation on the limit.
    #[inline(always)]
    pub(super) fn with_request<R>(
        &self,
        op: Op,
        now: u64,
        work: impl FnOnce(&Request<'_>) -> R,
    ) -> R {
        work(&self.limiter.request(&self.key(), self.limit, &op, now))
    }

    /// Whether the call may go on as far as this limit is concerned.
    pub(super) fn is_admitted_by(&self, report: &Report) -> bool {
        let is_accepted = report.answer.as_ref().is_ok_and(|decision| decision.is_accepted());
        is_accepted || !self.limiter.is_enforced()
    }

    /// Counts a call that took from the limit, or was denied. Returns the warning of a likely mistake.
    #[inline(always)]
    pub(super) fn count(&self, report: &Report, now: u64) -> Option<Box<Event>> {
        self.limiter.count(&self.context(), self.limit, &self.take(), report, now)
    }

    /// Counts a call on the limit if it was charged or denies (`is_decisive`), else what happened beside its answer.
    pub(super) fn count_if(
        &self,
        is_decisive: bool,
        report: &Report,
        now: u64,
    ) -> Option<Box<Event>> {
        if is_decisive {
            return self.count(report, now);
        }
        self.count_incidents(report);
        None
    }

    /// Counts what happened in a call on the limit beside its answer.
    #[cold]
    pub(super) fn count_incidents(&self, report: &Report) {
        self.limiter.calls().add_uncharged(self.context(), report);
    }

    /// Whether a store on this host would accept the call.
    #[inline(always)]
    pub(super) fn would_accept(&self, now: u64) -> bool {
        self.with_request(self.peek(), now, |request| {
            self.limiter.store.accepts(request).is_ok_and(|answer| answer.decision)
        })
    }

    /// Charges the limit on a store on this host. Returns when its state expires, if it accepts.
    #[inline(always)]
    pub(super) fn charge(&self, now: u64) -> Option<u64> {
        let op = self.take();
        let Answer { decision, lacked_room } =
            self.with_request(op, now, |request| self.limiter.store.decide(request)).ok()?;
        if !decision.is_accepted() {
            // The call is made once more, and counted then.
            return None;
        }
        if lacked_room {
            self.limiter.statistics.add_incident(self.context(), Outcome::Evicted);
        }
        Some(decision.expires_at)
    }

    /// Gives back what [`charge`](Self::charge) took.
    #[cold]
    pub(super) fn undo(&self, expires_at: u64, now: u64) {
        let op = Op::Refund { cost: self.cost, expiry: Some(expires_at) };
        // If shared memory can no longer be used, the charge is gone with it.
        let _ = self.with_request(op, now, |request| self.limiter.store.decide(request));
    }
}
