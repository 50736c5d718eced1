//! Stands before a store on servers: remembers denials and outages, and answers in the store's place
//! while its servers fail.

use super::breakers::{Access, FailureMeaning};
use super::denials::KnownDenial;
use super::event::Event;
use super::gates::GateEntry;
use super::host::Host;
use super::policy::Policy;
use super::report::DecidedBy;
use crate::clock::boot_time;
use crate::dsn::OnError;
use crate::error::{Error, Result};
use crate::limit::{Decision, Limit, Op, SECOND, Span, State, StoredState, apply};
use crate::net::Timeouts;
use crate::store::{Permits, Request, Store};
use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The guard of a store on servers.
///
/// All processes of this host share what it knows: which servers are down and which process probes them,
/// the denials, and the buckets that `fallback` decides on.
pub struct Guard {
    /// What this host knows of the servers.
    pub host: Rc<Host>,
    /// How many tokens of a bucket this host takes ahead at most.
    pub(super) lease: u32,
    on_error: OnError,
    deny_cache: bool,
    /// What a call has to report; taken by the next call that can report it.
    event: RefCell<Option<Box<Event>>>,
}

/// How a call on a guarded store ended.
pub struct GuardedCall<T = Decision> {
    /// The answer, or the error where the policy is to throw.
    pub answer: Result<T>,
    /// Whether the store was asked and failed.
    pub has_failed: bool,
    /// What decided.
    pub decided_by: DecidedBy,
}

impl<T> GuardedCall<T> {
    /// A call that the store answered.
    pub const fn by_store(answer: T) -> Self {
        Self { answer: Ok(answer), has_failed: false, decided_by: DecidedBy::Store }
    }

    /// A call that is denied as the store denied one before.
    pub const fn by_deny_cache(denial: T) -> Self {
        Self { answer: Ok(denial), has_failed: false, decided_by: DecidedBy::DenyCache }
    }
}

/// What each on-error policy answers in place of a store.
pub struct PolicyAnswers<T, H> {
    /// `fallback`: asks this host.
    pub on_host: H,
    /// `open`.
    pub open: T,
    /// `closed`.
    pub closed: T,
}

/// Why a store gave no answer.
pub enum NoAnswer {
    /// It failed, or it failed a moment ago and was not asked.
    Outage(Outage),
    /// The call cannot be made at all.
    Error(Error),
}

/// A failure of the store, as the guard treats it.
pub struct Outage {
    reason: String,
    /// Whether the store was asked.
    has_failed: bool,
    /// The beginning of a warning, if this process is the first to notice the failure.
    pub(super) warning: Option<String>,
}

impl NoAnswer {
    /// Whether the store was asked, so that it may have done what the call asked for.
    pub const fn was_asked(&self) -> bool {
        matches!(self, Self::Outage(Outage { has_failed: true, .. }))
    }
}

impl Outage {
    /// The outage of a store that is not asked.
    const fn known(reason: String) -> Self {
        Self { reason, has_failed: false, warning: None }
    }
}

/// How long a call waits at first for others of this host to connect, before it looks again; then twice as long each
/// time, until [`Timeouts::at_gate`] is over.
const FIRST_WAIT_TO_CONNECT: Duration = Duration::from_millis(10);

const IGNORED_PREFIX: &str = "token_bucket.prefix is not put before the identifiers in a table of MySQL or MariaDB: \
     write prefix= into the storage DSN, with a prefix or with none";

impl Guard {
    /// The guard of a store. `host` holds what is known of its servers.
    pub fn new(host: Rc<Host>, policy: Policy) -> Self {
        let Policy { on_error, deny_cache, lease, .. } = policy;
        Self { host, lease, on_error, deny_cache, event: RefCell::new(None) }
    }

    /// Warns, once for each server and process, that `token_bucket.prefix` has no effect.
    pub fn warn_of_ignored_prefix(&self) {
        if !self.host.has_warned_of_prefix.replace(true) {
            self.event.borrow_mut().get_or_insert_default().warning =
                Some(IGNORED_PREFIX.to_owned());
        }
    }

    /// What the last call has to report. Returned once.
    #[inline(never)]
    pub fn take_event(&self) -> Option<Box<Event>> {
        self.event.take()
    }

