//! A store with all that applies to every key in it.

use super::flagged_decision::{DecisionFlags, FlaggedDecision};
use super::guard::Guard;
use super::identifier::{CallContext, Identifier, client_key, needs_escape};
use super::settings::{Policy, Settings};
use super::statistics::Statistics;
use crate::clock::boot_time;
use crate::dsn::Dsn;
use crate::error::Result;
use crate::limit::{Decision, Limit, Op, State, apply};
use crate::store::counters::Outcome;
use crate::store::{FromDecision, Key, LimitKind, Request, Store, Stores, Timeouts};
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
struct CallEnd {
    /// None where neither the store nor the policy decided.
    accepted: Option<bool>,
    has_failed: bool,
    is_degraded: bool,
    has_evicted: bool,
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
            Ok((decision, is_degraded)) => {
                let flags = DecisionFlags::new(is_degraded, enforced);
                Ok(FlaggedDecision { decision, flags })
            }
            Err(error) if enforced => Err(error),
            Err(_) => Ok(decision_of_failed_dry_run(limit, frozen)),
        }
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

    /// Makes a call on the store and counts it. Returns the answer, and whether the on-error policy gave it.
    #[inline(always)]
    fn call<A: FromDecision>(
        &self,
        context: &CallContext<'_>,
        limit: &Limit,
        op: &Op,
        frozen: Option<u64>,
        ask: impl FnOnce(&dyn Store, &Request<'_>) -> Result<A>,
    ) -> Result<(A, bool)> {
        let prefix = self.prefix.as_slice();
        let escaped;
        let parts = match context.identifier {
            Identifier::Plain(identifier) => [prefix, identifier, b"", b""],
            Identifier::Client { name, id } if needs_escape(name) => {
                escaped = client_key(name, id);
                [prefix, &escaped, b"", b""]
            }
            Identifier::Client { name, id } => [prefix, name, b":", id],
        };
        let (key_hash, evicted) = (context.key_hash, Cell::new(false));
        let key = Key { parts, kind: LimitKind::from(limit), key_hash };
        let (timeouts, evicted) = (&self.timeouts, &evicted);
        let request = Request { key: &key, limit, op, frozen, timeouts, evicted };
        let Some(guard) = &self.guard else {
            let answer = ask(&*self.store, &request);
            let accepted = answer.as_ref().ok().map(A::is_accepted);
            self.count_local(context, *op, accepted, evicted.get());
            return answer.map(|answer| (answer, false));
        };
        let call = guard.decide(&*self.store, &request);
        let end = CallEnd {
            accepted: call.decision.as_ref().ok().map(|decision| decision.accepted),
            has_failed: call.has_failed,
            is_degraded: call.is_degraded,
            has_evicted: evicted.get(),
        };
        self.count(*context, *op, &end);
        Ok((A::from(call.decision?), call.is_degraded))
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
    fn count(&self, context: CallContext<'_>, op: Op, end: &CallEnd) {
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

/// The decision of a dry run on which the store failed: the call goes on.
#[cold]
fn decision_of_failed_dry_run(limit: &Limit, frozen: Option<u64>) -> FlaggedDecision {
    let now = frozen.unwrap_or_else(boot_time);
    let (decision, _): (Decision, _) = apply(limit, State::FULL, now, Op::Peek { cost: 0 });
    FlaggedDecision { decision, flags: DecisionFlags::new(true, false) }
}
