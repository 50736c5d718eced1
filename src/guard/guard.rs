//! Stands before a store on servers: remembers denials and outages, and answers in the store's place
//! while its servers fail.

use super::asked::Asked;
use super::breaker::Access;
use super::deny_cache;
use super::event::Event;
use super::gate::GateEntry;
use super::host::Host;
use super::local_failures::Pause;
use super::no_answer::{NoAnswer, PolicyAnswers, answers_to};
use super::outcome::EndedCall;
use super::report::{DecidedBy, Report};
use super::writes;
use crate::clock::{boot_time, since, sleep};
use crate::error::{Error, ErrorKind, Result};
use crate::limit::{Decision, Op, SECOND};
use crate::net::Timeouts;
use crate::settings::{OnError, Settings};
use crate::store::{Answer, Key, RemoteStore, Request};
use std::cell::Cell;
use std::rc::Rc;
use std::slice;
use std::time::Duration;

/// The guard of a store on servers.
///
/// All processes of this host share what it knows: which servers are down and which process probes them,
/// the denials, and the buckets that `fallback` decides on.
pub struct Guard {
    store: Rc<dyn RemoteStore>,
    /// What this host knows of the servers.
    pub host: Rc<Host>,
    /// How many tokens of a bucket this host takes ahead at most.
    pub(super) lease: u32,
    on_error: OnError,
    deny_cache: bool,
    /// Whether the next call is to warn that `token_bucket.prefix` has no effect.
    is_prefix_ignored: Cell<bool>,
}

/// How a call asks its server.
struct Admission {
    access: Access,
    gate: GateEntry,
    /// When it began, or has passed the gate.
    sent: u64,
}

/// How long a call waits at first for others of this host to connect, before it looks again; then twice as long each
/// time, until [`Timeouts::at_gate`] is over.
const FIRST_WAIT_TO_CONNECT: Duration = Duration::from_millis(10);

const IGNORED_PREFIX: &str = "token_bucket.prefix is not put before the identifiers in a table of MySQL or MariaDB: \
     write prefix= into the storage DSN, with a prefix or with none";

impl Guard {
    /// The guard of a store. `host` holds what is known of its servers.
    pub fn new(store: Rc<dyn RemoteStore>, host: Rc<Host>, settings: &Settings) -> Self {
        let Settings { on_error, deny_cache, lease, .. } = *settings;
        Self { store, host, lease, on_error, deny_cache, is_prefix_ignored: Cell::new(false) }
    }

    /// What a call asks at `sent` that does this on a bucket, or on several of one server, of which this is the first.
    pub fn asked(&self, key: &Key<'_>, ops: &[Op], timeouts: Timeouts, sent: u64) -> Asked {
        Asked { breaker: self.breaker(key), timeouts, trips: self.store.trips(ops), sent }
    }

    /// The breaker of the server that has a key.
    pub fn breaker(&self, key: &Key<'_>) -> u64 {
        self.store.breaker(key)
    }

    /// Warns, once for each server and process, that `token_bucket.prefix` has no effect.
    pub fn warn_of_ignored_prefix(&self) {
        self.is_prefix_ignored.set(true);
    }

