//! What stands before a store on servers: what was denied, whether it is up, and what to answer
//! when it is not.

use super::Settings;
use crate::clock::boot_time;
use crate::dsn::OnError;
use crate::error::{Error, Result};
use crate::limit::{Decision, Limit, Op, SECOND, Span, State, apply};
use crate::store::host::Host;
use crate::store::host::circuits::Permit;
use crate::store::{Key, Request, Store};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The guard of a store on servers.
///
/// What it knows it shares with all processes of this host: that a server is down, which one of
/// them is to find out; the denials; and the buckets that stand in.
pub struct Guard {
    host: Rc<Host>,
    on_error: OnError,
    deny_cache: bool,
    /// Of an outage that was news to this host, until someone says it.
    warning: RefCell<Option<String>>,
    /// Of the last call: whether the store failed, and whether the policy answered.
    news: Cell<(bool, bool)>,
}

const IGNORED_PREFIX: &str = "token_bucket.prefix is not put before the identifiers in a table of MySQL or MariaDB: \
     write prefix= into the storage DSN, with a prefix or with none";

impl Guard {
    /// The guard of a store of whose servers `host` keeps what is known.
    pub fn new(host: Rc<Host>, settings: &Settings) -> Self {
        Self {
            host,
            on_error: settings.on_error,
            deny_cache: settings.deny_cache,
            warning: RefCell::new(None),
            news: Cell::default(),
        }
    }

    /// Warns, once for each server and process, that `token_bucket.prefix` has no effect.
    pub fn warn_of_prefix(&self) {
        if !self.host.has_warned_of_prefix.replace(true) {
            self.warning.replace(Some(IGNORED_PREFIX.to_owned()));
        }
    }

    /// What has to be said, once.
    #[inline(never)]
    pub fn take_warning(&self) -> Option<String> {
        self.warning.take()
    }

    /// Of the last call: whether the store failed, and whether the policy answered.
    pub fn take_news(&self) -> (bool, bool) {
        self.news.take()
    }

