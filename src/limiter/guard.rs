//! Stands before a store on servers: remembers denials and outages, and answers in the store's place
//! while its servers fail.

use super::settings::Policy;
use crate::clock::boot_time;
use crate::dsn::OnError;
use crate::error::{Error, Result};
use crate::limit::{Decision, Limit, Op, SECOND, Span, State, apply};
use crate::store::{Host, Key, Permit, Request, Store};
use std::cell::RefCell;
use std::rc::Rc;

/// The guard of a store on servers.
///
/// All processes of this host share what it knows: which servers are down and which process probes them,
/// the denials, and the buckets that `fallback` decides on.
pub struct Guard {
    host: Rc<Host>,
    on_error: OnError,
    deny_cache: bool,
    /// A failure noticed first, a refusal, or an ignored prefix; taken by the next call that can emit it.
    warning: RefCell<Option<String>>,
}

/// How a call on a guarded store ended.
pub struct GuardedCall {
    /// The decision, or the error where the policy is to throw.
    pub decision: Result<Decision>,
    /// Whether the store was asked and failed.
    pub has_failed: bool,
    /// Whether the on-error policy answered in the store's place.
    pub is_degraded: bool,
}

impl GuardedCall {
    /// A call on which the store decided, or a denial that it decided on before.
    const fn decided(decision: Decision) -> Self {
        Self { decision: Ok(decision), has_failed: false, is_degraded: false }
    }
}

/// A failure of the store, as the guard treats it.
struct StoreFailure {
    reason: String,
    /// The beginning of a warning, if this process is the first to notice the failure.
    warning: Option<String>,
}

const IGNORED_PREFIX: &str = "token_bucket.prefix is not put before the identifiers in a table of MySQL or MariaDB: \
     write prefix= into the storage DSN, with a prefix or with none";

impl Guard {
    /// The guard of a store. `host` holds what is known of its servers.
    pub fn new(host: Rc<Host>, policy: Policy) -> Self {
        let Policy { on_error, deny_cache, .. } = policy;
        Self { host, on_error, deny_cache, warning: RefCell::new(None) }
    }

    /// Warns, once for each server and process, that `token_bucket.prefix` has no effect.
    pub fn warn_of_ignored_prefix(&self) {
        if !self.host.has_warned_of_prefix.replace(true) {
            self.warning.replace(Some(IGNORED_PREFIX.to_owned()));
        }
    }

    /// The warning of the last call: a failure noticed first, a refusal, or an ignored prefix. Returned
    /// once.
    #[inline(never)]
    pub fn take_warning(&self) -> Option<String> {
        self.warning.take()
    }