    /// What `phpinfo()` shows of the servers: pairs of a name and a value.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        self.host.describe()
    }

    /// Decides on a call: by a remembered denial, by the store, or by the on-error policy. `sent` is when the call began.
    pub fn decide_without_lease(&self, request: &Request<'_>, sent: u64) -> Report {
        match self.known_denial(request, sent) {
            Some(denial) => Report::answered(denial, DecidedBy::DenyCache),
            None => self.decide_by_store(request, sent, |it| it, answers_to(request)),
        }
    }

    /// Asks the store for a decision, of which the caller `keeps` something, and notes what it tells about denials.
    /// `sent` is when the call began.
    pub(super) fn decide_by_store<T>(
        &self,
        request: &Request<'_>,
        sent: u64,
        keep: impl FnOnce(Decision) -> T,
        answers: PolicyAnswers<T, impl FnOnce(&Host) -> Result<Answer<T>>>,
    ) -> Report<T> {
        let asked = self.asked(request.key, slice::from_ref(request.op), *request.timeouts, sent);
        let decide = || {
            let Answer { decision, lacked_room } = self.store.decide(request)?;
            self.check_is_current(slice::from_ref(request.op), decision.is_accepted())?;
            self.note_decision(request, decision, sent);
            self.note_write(&decision, sent);
            Ok(Answer { decision: keep(decision), lacked_room })
        };
        let report = self.call(asked, decide, answers);
        // The server may have given the tokens back before the call failed.
        if report.by_store().is_none() && request.op.gives_back() {
            self.host.clear_denials(request.key);
        }
        report
    }

    /// Calls the store, or answers by the on-error policy.
    pub fn call<T>(
        &self,
        asked: Asked,
        call: impl FnOnce() -> Result<Answer<T>>,
        answers: PolicyAnswers<T, impl FnOnce(&Host) -> Result<Answer<T>>>,
    ) -> Report<T> {
        let mut event = None;
        match self.ask(asked, &mut event, call) {
            Ok(Answer { decision, lacked_room }) => {
                Report { lacked_room, event, ..Report::answered(decision, DecidedBy::Store) }
            }
            Err(no_answer) => self.answer_by_policy(&no_answer, answers).after(event),
        }
    }

    /// Calls the store, unless its server is known to fail. Adds to `event` what there is to report.
    pub fn ask<T>(
        &self,
        asked: Asked,
        event: &mut Option<Box<Event>>,
        call: impl FnOnce() -> Result<T>,
    ) -> std::result::Result<T, NoAnswer> {
        let store = &*self.store;
        if self.is_prefix_ignored.take() && !self.host.has_warned_of_prefix.replace(true) {
            event.get_or_insert_default().warnings.push(IGNORED_PREFIX.to_owned());
        }
        self.host.note_call(asked.sent);
        let Admission { access, gate, sent } =
            self.admit(asked).map_err(NoAnswer::without_asking)?;
        let (asked, timeouts) = (Asked { sent, ..asked }, asked.timeouts);
        let write_access = writes::begin(store, &self.host, timeouts);
        let answer = call();
        let waited = writes::end(store, &self.host, write_access, (sent, timeouts), answer.is_ok());
        if let GateEntry::Lane(lane) = gate {
            let has_failed =
                |error: &Error| matches!(error.kind(), ErrorKind::Storage | ErrorKind::Local);
            let has_connected = !answer.as_ref().is_err_and(has_failed);
            self.host.record(|it| it.gate.leave(lane, has_connected));
        }
        let mut ended = EndedCall { store, host: &self.host, asked, access, event };
        match answer {
            Ok(answer) => {
                ended.note_answered();
                if let Some(waited) = waited {
                    ended.note_unwritten_denial(waited, self.consequence());
                }
                Ok(answer)
            }
            Err(error) if writes::is_withheld(store) => {
                ended.note_answered();
                Err(NoAnswer::without_asking(error.to_string()))
            }
            Err(error) => Err(ended.note_failure(error, waited, self.consequence())),
        }
    }

    /// Admits a call to its server, unless it is known that it would fail. The error says why.
    fn admit(&self, asked: Asked) -> std::result::Result<Admission, String> {
        let Asked { breaker, timeouts, sent, .. } = asked;
        // These come before the breaker, whose one probe would be lost on a process that cannot ask.
        self.check_distance(asked)?;
        let has_waited = self.check_pause(breaker)?;
        let access = self.access(breaker, timeouts)?;
        // One that has waited in vain a moment ago does not wait again.
        let longest_wait = if has_waited { Duration::ZERO } else { timeouts.at_gate() };
        let gate = self.enter_gate(timeouts, longest_wait);
        match gate {
            GateEntry::WithoutGate => Ok(Admission { access, gate, sent }),
            GateEntry::Lane(_) => {
                let is_newcomer =
                    access == Access::Granted && !self.host.local.has_reached(breaker);
                let access = if is_newcomer { Access::Newcomer } else { access };
                // The wait before it says nothing of the server.
                Ok(Admission { access, gate, sent: boot_time() })
            }
            GateEntry::Full => {
                self.host.record(|it| it.breaker(breaker).give_back(access, boot_time()));
                if !has_waited {
                    self.host.local.note_waiting(breaker, boot_time());
                }
                Err(format!(
                    "other processes of this host are connecting to {} at this moment",
                    self.store.name()
                ))
            }
        }
    }

    /// Refuses a call that the server is too far for, but one a second.
    fn check_distance(&self, asked: Asked) -> std::result::Result<(), String> {
        let distance = asked.distance(&*self.store, &self.host);
        if !distance.is_too_far(asked.timeouts) {
            return Ok(());
        }
        self.host.far.may_ask(asked.breaker, boot_time()).map_err(|next| {
            let advice = distance.advice(asked.timeouts).unwrap_or_default();
            let (name, left) = (self.store.name(), seconds_until(next));
            format!("{name}: {advice}; it will be asked again in {left:.1} s")
        })
    }

    /// Refuses a call of a process that could not ask a moment ago. Returns whether it has waited in vain to connect.
    fn check_pause(&self, breaker: u64) -> std::result::Result<bool, String> {
        match self.host.local.pause(breaker, boot_time()) {
            Some(Pause { until, is_waiting: false }) => Err(format!(
                "this process could not ask {} a moment ago; it tries again in {:.1} s",
                self.store.name(),
                seconds_until(until)
            )),
            pause => Ok(pause.is_some()),
        }
    }

    /// How the call may ask the server behind this breaker.
    fn access(&self, breaker: u64, timeouts: Timeouts) -> std::result::Result<Access, String> {
        let now = boot_time();
        let access = self.host.record(|it| it.breaker(breaker).access(now, timeouts.longest()));
        let Some(Access::Denied { until }) = access else {
            return Ok(access.unwrap_or(Access::Granted));
        };
        // A process that could connect no more may have opened the breaker. And one whose connection is lost must pass
        // the gate once the server is back.
        let may_try = || self.host.record(|it| it.breaker(breaker).may_try_connection(now));
        if self.store.keeps_connection(breaker) && may_try() == Some(true) {
            return Ok(Access::Connected);
        }
        let (name, left) = (self.store.name(), seconds_until(until));
        Err(format!("{name} failed a moment ago; it will be asked again in {left:.1} s"))
    }

    /// Refuses what a server may have accepted without a write, if calls that write get no answer from it: those are answered by the
    /// on-error policy, and this one must agree.
    pub fn check_is_current(&self, ops: &[Op], is_accepted: bool) -> Result<()> {
        let is_read = is_accepted && ops.iter().all(|op| op.is_read());
        match is_read && self.host.is_unwritable(boot_time()) {
            true => Err(Error::outdated(&self.store.name())),
            false => Ok(()),
        }
    }

    /// Waits for at most so long until this process may connect, if it has no connection.
    fn enter_gate(&self, timeouts: Timeouts, longest_wait: Duration) -> GateEntry {
        if self.store.is_connected() {
            return GateEntry::WithoutGate;
        }
        let (mut wait, began) = (FIRST_WAIT_TO_CONNECT, boot_time());
        loop {
            let entry = self.host.record(|it| it.gate.enter(boot_time(), timeouts.longest()));
            let entry = entry.unwrap_or(GateEntry::WithoutGate);
            let left = longest_wait.saturating_sub(since(began));
            if entry != GateEntry::Full || left.is_zero() {
                return entry;
            }
            sleep(wait.min(left));
            wait *= 2;
        }
    }

    /// A denial that is known without asking.
    pub fn known_denial(&self, request: &Request<'_>, now: u64) -> Option<Decision> {
        if self.deny_cache { deny_cache::known_denial(&self.host, request, now) } else { None }
    }

    /// Notes what the store decided on a call that was sent at `sent`: a denial that need not be asked for
    /// again, or the end of one.
    pub fn note_decision(&self, request: &Request<'_>, decision: Decision, sent: u64) {
        if request.op.gives_back() {
            self.host.clear_denials(request.key);
        } else if self.deny_cache {
            deny_cache::note_denial(&self.host, request, decision, sent);
        }
    }

    /// Notes that a call which began at `sent` wrote, if it did: it took something.
    pub fn note_write(&self, decision: &Decision, sent: u64) {
        if decision.taken > 0 {
            self.host.note_write(sent);
        }
    }

    /// Answers a call by the on-error policy.
    pub fn answer_by_policy<T>(
        &self,
        no_answer: &NoAnswer,
        answers: PolicyAnswers<T, impl FnOnce(&Host) -> Result<Answer<T>>>,
    ) -> Report<T> {
        let (reason, was_asked, is_busy) = match no_answer {
            NoAnswer::Outage { reason, was_asked, is_busy } => (reason, *was_asked, *is_busy),
            NoAnswer::Error(error) => {
                let report = Report::of_local(Err(error.clone()));
                return Report { has_failed: false, ..report };
            }
        };
        let by_policy = |answer| (Ok(Answer::from(answer)), DecidedBy::Policy);
        let (answer, decided_by) = match self.on_error {
            OnError::Fallback => match (answers.on_host)(&self.host) {
                // Another process is making the host's file. A bucket of this process alone would accept what
                // others accept, too.
                Err(error) if error.kind() == ErrorKind::Storage => by_policy(answers.closed),
                answer => (answer, DecidedBy::Host),
            },
            OnError::Open => by_policy(answers.open),
            OnError::Closed => by_policy(answers.closed),
            OnError::Throw => (Err(Error::storage(reason)), DecidedBy::Policy),
        };
        Report { decided_by, has_failed: was_asked, is_busy, ..Report::of_local(answer) }
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

fn seconds_until(time: u64) -> f64 {
    time.saturating_sub(boot_time()) as f64 / SECOND as f64
}

#[cfg(test)]
mod tests;
