//! Calls on several limits, of which the first one that accepts is charged.
//!
//! One server that has all of them decides in one step ([`JointRule::First`]). Otherwise one is asked after the other until
//! one accepts. That is exact, too: a limit that denies is not charged, so nothing has to be given back.

use super::compound::{Answers, count, finish};
use super::flagged_decision::FlaggedDecision;
use super::joint_call::{JointCall, JointOp};
use super::member::Member;
use crate::clock::boot_time;
use crate::guard::{DecidedBy, Report};
use crate::limit::JointRule;
use crate::store::Time;

/// The answer to a call on several limits, of which the first one that accepts is charged.
pub struct FirstAnswer {
    /// The answer of each limit, in their order; none of a limit after the one that accepts.
    pub each: Answers,
    /// The place of the limit whose decision is that of the call: the one that accepts; else one in a dry run, or the one
    /// that accepts soonest.
    pub place: usize,
}

impl FirstAnswer {
    fn new(each: Answers) -> Self {
        let asked =
            || each.iter().enumerate().filter_map(|(i, answer)| Some((i, answer.as_ref()?)));
        let wait = |it: &FlaggedDecision| match it.is_admitted() {
            true => -1.0,
            false => it.decision.retry_after(),
        };
        let place = match asked().next_back() {
            Some((last, answer)) if answer.decision.is_accepted() => last,
            _ => asked().min_by(|a, b| wait(a.1).total_cmp(&wait(b.1))).map_or(0, |(i, _)| i),
        };
        Self { each, place }
    }

    /// The decision of the call.
    pub fn decision(&self) -> Option<&FlaggedDecision> {
        self.each.get(self.place)?.as_ref()
    }
}

/// Takes from the first limit that accepts. Counts the call for that limit; if there is none, for each limit that denies
/// it, or those in a dry run.
///
/// # Errors
///
/// Those of [`Limiter::decide`](super::limiter::Limiter::decide), of the limits up to the one that accepts.
pub fn take_first(members: &[Member<'_>], frozen: Option<u64>) -> Report<FirstAnswer> {
    let (calls, event) = JointCall::new(members, JointRule::First, JointOp::Take, frozen).ask();
    let asked = calls.iter().flatten().count();
    let last = calls.iter().flatten().last();
    let is_denied = last.is_some_and(|it| it.answer.as_ref().is_ok_and(|it| !it.is_accepted()));
    let has_dry_run = members.iter().any(|member| !member.limiter.is_enforced());
    let is_counted = |i, member: &Member<'_>, _: &Report| match is_denied {
        // A call that a dry run lets go on is not denied.
        true => !(has_dry_run && member.limiter.is_enforced()),
        false => i + 1 == asked,
    };
    let event = count(members, &calls, event, is_counted);
    finish(members, calls, event, frozen).map(|answers| answers.map(FirstAnswer::new))
}

/// Answers as [`take_first`] would, and changes nothing.
///
/// # Errors
///
/// Those of [`take_first`].
pub fn peek_first(members: &[Member<'_>], frozen: Option<u64>) -> Report<FirstAnswer> {
    let (mut calls, event) = JointCall::new(members, JointRule::First, JointOp::Peek, frozen).ask();
    // One server has answered for all limits.
    let accepts = |call: &Option<Report>| {
        call.as_ref().is_some_and(|it| it.answer.as_ref().is_ok_and(|it| it.is_accepted()))
    };
    let asked = calls.iter().position(accepts).map_or(calls.len(), |place| place + 1);
    calls.iter_mut().skip(asked).for_each(|call| drop(call.take()));
    finish(members, calls, event, frozen).map(|answers| answers.map(FirstAnswer::new))
}

/// Takes from a limit on this host that comes first, without what several limits cost (`make bench`, `FirstOf`), and counts
/// the call. None if it does not accept: then nothing is taken.
#[inline(always)]
pub fn take_on_host(member: &Member<'_>, frozen: Option<u64>) -> Option<Report<FlaggedDecision>> {
    if member.guard().is_some() {
        return None;
    }
    let (limiter, limit, op) = (member.limiter, member.limit, member.take());
    let now = boot_time();
    let time = frozen.map_or(Time::Read(now), Time::Frozen);
    let report =
        member.with_request(op, time, |request| Report::of_local(limiter.store.decide(request)));
    if !report.answer.as_ref().is_ok_and(|decision| decision.is_accepted()) {
        return None;
    }
    let cause = || limiter.denial_cause(limit, DecidedBy::Store, false);
    let (context, calls) = (member.context(), limiter.calls());
    let mistake = calls.add_report(&context, Some(limit), &op, &report, |_| true, || now, cause);
    Some(limiter.flagged(report, limit, frozen).before(mistake))
}