    /// What `phpinfo()` shows of the servers: pairs of a name and a value.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        self.host.describe()
    }

    /// Decides on a call: by a remembered denial, by the store, or by the on-error policy.
    #[inline(never)]
    pub fn decide(&self, store: &dyn Store, request: &Request<'_>) -> GuardedCall {
        let Request { key, limit, op: &op, frozen, timeouts, .. } = *request;
        let sent = boot_time();
        // Denials are kept by this host's clock, which says nothing about the frozen one of a test.
        let remembers_denials = self.deny_cache && frozen.is_none();
        if remembers_denials && let Some(denial) = self.known_denial(key, limit, op, sent) {
            return GuardedCall::decided(denial);
        }
        let breaker = store.breaker(key);
        // Checked before the breaker, whose one permit to probe would be lost on a process that cannot ask.
        if let Some(until) = self.host.local.denied_until(breaker, boot_time()) {
            let (name, left) = (store.name(), seconds_until(until));
            let reason = format!(
                "this process could not ask {name} a moment ago; it tries again in {left:.1} s"
            );
            return self.answer_by_policy(request, &reason, false);
        }
        let permit = self.host.permit(breaker, *timeouts);
        if let Permit::Denied { until } = permit {
            let (name, left) = (store.name(), seconds_until(until));
            let reason = format!("{name} failed a moment ago; it is asked again in {left:.1} s");
            return self.answer_by_policy(request, &reason, false);
        }
        let error = match store.decide(request) {
            Ok(decision) => {
                self.host.note_success(breaker, permit);
                self.host.local.clear(breaker);
                match op {
                    Op::Refund { .. } | Op::Reset => self.host.clear_denials(key),
                    Op::Take { cost } if remembers_denials && !decision.accepted => {
                        self.note_denial(key, limit, cost, decision, sent);
                    }
                    _ => {}
                }
                return GuardedCall::decided(decision);
            }
            Err(error) => error,
        };
        let failure = match self.note_failure(error, breaker, permit, sent) {
            Ok(failure) => failure,
            Err(error) => {
                let (has_failed, is_degraded) = (false, false);
                return GuardedCall { decision: Err(error), has_failed, is_degraded };
            }
        };
        if let Op::Refund { .. } | Op::Reset = op {
            // The server may have given the tokens back before the call failed.
            self.host.clear_denials(key);
        }
        let call = self.answer_by_policy(request, &failure.reason, true);
        if call.decision.is_ok()
            && let Some(warning) = failure.warning
            && let Some(consequence) = self.consequence()
        {
            self.warning.replace(Some(warning + consequence));
        }
        call
    }

    /// Notes a failed call, for all processes (the breaker) or for this one.
    ///
    /// # Errors
    ///
    /// The error itself, if it is no failure of the store.
    fn note_failure(
        &self,
        error: Error,
        breaker: u64,
        permit: Permit,
        sent: u64,
    ) -> Result<StoreFailure> {
        Ok(match error {
            Error::Storage(reason) => {
                let is_first = self.host.note_failure(breaker);
                let warning = is_first.then(|| format!("{reason}; until a call succeeds, "));
                StoreFailure { reason, warning }
            }
            // Other processes may reach the server.
            Error::Local(reason) => {
                self.host.give_back(breaker, permit);
                let is_first = self.host.local.note(breaker, boot_time());
                let warning =
                    is_first.then(|| format!("{reason}; until this process can ask it, "));
                StoreFailure { reason, warning }
            }
            // The server is up, and other keys are not concerned.
            Error::Refused(reason) => {
                self.host.note_success(breaker, permit);
                self.host.local.clear(breaker);
                let is_due = self.host.refusal_warnings.claim(&reason, sent);
                let warning = is_due.then(|| format!("{reason}; "));
                StoreFailure { reason, warning }
            }
            other @ Error::Configuration(_) => return Err(other),
        })
    }

    /// A denial that is known without asking: the bucket cannot hold the cost yet.
    fn known_denial(&self, key: &Key<'_>, limit: &Limit, op: Op, now: u64) -> Option<Decision> {
        let Op::Take { cost: 1.. } = op else { return None };
        let full_at = self.host.denied_until(key, now)?;
        let state = State::Filling { full_at: Span::from_ns(full_at) };
        let (decision, _) = apply(limit, state, now, op);
        (!decision.accepted && decision.retry_at != Decision::NEVER).then_some(decision)
    }

    /// Remembers when the bucket will be full, by this host's clock.
    ///
    /// The server decided after the call was sent, so the time counted from `sent` is never too late.
    fn note_denial(&self, key: &Key<'_>, limit: &Limit, cost: u64, decision: Decision, sent: u64) {
        // Other algorithms do not refill gradually, so the time at which they are full does not say what
        // a raised limit would allow before.
        let Limit::TokenBucket(bucket) = limit else { return };
        if decision.retry_at == Decision::NEVER {
            return;
        }
        // Rounded down: a denial that ends too early costs one call more.
        let missing = (decision.retry_at - decision.now).saturating_sub(1);
        let full = missing + bucket.refill_time().ns;
        let full_in = full.saturating_sub(bucket.cost_in_time(cost).ceil());
        // The debt of an overdrawn bucket is forgiven all at once, so its denial ends differently and is
        // not remembered.
        let known = decision.now + full_in;
        if decision.full_at.abs_diff(known) <= 4 {
            self.host.note_denial(key, sent + full_in, sent);
        }
    }

    /// Answers by the on-error policy.
    fn answer_by_policy(
        &self,
        request: &Request<'_>,
        reason: &str,
        has_failed: bool,
    ) -> GuardedCall {
        let decision = match self.on_error {
            OnError::Fallback => self.host.decide(request),
            OnError::Open => Ok(full_bucket(request)),
            OnError::Closed => {
                let full = full_bucket(request);
                let (retry_at, available) = (full.now + SECOND, Span::default());
                Ok(Decision { accepted: false, retry_at, available, ..full })
            }
            OnError::Throw => Err(Error::storage(reason)),
        };
        let is_degraded = decision.is_ok();
        GuardedCall { decision, has_failed, is_degraded }
    }

    /// The end of a warning: what the policy does. None where the caller gets an exception instead.
    fn consequence(&self) -> Option<&'static str> {
        match self.on_error {
            OnError::Fallback if self.host.is_shared() => {
                Some("limits are enforced in this host's shared memory")
            }
            OnError::Fallback => Some(
                "each process enforces limits by itself, for there is no shared memory: see \
                 token_bucket.shm_path",
            ),
            OnError::Open => Some("every call is accepted"),
            OnError::Closed => Some("every call is denied"),
            OnError::Throw => None,
        }
    }
}

fn full_bucket(request: &Request<'_>) -> Decision {
    let now = request.frozen.unwrap_or_else(boot_time);
    apply(request.limit, State::FULL, now, Op::Peek { cost: 0 }).0
}

fn seconds_until(time: u64) -> f64 {
    time.saturating_sub(boot_time()) as f64 / SECOND as f64
}
