//! Asks several limits: together if one server can decide on all, else one after the other.

use super::member::Member;
use super::settlement::Settlement;
use super::together::decide_together;
use crate::clock::boot_time;
use crate::guard::{DecidedBy, Event, NoAnswer, Report};
use crate::limit::{JointRule, Op};
use crate::net::Timeouts;
use crate::store::Request;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// The calls on each limit so far; none on a limit that was not asked, because another one has decided.
pub type Calls = Vec<Option<Report>>;

/// What a call does to the limits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum JointOp {
    /// Charges those that the rule names.
    Take,
    /// Looks at them.
    Peek,
}

/// A call on several limits.
pub struct JointCall<'a> {
    members: &'a [Member<'a>],
    frozen: Option<u64>,
    purpose: JointOp,
    rule: JointRule,
    /// Why the server of all limits gave no answer. Each limit's own policy answers then.
    no_answer: Option<NoAnswer>,
    /// The time that servers have cost this call which gave no answer.
    wasted: Cell<Duration>,
}

impl<'a> JointCall<'a> {
    /// A call at the time of a test's clock, if it is `frozen`.
    pub fn new(
        members: &'a [Member<'a>],
        rule: JointRule,
        purpose: JointOp,
        frozen: Option<u64>,
    ) -> Self {
        Self { members, frozen, purpose, rule, no_answer: None, wasted: Cell::default() }
    }

    /// Asks the limits, all of them or up to the first that accepts. Returns also what there is to report beside the calls.
    pub fn ask(mut self) -> (Calls, Option<Box<Event>>) {
        if let Some(denials) = self.known_denials() {
            return (denials, None);
        }
        let mut event = None;
        let calls = match self.ask_together(&mut event) {
            Some(Ok(calls)) => calls,
            Some(Err(no_answer)) => {
                self.no_answer = Some(no_answer);
                self.ask_in_order()
            }
            None => self.ask_in_order(),
        };
        (calls, event)
    }

    fn op(&self, member: &Member<'_>) -> Op {
        match self.purpose {
            JointOp::Take => member.take(),
            JointOp::Peek => member.peek(),
        }
    }

    /// The denials that this host knows without asking a server, if they deny the call: one of them does, or all of them if
    /// any limit may be charged.
    fn known_denials(&self) -> Option<Calls> {
        let (now, time) = (boot_time(), self.frozen.into());
        let known = |member: &Member<'_>| {
            let guard = member.guard()?;
            let known = |request: &Request<'_>| guard.known_denial(request, now);
            let denial = member.with_request(self.op(member), time, known)?;
            Some(Report::answered(denial, DecidedBy::DenyCache))
        };
        let calls: Calls = self.members.iter().map(known).collect();
        let denies = |(member, call): (&Member<'_>, &Option<Report>)| {
            call.as_ref().is_some_and(|report| !member.is_admitted_by(report))
        };
        let mut each = self.members.iter().zip(&calls);
        let is_denied = match self.rule {
            JointRule::All => each.any(denies),
            JointRule::First => calls.iter().all(Option::is_some),
        };
        is_denied.then_some(calls)
    }

    /// Lets the server on which all limits are decide in one step. None if they are not on one server, or it cannot do
    /// that.
    fn ask_together(&self, event: &mut Option<Box<Event>>) -> Option<Result<Calls, NoAnswer>> {
        let ops: Vec<Op> = self.members.iter().map(|member| self.op(member)).collect();
        let decided = decide_together(self.members, &ops, self.rule, self.frozen, event)?;
        let by_store = |decision| Some(Report::answered(decision, DecidedBy::Store));
        Some(decided.map(|decisions| {
            let calls = decisions.into_iter().map(by_store);
            let unasked = std::iter::repeat_with(|| None);
            calls.chain(unasked).take(self.members.len()).collect()
        }))
    }

    /// The time-outs of a limit, less what other servers have cost. None if too little is left: a server would be blamed
    /// for that.
    fn timeouts_left(&self, Timeouts { call, connect }: Timeouts) -> Option<Timeouts> {
        let left = call.saturating_sub(self.wasted.get());
        (left >= call / 8).then(|| Timeouts { call: left, connect: connect.min(left) })
    }

    fn ask_in_order(&self) -> Calls {
        match (self.rule, self.purpose) {
            (JointRule::First, _) => self.ask_until_accepted(),
            (JointRule::All, JointOp::Take) => self.take_in_order(),
            (JointRule::All, JointOp::Peek) => {
                self.members.iter().map(|it| Some(self.ask_one(it, it.peek()))).collect()
            }
        }
    }

    /// Asks one limit after the other until one accepts, or fails the call: nothing has to be given back.
    fn ask_until_accepted(&self) -> Calls {
        let mut calls: Calls = self.members.iter().map(|_| None).collect();
        for (member, call) in self.members.iter().zip(&mut calls) {
            let report = self.ask_one(member, self.op(member));
            let ends_call = match &report.answer {
                Ok(decision) => decision.is_accepted(),
                Err(_) => member.limiter.is_enforced(),
            };
            *call = Some(report);
            if ends_call {
                break;
            }
        }
        calls
    }

    fn ask_one(&self, member: &Member<'_>, op: Op) -> Report {
        let Some(guard) = member.guard() else { return member.ask_host(op, self.frozen) };
        let by_policy = |no_answer| member.answer_by_policy(guard, op, self.frozen, no_answer);
        if let Some(no_answer) = &self.no_answer {
            return by_policy(no_answer);
        }
        let Some(timeouts) = self.timeouts_left(member.limiter.timeouts) else {
            let reason = "other servers of this call gave no answer in its time".to_owned();
            return by_policy(&NoAnswer::without_asking(reason));
        };
        let begun = Instant::now();
        let report = member.ask(guard, op, self.frozen, &timeouts);
        if report.has_failed {
            self.wasted.set(self.wasted.get() + begun.elapsed());
        }
        report
    }

    /// Looks at all limits, then charges them in their order. Gives back what was charged if one denies after all, or
    /// fails.
    fn take_in_order(&self) -> Calls {
        let mut calls: Calls = self.members.iter().map(|_| None).collect();
        let mut is_denied = false;
        // The first limit is not looked at: its charge comes next and answers the same.
        for (member, call) in self.members.iter().zip(&mut calls).skip(1) {
            let seen = self.ask_one(member, member.peek());
            let has_error = seen.answer.is_err() && member.limiter.is_enforced();
            is_denied |= !member.is_admitted_by(&seen);
            *call = Some(seen);
            if has_error {
                return calls;
            }
        }
        if is_denied {
            if let (Some(member), Some(call)) = (self.members.first(), calls.first_mut()) {
                *call = Some(self.ask_one(member, member.peek()));
            }
            self.members.iter().zip(&mut calls).for_each(|(it, call)| self.correct(it, call));
            return calls;
        }
        for (i, member) in self.members.iter().enumerate() {
            let taken = self.ask_one(member, member.take());
            let is_admitted = member.is_admitted_by(&taken);
            let Some((call, before)) = calls.get_mut(..=i).and_then(<[_]>::split_last_mut) else {
                break;
            };
            *call = Some(after(taken, call.take()));
            if !is_admitted {
                for (member, call) in self.members.iter().zip(before).rev() {
                    self.give_back(member, call);
                }
                let rest = self.members.iter().zip(&mut calls).skip(i + 1);
                rest.for_each(|(member, call)| self.correct(member, call));
                break;
            }
        }
        calls
    }

    /// Lets a limit that was looked at bring a time from the future down, if it may have one: a peek leaves it as it is.
    fn correct(&self, member: &Member<'_>, call: &mut Option<Report>) {
        let has_state = |seen: &Report| {
            matches!(seen.decided_by, DecidedBy::Store | DecidedBy::Host)
                && seen.answer.as_ref().is_ok_and(|seen| member.limit.may_be_corrected(seen))
        };
        if call.as_ref().is_some_and(has_state) {
            let corrected = self.ask_one(member, Op::Take { cost: 0 });
            *call = call.take().map(|seen| after(seen, Some(corrected)));
        }
    }

    /// Gives back what a call has taken, and looks at the limit again.
    fn give_back(&self, member: &Member<'_>, call: &mut Option<Report>) {
        let Some(Report { answer: Ok(decision), decided_by, .. }) = &call else { return };
        let (Member { limiter, identifier, limit, .. }, decided_by) = (*member, *decided_by);
        let in_force = None;
        let settlement =
            Settlement { limiter, identifier, limit, in_force, decision, decided_by, cost: 0 };
        // If the server fails now, the charge stays.
        let refunded = settlement.settle(self.frozen);
        let seen = self.ask_one(member, member.peek()).after(refunded.event);
        *call = Some(after(seen, call.take()));
    }
}

/// The same answer, with what happened in an earlier call on the same limit.
fn after(report: Report, earlier: Option<Report>) -> Report {
    let Some(earlier) = earlier else { return report };
    Report {
        has_failed: report.has_failed || earlier.has_failed,
        is_busy: report.is_busy || earlier.is_busy,
        lacked_room: report.lacked_room || earlier.lacked_room,
        ..report.after(earlier.event)
    }
}