    /// What `phpinfo()` shows of the servers: pairs of a name and a value.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        self.host.describe()
    }

    /// Decides on a call: by a lease, by a remembered denial, by the store, or by the on-error policy. `sent` is the
    /// time.
    #[inline(never)]
    pub fn decide(&self, store: &dyn Store, request: &Request<'_>, sent: u64) -> GuardedCall {
        match self.lease {
            0 => self.decide_without_lease(store, request, sent),
            _ => self.decide_with_lease(store, request, sent),
        }
    }

    /// Decides on a call: by a remembered denial, by the store, or by the on-error policy. `sent` is the time.
    pub fn decide_without_lease(
        &self,
        store: &dyn Store,
        request: &Request<'_>,
        sent: u64,
    ) -> GuardedCall {
        if let Some(denial) = self.known_denial(request, sent) {
            return GuardedCall::by_deny_cache(denial);
        }
        match self.decide_by_store(store, request, sent) {
            Ok(decision) => GuardedCall::by_store(decision),
            Err(no_answer) => self.decide_by_policy(request, &no_answer),
        }
    }

    /// The answer of the store. None if it gave none and the policy is not to throw.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`] if the store gave no answer and the policy is to throw.
    pub fn only_by_store<T>(&self, answer: std::result::Result<T, NoAnswer>) -> Result<Option<T>> {
        match answer {
            Ok(answer) => Ok(Some(answer)),
            Err(NoAnswer::Error(error)) => Err(error),
            Err(NoAnswer::Outage(outage)) if self.on_error == OnError::Throw => {
                Err(Error::storage(outage.reason))
            }
            Err(NoAnswer::Outage(outage)) => {
                self.note_warning(outage.warning);
                Ok(None)
            }
        }
    }

    /// Asks the store for a decision, and notes what it tells about denials. `sent` is the time.
    pub(super) fn decide_by_store(
        &self,
        store: &dyn Store,
        request: &Request<'_>,
        sent: u64,
    ) -> std::result::Result<Decision, NoAnswer> {
        let answer = self.ask(store, request, sent, || store.decide(request));
        match &answer {
            Ok(decision) => self.note_decision(request, *decision, sent),
            // The server may have given the tokens back before the call failed.
            Err(_) if matches!(request.op, Op::Refund { .. } | Op::Reset) => {
                self.host.clear_denials(request.key);
            }
            Err(_) => {}
        }
        answer
    }

    /// Decides on a call by this host's own buckets, which decide for `fallback`.
    ///
    /// # Errors
    ///
    /// [`Error::Storage`] if no memory can be had.
    pub fn decide_on_host(&self, request: &Request<'_>) -> Result<Decision> {
        self.host.decide(request)
    }

    /// Calls the store, unless its server is known to fail. `request` is the one that the call is about, or
    /// the first of several on one server; `sent` is the time.
    pub fn ask<T>(
        &self,
        store: &dyn Store,
        request: &Request<'_>,
        sent: u64,
        call: impl FnOnce() -> Result<T>,
    ) -> std::result::Result<T, NoAnswer> {
        self.ask_behind(store.breaker(request.key), store, *request.timeouts, sent, call)
    }

    /// Calls the store, unless the server behind a breaker is known to fail. `sent` is the time.
    pub fn ask_behind<T>(
        &self,
        breaker: u64,
        store: &dyn Store,
        timeouts: Timeouts,
        sent: u64,
        call: impl FnOnce() -> Result<T>,
    ) -> std::result::Result<T, NoAnswer> {
        self.host.note_call(sent);
        // Checked before the breaker, whose one probe would be lost on a process that cannot ask.
        if let Some(pause) = self.host.local.pause(breaker, boot_time()) {
            let (name, left) = (store.name(), seconds_until(pause.until));
            let reason = match pause.is_waiting {
                true => {
                    format!("other processes of this host were connecting to {name} a moment ago")
                }
                false => format!("this process could not ask {name} a moment ago"),
            };
            return Err(NoAnswer::Outage(Outage::known(format!(
                "{reason}; it tries again in {left:.1} s"
            ))));
        }
        let access = self.host.access(breaker, timeouts);
        if let Access::Denied { until } = access {
            // Those of the outage's processes that come back after a restart must pass the gate.
            store.close_lost_connections();
            let (name, left) = (store.name(), seconds_until(until));
            return Err(NoAnswer::Outage(Outage::known(format!(
                "{name} failed a moment ago; it is asked again in {left:.1} s"
            ))));
        }
        let Some(gate) = self.enter_gate(store, timeouts) else {
            self.host.give_back(breaker, access);
            self.host.local.note_waiting(breaker, boot_time());
            let name = store.name();
            return Err(NoAnswer::Outage(Outage::known(format!(
                "other processes of this host are connecting to {name} at this moment"
            ))));
        };
        // The wait before it says nothing of the server.
        let sent = if matches!(gate, GateEntry::Place(_)) { boot_time() } else { sent };
        let answer = call();
        if let GateEntry::Place(place) = gate {
            let has_failed = matches!(answer, Err(Error::Storage(_) | Error::Local(_)));
            self.host.leave_gate(place, !has_failed);
        }
        match answer {
            Ok(answer) => {
                self.host.note_success(breaker, access);
                self.host.local.clear(breaker);
                if let Some(outage) = self.host.note_use(store, sent) {
                    self.note_recovery(store, outage);
                }
                Ok(answer)
            }
            Err(error) => Err(self.note_failure(error, breaker, store, access, sent)),
        }
    }

    /// Waits a little until this process may connect, if it has no connection. None if it may not.
    fn enter_gate(&self, store: &dyn Store, timeouts: Timeouts) -> Option<GateEntry> {
        if store.is_connected() {
            return Some(GateEntry::WithoutGate);
        }
        let (mut wait, end) = (FIRST_WAIT_TO_CONNECT, Instant::now() + timeouts.at_gate());
        loop {
            match self.host.enter_gate(timeouts) {
                GateEntry::Full => match end.saturating_duration_since(Instant::now()) {
                    Duration::ZERO => return None,
                    left => std::thread::sleep(wait.min(left)),
                },
                entry => return Some(entry),
            }
            wait *= 2;
        }
    }

    /// Notes for the log that the servers of a store answer again after an outage of so many nanoseconds.
    #[cold]
    fn note_recovery(&self, store: &dyn Store, outage: u64) {
        let (name, seconds) = (store.name(), outage as f64 / SECOND as f64);
        let text = format!("{name} answers again; it did not for {seconds:.1} s");
        self.event.borrow_mut().get_or_insert_default().recovery = Some(text);
    }

    /// Notes a failed call, for all processes (the breaker) or for this one.
    fn note_failure(
        &self,
        error: Error,
        breaker: u64,
        store: &dyn Store,
        access: Access,
        sent: u64,
    ) -> NoAnswer {
        let (reason, warning) = match error {
            Error::Storage(reason) => {
                if let Some(outage) = self.host.end_outage(store, boot_time()) {
                    self.note_recovery(store, outage);
                }
                let warning = match self.host.note_failure(breaker, store, access, &reason, sent) {
                    FailureMeaning::OutageBegins => {
                        Some(format!("{reason}; until a call succeeds, "))
                    }
                    FailureMeaning::OutageContinues => None,
                    FailureMeaning::CallAlone => {
                        let is_worth_a_warning =
                            self.host.local.note_failed_alone(breaker, boot_time())
                                && self.host.refusal_warnings.claim(&reason, sent);
                        is_worth_a_warning.then(|| {
                            format!("{reason}, while others are answered; until this process is, ")
                        })
                    }
                };
                (reason, warning)
            }
            // Other processes may reach the server.
            Error::Local(reason) => {
                self.host.give_back(breaker, access);
                self.host.note_unable(store, &reason, boot_time());
                let is_first = self.host.local.note_unable(breaker, boot_time());
                let warning =
                    is_first.then(|| format!("{reason}; until this process can ask it, "));
                (reason, warning)
            }
            // Other keys are not concerned, and it is not known whether the server is up.
            Error::Busy(reason) => {
                self.host.give_back(breaker, access);
                let is_due = self.host.refusal_warnings.claim(&reason, sent);
                let warning = is_due.then(|| format!("{reason}; "));
                (reason, warning)
            }
            // The server is up, and other keys are not concerned.
            Error::Refused(reason) => {
                self.host.note_success(breaker, access);
                self.host.local.clear(breaker);
                let is_due = self.host.refusal_warnings.claim(&reason, sent);
                let warning = is_due.then(|| format!("{reason}; "));
                (reason, warning)
            }
            other @ Error::Configuration(_) => return NoAnswer::Error(other),
        };
        NoAnswer::Outage(Outage { reason, has_failed: true, warning })
    }

    /// A denial that is known without asking: the bucket cannot hold the cost yet, or is blocked.
    pub fn known_denial(&self, request: &Request<'_>, now: u64) -> Option<Decision> {
        let Request { key, limit, op: &op, .. } = *request;
        // Denials are kept by this host's clock, which says nothing about the frozen one of a test.
        if !self.deny_cache || request.frozen().is_some() || !asks_for_tokens(op) {
            return None;
        }
        match (self.host.known_denial(key, now)?, op) {
            (KnownDenial::BlockedUntil(until), _) => {
                Some(apply(limit, &State::Blocked { until }.into(), now, op).0)
            }
            (KnownDenial::FullAt(full_at), Op::Take { cost: 1.. } | Op::TakeUpTo { .. }) => {
                let state = State::Filling { full_at: Span::from_ns(full_at) };
                let (decision, _) = apply(limit, &state.into(), now, op);
                (!decision.accepted && decision.retry_at != Decision::NEVER).then_some(decision)
            }
            _ => None,
        }
    }

    /// Notes what the store decided on a call that was sent at `sent`: a denial that need not be asked for
    /// again, or the end of one.
    pub fn note_decision(&self, request: &Request<'_>, decision: Decision, sent: u64) {
        let Request { key, limit, op: &op, .. } = *request;
        if let Op::Refund { .. } | Op::Reset = op {
            return self.host.clear_denials(key);
        }
        if !self.deny_cache
            || request.frozen().is_some()
            || decision.accepted && !decision.is_blocked
        {
            return;
        }
        // The server decided after the call was sent, so a time counted from `sent` is never too late.
        let denial = match op {
            _ if decision.is_blocked => {
                Some(KnownDenial::BlockedUntil(sent + (decision.expires_at - decision.now)))
            }
            Op::Take { cost } | Op::TakeUpTo { least: cost, .. } => {
                full_in(limit, cost, decision).map(|full_in| KnownDenial::FullAt(sent + full_in))
            }
            _ => None,
        };
        if let Some(denial) = denial {
            self.host.note_denial(key, denial, sent);
        }
    }

    /// Decides on a call by the on-error policy.
    pub fn decide_by_policy(&self, request: &Request<'_>, no_answer: &NoAnswer) -> GuardedCall {
        let full = full_bucket(request);
        let (retry_at, available) = (full.now + SECOND, Span::default());
        let answers = PolicyAnswers {
            on_host: |host: &Host| host.decide(request),
            open: full,
            closed: Decision { accepted: false, retry_at, available, ..full },
        };
        self.answer_by_policy(no_answer, answers)
    }

    /// Answers a call by the on-error policy.
    pub fn answer_by_policy<T>(
        &self,
        no_answer: &NoAnswer,
        answers: PolicyAnswers<T, impl FnOnce(&Host) -> Result<T>>,
    ) -> GuardedCall<T> {
        let outage = match no_answer {
            NoAnswer::Outage(outage) => outage,
            NoAnswer::Error(error) => {
                let (has_failed, decided_by) = (false, DecidedBy::Store);
                return GuardedCall { answer: Err(error.clone()), has_failed, decided_by };
            }
        };
        let (answer, decided_by) = match self.on_error {
            OnError::Fallback => match (answers.on_host)(&self.host) {
                // Another process is making the host's file. A bucket of this process alone would accept what
                // others accept, too.
                Err(Error::Storage(_)) => (Ok(answers.closed), DecidedBy::Policy),
                answer => (answer, DecidedBy::Host),
            },
            OnError::Open => (Ok(answers.open), DecidedBy::Policy),
            OnError::Closed => (Ok(answers.closed), DecidedBy::Policy),
            OnError::Throw => (Err(Error::storage(&outage.reason)), DecidedBy::Policy),
        };
        if answer.is_ok() {
            self.note_warning(outage.warning.clone());
        }
        GuardedCall { answer, has_failed: outage.has_failed, decided_by }
    }

    /// The permits of this host, which `fallback` takes from.
    pub fn host_permits(&self) -> Option<&dyn Permits> {
        self.host.permits()
    }

    /// Whether every call is accepted while the store fails.
    pub const fn is_open_on_error(&self) -> bool {
        matches!(self.on_error, OnError::Open)
    }

    /// Notes a warning for the caller, with what the policy does.
    pub(super) fn note_warning(&self, warning: Option<String>) {
        if let Some(warning) = warning
            && let Some(consequence) = self.consequence()
        {
            self.event.borrow_mut().get_or_insert_default().warning = Some(warning + consequence);
        }
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

/// Whether the answer to an operation says if there are tokens.
const fn asks_for_tokens(op: Op) -> bool {
    match op {
        Op::Take { .. } | Op::TakeUpTo { .. } | Op::Peek { .. } => true,
        Op::Check | Op::Reserve { .. } => true,
        Op::Refund { .. } | Op::Reset | Op::Block { .. } | Op::Start { .. } => false,
    }
}

/// The time until the bucket is full that denied a call of this cost, in nanoseconds. None if that is not
/// known.
fn full_in(limit: &Limit, cost: u64, decision: Decision) -> Option<u64> {
    // Other algorithms do not refill gradually, so the time at which they are full does not say what
    // a raised limit would allow before.
    let Limit::TokenBucket(bucket) = limit else { return None };
    if decision.retry_at == Decision::NEVER {
        return None;
    }
    // Rounded down: a denial that ends too early costs one call more.
    let missing = (decision.retry_at - decision.now).saturating_sub(1);
    let full = missing + bucket.refill_time().ns;
    let full_in = full.saturating_sub(bucket.cost_in_time(cost).ceil());
    // The debt of an overdrawn bucket is forgiven all at once, so its denial ends differently and is
    // not remembered.
    let known = decision.now + full_in;
    (decision.expires_at.abs_diff(known) <= 4).then_some(full_in)
}

fn full_bucket(request: &Request<'_>) -> Decision {
    let now = request.frozen().unwrap_or_else(boot_time);
    apply(request.limit, &StoredState::FULL, now, Op::Peek { cost: 0 }).0
}

fn seconds_until(time: u64) -> f64 {
    time.saturating_sub(boot_time()) as f64 / SECOND as f64
}
