//! A store with all that applies to every key in it.

use super::flagged_decision::{DecidedBy, DecisionFlags, FlaggedDecision};
use super::guard::{Guard, GuardedCall};
use super::identifier::{CallContext, Identifier, client_key, needs_escape};
use super::settings::{Policy, Settings};
use super::statistics::Statistics;
use crate::clock::boot_time;
use crate::dsn::Dsn;
use crate::error::Result;
use crate::limit::{Decision, Limit, Op, State, apply};
use crate::store::counters::Outcome;
use crate::store::{FromDecision, Key, KeyHash, LimitKind, Request, Store, Stores, Time, Timeouts};
use std::cell::Cell;
use std::rc::Rc;

/// The default of `token_bucket.prefix`.
pub const DEFAULT_PREFIX: &[u8] = b"tb:";

/// A store with all that applies to every key in it: prefix, time-outs, policy and statistics.
///
/// A store on this host decides by itself. A [`Guard`] stands before a store on servers and knows what to
/// do while they fail.
pub struct Limiter {
    store: Rc<dyn Store>,
    timeouts: Timeouts,
    prefix: Vec<u8>,
    /// None for a store on this host.
    guard: Option<Box<Guard>>,
    policy: Policy,
    statistics: Statistics,
}

/// How a call ended, for the statistics.
pub(super) struct CallEnd {
    /// None where neither the store nor the policy decided.
    pub accepted: Option<bool>,
    pub has_failed: bool,
    pub is_degraded: bool,
    pub has_evicted: bool,
}

/// An answer that is not counted yet.
pub(super) struct Uncounted {
    /// The answer, or the error where the policy is to throw.
    pub answer: Result<FlaggedDecision>,
    /// How the call ended.
    pub end: CallEnd,
}

impl Limiter {
    /// Makes the limiter on the store of `dsn`, which is one of `stores`. The DSN overrides `prefix` and
    /// `settings`.
    ///
    /// Opens nothing: the first decision does, in the process that makes it.
    pub fn new(
        dsn: &Dsn,
        prefix: &[u8],
        settings: &Settings,
        stores: &Stores,
        statistics: Statistics,
    ) -> Self {
        let opened = stores.get(&dsn.target, &settings.store.files);
        let policy = settings.policy.overridden_by(&dsn.options);
        let guard = opened.host.map(|host| Box::new(Guard::new(host, policy)));
        let needs_prefix = dsn.target.needs_prefix();
        if !needs_prefix && dsn.options.prefix.is_none() && prefix != DEFAULT_PREFIX {
            guard.iter().for_each(|guard| guard.warn_of_ignored_prefix());
        }
        let prefix = if needs_prefix { prefix } else { b"" };
        Self {
            store: opened.store,
            timeouts: settings.store.timeouts_under(&dsn.options),
            prefix: dsn.options.prefix.clone().unwrap_or_else(|| prefix.to_vec()),
            guard,
            policy,
            statistics,
        }
    }

    /// Decides on one call and counts it. `frozen` is the time of a test's clock.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`](crate::error::Error::Storage) if the store failed and the on-error policy is to
    /// throw.
    #[inline]
    pub fn decide(
        &self,
        context: &CallContext<'_>,
        limit: &Limit,
        op: &Op,
        frozen: Option<u64>,
    ) -> Result<FlaggedDecision> {
        let ask = |store: &dyn Store, request: &Request<'_>| store.decide(request);
        let enforced = self.policy.enforce;
        match self.call(context, limit, op, frozen, ask) {
            Ok((decision, decided_by)) => {
                let flags = DecisionFlags::new(decided_by, enforced);
                Ok(FlaggedDecision { decision, flags })
            }
            Err(error) if enforced => Err(error),
            Err(_) => Ok(decision_of_failed_dry_run(limit, frozen)),
        }
    }

    /// Gives back what a decision took, to where it was taken. Returns whether anything was given back: not
    /// if the decision took nothing, if its fixed window has ended or was reset, if the identifier is
    /// blocked, or if the store does not answer.
    ///
    /// # Errors
    ///
    /// Those of [`decide`](Self::decide).
    pub fn refund(
        &self,
        context: &CallContext<'_>,
        limit: &Limit,
        flagged: &FlaggedDecision,
        frozen: Option<u64>,
    ) -> Result<bool> {
        let FlaggedDecision { decision, flags } = flagged;
        if decision.taken == 0 {
            return Ok(false);
        }
        let op = limit.refund_of(decision.taken, decision.full_at);
        let (escaped, evicted) = (escape(context), Cell::new(false));
        let key = match &escaped {
            Some(escaped) => self.plain_key(escaped, limit, context.key_hash),
            None => self.key(context, limit),
        };
        let request = self.request(&key, limit, &op, frozen.into(), &evicted);
        let refunded = match &self.guard {
            Some(guard) if flags.is_by_host() => Some(guard.decide_on_host(&request)?),
            Some(guard) => guard.decide_only_by_store(&*self.store, &request)?,
            None => Some(self.store.decide(&request)?),
        };
        Ok(refunded.is_some_and(|decision| decision.accepted))
    }

