//! How a call on the store ended: what that says of the server, of this process or of the call, and what there is to report.

use super::asked::Asked;
use super::breaker::{Access, FailureMeaning};
use super::event::Event;
use super::host::Host;
use super::no_answer::NoAnswer;
use crate::clock::boot_time;
use crate::error::{Error, ErrorKind};
use crate::limit::SECOND;
use crate::store::{RemoteStore, WriteOutcome, Writes};

/// Stands for the reason that a server is too far, in which the round trip differs from call to call.
const TOO_FAR: &str = "too far";
/// How long the policy answers calls whose writes wait.
const UNTIL_WRITTEN: &str = "; until a write succeeds, ";

/// A call on a store that has ended.
pub(super) struct EndedCall<'a> {
    pub(super) store: &'a dyn RemoteStore,
    /// What this host knows of the servers.
    pub(super) host: &'a Host,
    pub(super) asked: Asked,
    pub(super) access: Access,
    /// What there is to report.
    pub(super) event: &'a mut Option<Box<Event>>,
}

impl EndedCall<'_> {
    /// Notes that the server answered.
    pub(super) fn note_answered(&mut self) {
        self.note_reached();
        if self.host.is_use_due(self.asked.sent) {
            self.note_use();
        }
    }

    /// Notes that this process has reached the server.
    fn note_reached(&self) {
        let Asked { breaker, timeouts, sent, .. } = self.asked;
        let due = timeouts.due(sent);
        self.host.record(|it| it.note_success(breaker, self.access, due, boot_time()));
        self.host.local.note_reached(breaker);
    }

    /// Notes that this process could not ask the server.
    fn give_back(&self) {
        let Asked { breaker, .. } = self.asked;
        self.host.record(|it| it.breaker(breaker).give_back(self.access, boot_time()));
    }

    /// Notes that the call was denied, though its write waited, which means `waited`; `consequence` is what the policy does.
    #[cold]
    pub(super) fn note_unwritten_denial(
        &mut self,
        waited: FailureMeaning,
        consequence: Option<&str>,
    ) {
        let outcome = self.store.writes().map(Writes::outcome);
        if let (FailureMeaning::OutageBegins, Some(WriteOutcome::Waited(reason))) =
            (waited, outcome)
        {
            self.warn(&reason, Some(UNTIL_WRITTEN), consequence);
        }
    }

    /// Notes for operators, about once a second, that the store has answered this process.
    #[cold]
    fn note_use(&mut self) {
        let Asked { breaker, sent, .. } = self.asked;
        let took = self.store.round_trip(breaker);
        let outage = self.host.record(|it| {
            it.note_round_trip(took, sent);
            it.note_answer(sent)
        });
        self.note_recovery(outage.flatten());
        let behind = self.store.take_clock_behind();
        let is_news = || self.host.record(|it| it.note_clock_behind(behind, sent)).unwrap_or(true);
        if !behind.is_zero() && is_news() {
            let (name, seconds) = (self.store.name(), behind.as_secs_f64());
            self.event.get_or_insert_default().warnings.push(format!(
                "{name}: the clock of this host is at least {seconds:.1} s behind that of another host. Limits count by the clock furthest ahead, \
                 so up to one limit more was admitted; set the clocks by NTP"
            ));
        }
    }

    /// Notes that the call failed, for all processes (the breaker) or for this one. `waited` is what it means that its write waited;
    /// `consequence`, what the policy does.
    #[cold]
    pub(super) fn note_failure(
        &mut self,
        error: Error,
        waited: Option<FailureMeaning>,
        consequence: Option<&str>,
    ) -> NoAnswer {
        let (host, asked, access, now) = (self.host, self.asked, self.access, boot_time());
        let Asked { breaker, sent, timeouts, .. } = asked;
        let is_due =
            |reason: &str| consequence.is_some() && host.refusal_warnings.claim(reason, sent);
        let (kind, distance) = (error.kind(), asked.distance(self.store, host));
        let (reason, is_busy) = distance.explain(&error, &self.store.name(), timeouts);
        let why = host.without_name(&reason);
        let warning_of = |waited| match waited {
            Some(FailureMeaning::OutageBegins) => Some(UNTIL_WRITTEN),
            Some(FailureMeaning::OutageContinues | FailureMeaning::Stall) => None,
            // The round trip differs from call to call, but one warning is enough.
            Some(FailureMeaning::CallAlone) | None => {
                let is_far = kind == ErrorKind::Busy && !is_busy;
                is_due(if is_far { TOO_FAR } else { error.known_by().unwrap_or(&reason) })
                    .then_some("; ")
            }
        };
        let until = match kind {
            ErrorKind::Storage => {
                self.note_recovery(host.record(|it| it.end_outage(now)).flatten());
                let meaning = host.record(|it| it.note_failure(breaker, access, why, sent, now));
                match meaning.unwrap_or(FailureMeaning::OutageBegins) {
                    FailureMeaning::OutageBegins => Some("; until a call succeeds, "),
                    FailureMeaning::OutageContinues | FailureMeaning::Stall => None,
                    FailureMeaning::CallAlone => {
                        let is_worth_a_warning =
                            host.local.note_failed_alone(breaker, now) && is_due(&reason);
                        is_worth_a_warning
                            .then_some(", while others are answered; until this process is, ")
                    }
                }
            }
            // Other processes may reach the server.
            ErrorKind::Local => {
                self.give_back();
                host.record(|it| it.note_unable(why, now));
                let is_first = host.local.note_unable(breaker, now);
                is_first.then_some("; until this process can ask it, ")
            }
            // The server is up, but too far for this limiter's time-outs.
            ErrorKind::Busy if distance.is_too_far(timeouts) => {
                self.give_back();
                host.record(|it| {
                    it.note_round_trip(distance.round_trip, now);
                    it.note_unable(why, now);
                });
                is_due(TOO_FAR).then_some("; until then, ")
            }
            // Other keys are not concerned, and it is not known whether the server is up.
            ErrorKind::Busy => {
                self.give_back();
                warning_of(waited)
            }
            // The server is up, and other keys are not concerned.
            ErrorKind::Refused => {
                self.note_reached();
                warning_of(waited)
            }
            // The server is up and denies, for that writes nothing. But another one may be the one to ask.
            ErrorKind::Unwritable => {
                let refusal = host.rediscovery.note_refusal(!host.local.has_reached(breaker), now);
                self.note_reached();
                if refusal.must_rediscover {
                    self.store.rediscover();
                }
                let begins = || host.record(|it| it.note_unwritable(why, now));
                // Without a record each process says so.
                (refusal.is_confirmed && begins().unwrap_or_else(|| is_due(why)))
                    .then_some("; until a server accepts writes, ")
            }
            ErrorKind::Outdated => {
                self.note_reached();
                return NoAnswer::without_asking(reason);
            }
            ErrorKind::Configuration => return NoAnswer::Error(error),
        };
        self.warn(&reason, until, consequence);
        NoAnswer::Outage { reason, was_asked: true, is_busy }
    }

    /// Warns of a reason, of what the policy does and of how long it does it, if there is a policy and a warning is due.
    fn warn(&mut self, reason: &str, until: Option<&str>, consequence: Option<&str>) {
        if let Some((until, consequence)) = until.zip(consequence) {
            let warning = format!("{reason}{until}{consequence}");
            self.event.get_or_insert_default().warnings.push(warning);
        }
    }

    /// Notes for the log that the servers answer again, after an outage of so many nanoseconds if there was one.
    fn note_recovery(&mut self, outage: Option<u64>) {
        let Some(outage) = outage else { return };
        let (name, seconds) = (self.store.name(), outage as f64 / SECOND as f64);
        let text = format!("{name} answers again; it did not for {seconds:.1} s");
        self.event.get_or_insert_default().recoveries.push(text);
    }
}
