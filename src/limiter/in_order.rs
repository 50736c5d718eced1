//! Asks the limits of a call one after the other, in the time of one call.

use super::member::Member;
use super::uncharged::exempt;
use crate::clock::{boot_time, since};
use crate::guard::{Guard, NoAnswer, Report};
use crate::limit::Op;
use crate::net::Timeouts;
use crate::store::Request;
use std::cell::Cell;
use std::time::Duration;

/// How a guard decides on one limit of a call, which began at a time.
type Decide = fn(&Guard, &Request<'_>, u64) -> Report;

/// What the limits of a call that are asked one after the other share.
pub struct InOrder {
    decide: Decide,
    /// Why the server of all limits gave no answer. Each limit's own policy answers then.
    no_answer: Option<NoAnswer>,
    /// The time that servers have cost this call which gave no answer.
    wasted: Cell<Duration>,
}

impl InOrder {
    /// A call, none of whose limits was asked.
    pub fn new(decide: Decide) -> Self {
        Self { decide, no_answer: None, wasted: Cell::default() }
    }

    /// The same call, once the server of all limits gave no answer.
    pub fn without_answer(self, no_answer: NoAnswer) -> Self {
        Self { no_answer: Some(no_answer), ..self }
    }

    /// Asks one limit at `now`, a reading of the clock that has just been made.
    #[inline(always)]
    pub fn ask(&self, member: &Member<'_>, op: Op, now: u64) -> Report {
        match member.guard() {
            _ if member.is_exempt => exempt(member.limit),
            Some(guard) => self.ask_guard(member, guard, op, now),
            None => {
                let store = &member.limiter.store;
                member.with_request(op, now, |request| Report::of_local(store.decide(request)))
            }
        }
    }

    fn ask_guard(&self, member: &Member<'_>, guard: &Guard, op: Op, now: u64) -> Report {
        let by_policy = |no_answer| member.answer_by_policy(guard, op, now, no_answer);
        if let Some(no_answer) = &self.no_answer {
            return by_policy(no_answer);
        }
        let Some(timeouts) = self.timeouts_left(member.limiter.timeouts) else {
            let reason = "other servers of this call gave no answer in its time".to_owned();
            return by_policy(&NoAnswer::without_asking(reason));
        };
        let begun = boot_time();
        let report = member.with_request(op, now, |request| {
            (self.decide)(guard, &Request { timeouts: &timeouts, ..*request }, now)
        });
        if report.has_failed {
            self.wasted.set(self.wasted.get() + since(begun));
        }
        report
    }

    /// The time-outs of a limit, less what other servers have cost. None if too little is left: a server would be blamed
    /// for that.
    fn timeouts_left(&self, Timeouts { call, connect }: Timeouts) -> Option<Timeouts> {
        let left = call.saturating_sub(self.wasted.get());
        (left >= call / 8).then(|| Timeouts { call: left, connect: connect.min(left) })
    }
}