    /// Makes a call without counting it.
    pub(super) fn decide_uncounted(
        &self,
        context: &CallContext<'_>,
        limit: &Limit,
        op: &Op,
        frozen: Option<u64>,
    ) -> Uncounted {
        let (escaped, evicted) = (escape(context), Cell::new(false));
        let key = match &escaped {
            Some(escaped) => self.plain_key(escaped, limit, context.key_hash),
            None => self.key(context, limit),
        };
        let request = self.request(&key, limit, op, frozen.into(), &evicted);
        let call = match &self.guard {
            Some(guard) => guard.decide(&*self.store, &request),
            None => {
                let decision = self.store.decide(&request);
                let has_failed = decision.is_err();
                GuardedCall { decision, has_failed, decided_by: DecidedBy::Store }
            }
        };
        self.uncounted(&request, call)
    }

    /// The answer of a call, which is not counted yet.
    pub(super) fn uncounted(&self, request: &Request<'_>, call: GuardedCall) -> Uncounted {
        let GuardedCall { decision, has_failed, decided_by } = call;
        let end = CallEnd {
            accepted: decision.as_ref().ok().map(|decision| decision.accepted),
            has_failed,
            is_degraded: decision.is_ok() && decided_by != DecidedBy::Store,
            has_evicted: request.evicted.get(),
        };
        let flags = DecisionFlags::new(decided_by, self.policy.enforce);
        let answer = match decision {
            Ok(decision) => Ok(FlaggedDecision { decision, flags }),
            Err(error) if self.policy.enforce => Err(error),
            Err(_) => Ok(decision_of_failed_dry_run(request.limit, request.frozen())),
        };
        Uncounted { answer, end }
    }

    /// The store, and its guard if it is on servers.
    pub(super) fn store(&self) -> (&Rc<dyn Store>, Option<&Guard>) {
        (&self.store, self.guard.as_deref())
    }

    /// Whether a denial denies.
    pub(super) const fn is_enforced(&self) -> bool {
        self.policy.enforce
    }