    /// What an operator wants to see of it.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        self.host.describe()
    }

    /// Decides, be it from what is known here, by the store, or by the policy: that is told with it.
    #[inline(never)]
    pub fn decide(&self, store: &dyn Store, request: &Request<'_>) -> Result<(Decision, bool)> {
        let Request { key, limit, op: &op, frozen, timeouts } = *request;
        let sent = boot_time();
        // A frozen clock is not this host's: nothing can be told from one to the other.
        let remembers = self.deny_cache && frozen.is_none();
        if remembers && let Some(decision) = self.known_denial(key, limit, op, sent) {
            return Ok((decision, false));
        }
        let circuit = store.circuit(key);
        // Before the breaker: what it permits one process to try, this one could not.
        if let Some(until) = self.host.local.denied_until(circuit, boot_time()) {
            let (name, left) = (store.name(), seconds_until(until));
            let reason = format!(
                "this process could not ask {name} a moment ago; it tries again in {left:.1} s"
            );
            return self.answer_instead(request, &reason);
        }
        let permit = self.host.permit(circuit, *timeouts);
        if let Permit::Denied { until } = permit {
            let (name, left) = (store.name(), seconds_until(until));
            let reason = format!("{name} failed a moment ago; it is asked again in {left:.1} s");
            return self.answer_instead(request, &reason);
        }
        let (reason, news) = match store.decide(request) {
            Ok(decision) => {
                self.host.note_success(circuit, permit);
                self.host.local.clear(circuit);
                match op {
                    Op::Refund { .. } | Op::Reset => self.host.clear_denials(key),
                    Op::Take { cost } if remembers && !decision.accepted => {
                        self.note_denial(key, limit, cost, decision, sent);
                    }
                    _ => {}
                }
                return Ok((decision, false));
            }
            Err(Error::Storage(reason)) => {
                let news = self
                    .host
                    .note_failure(circuit)
                    .then(|| format!("{reason}; until it answers, "));
                (reason, news)
            }
            // Other processes may reach it.
            Err(Error::Local(reason)) => {
                self.host.give_back(circuit, permit);
                let news = self.host.local.note(circuit, boot_time());
                let news = news.then(|| format!("{reason}; until this process can ask it, "));
                (reason, news)
            }
            // It is up: that is no outage, and other keys are not concerned.
            Err(Error::Refused(reason)) => {
                self.host.note_success(circuit, permit);
                self.host.local.clear(circuit);
                let is_due = self.host.refusal_warnings.claim(&reason, sent);
                let news = is_due.then(|| format!("{reason}; "));
                (reason, news)
            }
            Err(other) => return Err(other),
        };
        self.news.set((true, false));
        if let Op::Refund { .. } | Op::Reset = op {
            // It may have been done, though nobody knows.
            self.host.clear_denials(key);
        }
        let answer = self.answer_instead(request, &reason)?;
        if let (Some(news), Some(instead)) = (news, self.instead()) {
            self.warning.replace(Some(news + instead));
        }
        Ok(answer)
    }

    /// As [`decide`](Self::decide), where nobody asks for more than yes or no.
    #[inline(never)]
    pub fn admits(&self, store: &dyn Store, request: &Request<'_>) -> Result<bool> {
        Ok(self.decide(store, request)?.0.accepted)
    }

    /// A denial that needs no question: the bucket cannot hold as much yet.
    fn known_denial(&self, key: &Key<'_>, limit: &Limit, op: Op, now: u64) -> Option<Decision> {
        let Op::Take { cost: 1.. } = op else { return None };
        let full_at = self.host.denied_until(key, now)?;
        let (decision, _) =
            apply(limit, State::Filling { full_at: Span::from_ns(full_at) }, now, op);
        (!decision.accepted && decision.retry_at != Decision::NEVER).then_some(decision)
    }

    /// Remembers when the bucket will be full, on this host's clock.
    ///
    /// The server decided after the call was sent: counted from there, the time is never too
    /// late.
    fn note_denial(&self, key: &Key<'_>, limit: &Limit, cost: u64, decision: Decision, sent: u64) {
        // A window does not come back by and by, and a raised limit could not be told from a cached
        // denial.
        let Limit::TokenBucket(bucket) = limit else { return };
        if decision.retry_at == Decision::NEVER {
            return;
        }
        // Both to the lower nanosecond: rather asked once too often.
        let missing = (decision.retry_at - decision.now).saturating_sub(1);
        let full = missing + bucket.refill_time().ns;
        let full_in = full.saturating_sub(bucket.cost_in_time(cost).ceil());
        // A bucket overdrawn by check() is forgiven all at once, not full by and by: that is not
        // what is kept here.
        let known = decision.now + full_in;
        if decision.full_at.abs_diff(known) <= 4 {
            self.host.note_denial(key, sent + full_in, sent);
        }
    }

    /// What the policy answers.
    fn answer_instead(&self, request: &Request<'_>, reason: &str) -> Result<(Decision, bool)> {
        let at = request.frozen.unwrap_or_else(boot_time);
        let full = apply(request.limit, State::FULL, at, Op::Peek { cost: 0 }).0;
        let decision = match self.on_error {
            OnError::Fallback => self.host.decide(request)?,
            OnError::Open => full,
            OnError::Closed => {
                let available = Span::default();
                Decision { accepted: false, retry_at: at + SECOND, available, ..full }
            }
            OnError::Throw => return Err(Error::storage(reason)),
        };
        let (failed, _) = self.news.get();
        self.news.set((failed, true));
        Ok((decision, true))
    }

    /// What is done instead, in a warning; nothing where the caller gets an exception.
    fn instead(&self) -> Option<&'static str> {
        match self.on_error {
            OnError::Fallback => Some("limits are enforced in this host's shared memory"),
            OnError::Open => Some("everyone is let in"),
            OnError::Closed => Some("everyone is denied"),
            OnError::Throw => None,
        }
    }
}

fn seconds_until(time: u64) -> f64 {
    time.saturating_sub(boot_time()) as f64 / SECOND as f64
}
