//! How a call ended.

use super::event::Event;
use crate::error::Result;
use crate::limit::Decision;
use crate::store::Answer;

/// How a call ended: what the caller gets, what is counted, and what is reported.
#[must_use]
pub struct Report<T = Decision> {
    /// The answer, or the error where the policy is to throw.
    pub answer: Result<T>,
    /// What decided.
    pub decided_by: DecidedBy,
    /// Whether the store was asked and failed.
    pub has_failed: bool,
    /// Whether that was because the call could not be decided on in its time beside others.
    pub is_busy: bool,
    /// Whether the store had too little room: see [`Answer::lacked_room`].
    pub lacked_room: bool,
    /// What the call has to report beside its answer.
    pub event: Option<Box<Event>>,
}

impl<T> Report<T> {
    /// The report of a call that a store on this host answered, or that failed there.
    #[inline(always)]
    pub fn of_local(answer: Result<Answer<T>>) -> Self {
        let (has_failed, lacked_room) =
            (answer.is_err(), answer.as_ref().is_ok_and(|answer| answer.lacked_room));
        let answer = answer.map(|answer| answer.decision);
        Self {
            answer,
            decided_by: DecidedBy::Store,
            has_failed,
            is_busy: false,
            lacked_room,
            event: None,
        }
    }

    /// The report of a call that was answered by `decided_by`.
    pub fn answered(answer: T, decided_by: DecidedBy) -> Self {
        Self { decided_by, ..Self::of_local(Ok(answer.into())) }
    }

    /// Whether the store failed, and this host or the on-error policy answered.
    pub const fn is_degraded(&self) -> bool {
        self.answer.is_ok() && self.decided_by.is_degraded()
    }

    /// The decision of the store; none if it gave none.
    pub fn by_store(&self) -> Option<&T> {
        self.answer.as_ref().ok().filter(|_| self.decided_by == DecidedBy::Store)
    }

    /// The report with another answer.
    #[inline(always)]
    pub fn map<U>(self, to: impl FnOnce(Result<T>) -> Result<U>) -> Report<U> {
        let Self { answer, decided_by, has_failed, is_busy, lacked_room, event } = self;
        Report { answer: to(answer), decided_by, has_failed, is_busy, lacked_room, event }
    }

    /// The report of several calls: all answers, or the first error.
    pub fn of_all(reports: impl Iterator<Item = Self>) -> Report<Vec<T>> {
        let (mut answers, mut event) = (Vec::new(), None);
        for report in reports {
            answers.push(report.answer);
            event = Event::both(event, report.event);
        }
        let answer = answers.into_iter().collect::<Result<Vec<T>>>();
        Report { event, ..Report::of_local(answer.map(Answer::from)) }
    }

    /// Adds what a later part of the call has to report.
    pub fn add(&mut self, later: Option<Box<Event>>) {
        self.event = Event::both(self.event.take(), later);
    }

    /// The report with what a later part of the call has to report, too.
    pub fn before(mut self, later: Option<Box<Event>>) -> Self {
        self.add(later);
        self
    }

    /// The report with what an earlier part of the call had to report, too.
    pub fn after(self, earlier: Option<Box<Event>>) -> Self {
        Self { event: Event::both(earlier, self.event), ..self }
    }
}

/// What decided on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum DecidedBy {
    /// The store.
    Store = 0,
    /// This host's own buckets, in place of a store that failed.
    Host = 1,
    /// The on-error policy alone: nothing was counted anywhere.
    Policy = 2,
    /// This host, with tokens that it had taken from the store ahead.
    Lease = 3,
    /// This host, by a denial of the store that it remembers.
    DenyCache = 4,
    /// No limit: the client is exempt from it.
    Exemption = 5,
}

impl DecidedBy {
    /// Whether the store failed, and this host or the on-error policy answered.
    pub const fn is_degraded(self) -> bool {
        matches!(self, Self::Host | Self::Policy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    fn warned(answer: Result<u8>, warning: &str) -> Report<u8> {
        let event = Some(Event::from_warning(warning.to_owned()));
        Report { event, ..Report::of_local(answer.map(Answer::from)) }
    }

    fn warnings<T>(report: Report<T>) -> Vec<String> {
        report.event.unwrap().warnings
    }

    #[test]
    fn report_of_several_calls_has_all_answers_and_events_or_the_first_error() {
        let all = Report::of_all([warned(Ok(1), "a"), warned(Ok(2), "b")].into_iter());
        assert_eq!((all.answer.clone(), all.has_failed), (Ok(vec![1, 2]), false));
        assert_eq!(warnings(all), ["a", "b"]);
        let [first, second] = ["first", "second"].map(|it| Err(Error::storage(it)));
        let all = [warned(Ok(1), "a"), warned(first.clone(), "b"), warned(second, "c")];
        let all = Report::of_all(all.into_iter());
        assert_eq!((all.answer.clone(), all.has_failed), (first.map(|_| Vec::new()), true));
        assert_eq!(warnings(all), ["a", "b", "c"]);
    }

    #[test]
    fn events_of_a_call_are_in_the_order_of_its_parts() {
        let other = || warned(Ok(1), "other").event;
        assert_eq!(warnings(warned(Ok(1), "own").after(other())), ["other", "own"]);
        assert_eq!(warnings(warned(Ok(1), "own").before(other())), ["own", "other"]);
    }

    #[test]
    fn call_that_another_than_the_store_answered_is_degraded_if_the_store_failed() {
        for (decided_by, is_degraded) in [
            (DecidedBy::Store, false),
            (DecidedBy::Host, true),
            (DecidedBy::Policy, true),
            (DecidedBy::Lease, false),
            (DecidedBy::DenyCache, false),
            (DecidedBy::Exemption, false),
        ] {
            let report = Report::answered(7, decided_by);
            assert_eq!(report.is_degraded(), is_degraded);
            assert_eq!(report.by_store(), (decided_by == DecidedBy::Store).then_some(&7));
            let failed = Report { decided_by, ..Report::<u8>::of_local(Err(Error::storage("x"))) };
            assert!(!failed.is_degraded(), "there is no answer");
            assert_eq!(failed.by_store(), None);
        }
    }

    #[test]
    fn another_answer_leaves_the_rest_of_a_report() {
        let lacked_room = Report::of_local(Ok(Answer { decision: 1, lacked_room: true }));
        let report = Report { is_busy: true, ..lacked_room }.map(|it| it.map(|it| it + 1));
        assert_eq!((report.answer, report.is_busy, report.lacked_room), (Ok(2), true, true));
    }
}