    /// Whether an identifier names the same bucket for both limiters, under limits of one kind.
    pub fn shares_buckets_with(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.store, &other.store) && self.prefix == other.prefix
    }

    /// Decides on one call and counts it, and returns no more than whether the call may go on.
    ///
    /// # Errors
    ///
    /// Those of [`decide`](Self::decide).
    #[inline(always)]
    pub fn admits(
        &self,
        context: &CallContext<'_>,
        limit: &Limit,
        op: &Op,
        frozen: Option<u64>,
    ) -> Result<bool> {
        let ask = |store: &dyn Store, request: &Request<'_>| store.admits(request);
        match self.call(context, limit, op, frozen, ask) {
            Ok((accepted, _)) => Ok(accepted || !self.policy.enforce),
            Err(_) if !self.policy.enforce => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Makes a call on the store and counts it. Returns the answer, and what decided.
    #[inline(always)]
    fn call<A: FromDecision>(
        &self,
        context: &CallContext<'_>,
        limit: &Limit,
        op: &Op,
        frozen: Option<u64>,
        ask: impl FnOnce(&dyn Store, &Request<'_>) -> Result<A>,
    ) -> Result<(A, DecidedBy)> {
        let (escaped, evicted) = (escape(context), Cell::new(false));
        let key = match &escaped {
            Some(escaped) => self.plain_key(escaped, limit, context.key_hash),
            None => self.key(context, limit),
        };
        let request = self.request(&key, limit, op, frozen.into(), &evicted);
        let Some(guard) = &self.guard else {
            let answer = ask(&*self.store, &request);
            let accepted = answer.as_ref().ok().map(A::is_accepted);
            self.count_local(context, *op, accepted, evicted.get());
            return answer.map(|answer| (answer, DecidedBy::Store));
        };
        let call = guard.decide(&*self.store, &request);
        let end = CallEnd {
            accepted: call.decision.as_ref().ok().map(|decision| decision.accepted),
            has_failed: call.has_failed,
            is_degraded: call.decision.is_ok() && call.decided_by != DecidedBy::Store,
            has_evicted: evicted.get(),
        };
        self.count(*context, *op, &end);
        Ok((A::from(call.decision?), call.decided_by))
    }

    /// The key of a call whose name needs no escape.
    #[inline(always)]
    fn key<'a>(&'a self, context: &CallContext<'a>, limit: &Limit) -> Key<'a> {
        let prefix = self.prefix.as_slice();
        let parts: [&[u8]; 4] = match context.identifier {
            Identifier::Plain(identifier) => [prefix, identifier, b"", b""],
            Identifier::Client { name, id } => [prefix, name, b":", id],
        };
        Key { parts, kind: LimitKind::from(limit), key_hash: context.key_hash }
    }

    /// The key of an identifier that needs no escape.
    #[inline(always)]
    pub(super) fn plain_key<'a>(
        &'a self,
        identifier: &'a [u8],
        limit: &Limit,
        key_hash: &'a Cell<KeyHash>,
    ) -> Key<'a> {
        let parts: [&[u8]; 4] = [&self.prefix, identifier, b"", b""];
        Key { parts, kind: LimitKind::from(limit), key_hash }
    }

    /// The request of a call on a key.
    #[inline(always)]
    pub(super) fn request<'a>(
        &'a self,
        key: &'a Key<'a>,
        limit: &'a Limit,
        op: &'a Op,
        time: Time,
        evicted: &'a Cell<bool>,
    ) -> Request<'a> {
        Request { key, limit, op, time, timeouts: &self.timeouts, evicted }
    }

    /// Counts a call that was accepted.
    #[inline(always)]
    pub(super) fn count_accepted(&self, context: &CallContext<'_>) {
        self.statistics.count(context, Outcome::Accepted, false);
    }

    /// Counts the eviction of a bucket in use.
    #[cold]
    pub(super) fn count_evicted(&self, context: CallContext<'_>) {
        self.statistics.count(&context, Outcome::Evicted, false);
    }

    /// Counts a call on a store on this host: the usual case first, for it is part of every decision.
    #[inline(always)]
    fn count_local(
        &self,
        context: &CallContext<'_>,
        op: Op,
        accepted: Option<bool>,
        has_evicted: bool,
    ) {
        match (op, accepted) {
            (Op::Take { .. } | Op::Check, Some(accepted)) if !has_evicted => {
                let outcome = Outcome::from_answer(Some(accepted), self.policy.enforce);
                self.statistics.count(context, outcome, self.policy.track_identifiers);
            }
            _ => {
                let (has_failed, is_degraded) = (accepted.is_none(), false);
                self.count(
                    *context,
                    op,
                    &CallEnd { accepted, has_failed, is_degraded, has_evicted },
                );
            }
        }
    }

    /// Counts a call that asked whether to go on, and what happened during any call.
    #[cold]
    #[inline(never)]
    pub(super) fn count(&self, context: CallContext<'_>, op: Op, end: &CallEnd) {
        let CallEnd { accepted, has_failed, is_degraded, has_evicted } = *end;
        if has_evicted {
            self.statistics.count(&context, Outcome::Evicted, false);
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
            self.statistics.count(&context, Outcome::Failed, false);
        }
        if is_degraded {
            self.statistics.count(&context, Outcome::Degraded, false);
        }
        if accepted.is_some() {
            let outcome = Outcome::from_answer(accepted, self.policy.enforce);
            self.statistics.count(&context, outcome, self.policy.track_identifiers);
        }
    }

    /// The warning of the last call: a failure noticed first, a refusal, or an ignored prefix. Returned
    /// once.
    #[inline(always)]
    pub fn take_warning(&self) -> Option<String> {
        match &self.guard {
            None => None,
            Some(guard) => guard.take_warning(),
        }
    }

    /// Whether the store is on servers.
    pub fn is_remote(&self) -> bool {
        self.guard.is_some()
    }

    /// Makes the store ready for use.
    ///
    /// # Errors
    ///
    /// Those of [`Store::prepare`]. The on-error policy does not apply.
    pub fn prepare(&self) -> Result<()> {
        self.store.prepare(&self.timeouts)
    }

    /// What `phpinfo()` shows of the store: pairs of a name and a value.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let mut rows = self.store.describe();
        rows.extend(self.guard.iter().flat_map(|guard| guard.describe()));
        rows
    }
}

/// The identifier of a call whose name has to be escaped.
#[inline(always)]
fn escape(context: &CallContext<'_>) -> Option<Vec<u8>> {
    match context.identifier {
        Identifier::Client { name, id } if needs_escape(name) => Some(client_key(name, id)),
        _ => None,
    }
}

/// The decision of a dry run on which the store failed: the call goes on.
#[cold]
fn decision_of_failed_dry_run(limit: &Limit, frozen: Option<u64>) -> FlaggedDecision {
    let now = frozen.unwrap_or_else(boot_time);
    let (decision, _): (Decision, _) = apply(limit, State::FULL, now, Op::Peek { cost: 0 });
    FlaggedDecision { decision, flags: DecisionFlags::new(DecidedBy::Policy, false) }
}
