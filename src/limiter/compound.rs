//! Calls on several limits: all of them are charged, or none.
//!
//! If one server can decide on all limits in one atomic step, it does ([`Store::decide_all`]). Otherwise all
//! limits are looked at first, then charged in their order; if one denies after all, because another process
//! was faster, those before it get back what they were charged. So no limit is exceeded, and none stays
//! charged for a denied call. For a moment other processes may find less than they would have, and a process
//! that dies in between leaves its own charges behind. If the one server fails, each limit's own policy answers.

use super::flagged_decision::FlaggedDecision;
use super::joint_call::{Calls, JointCall};
use super::member::Member;
use crate::clock::boot_time;
use crate::guard::{DecidedBy, Event, Report};
use crate::statistics::Outcome;

/// The most limits of a call.
pub const MAX_MEMBERS: usize = 16;

/// The answer of each limit, in their order; none of a limit that was not asked, because another one has decided.
pub type Answers = Vec<Option<FlaggedDecision>>;

/// Takes from all limits if every enforced one accepts, else from none. Counts the call for each limit that
/// is charged or denies.
///
/// # Errors
///
/// Those of [`Limiter::decide`](super::limiter::Limiter::decide). What was taken is given back first, unless that server fails, too.
pub fn take_all(members: &[Member<'_>]) -> Report<Answers> {
    let (calls, event) = JointCall::new(members).take();
    let asked = || members.iter().zip(&calls).filter_map(|(it, call)| Some((it, call.as_ref()?)));
    let is_admitted = asked().all(|(member, report)| member.is_admitted_by(report));
    let now = boot_time();
    let count = |(member, report): (&Member<'_>, &Report)| {
        member.count_if(is_admitted || !member.is_admitted_by(report), report, now)
    };
    let mistakes = asked().map(count).reduce(Event::both).flatten();
    finish(members, calls, Event::both(event, mistakes))
}

/// Takes as [`take_all`] does; returns only whether the call may go on.
///
/// # Errors
///
/// Those of [`take_all`].
pub fn admits_all(members: &[Member<'_>]) -> Report<bool> {
    if let Some(now) = take_all_on_host(members) {
        let count = |it: &Member<'_>| {
            let (context, statistics) = (it.context(), &it.limiter.statistics);
            statistics.add_outcome(&context, Some(it.limit), Outcome::Accepted, || now)
        };
        let mistakes = members.iter().map(count).reduce(Event::both).flatten();
        return Report::answered(true, DecidedBy::Store).before(mistakes);
    }
    let admits = |answers: Answers| answers.iter().flatten().all(FlaggedDecision::is_admitted);
    take_all(members).map(|answers| answers.map(admits))
}

/// Asks all limits what they would answer, and changes nothing.
///
/// # Errors
///
/// Those of [`take_all`].
pub fn peek_all(members: &[Member<'_>]) -> Report<Answers> {
    let (calls, event) = JointCall::new(members).peek();
    finish(members, calls, event)
}

/// The report of the whole call: all answers, and what there is to report beside them.
fn finish(members: &[Member<'_>], calls: Calls, event: Option<Box<Event>>) -> Report<Answers> {
    let flagged = |(member, call): (&Member<'_>, Option<Report>)| match call {
        None => Report::answered(None, DecidedBy::Store),
        Some(report) => member.limiter.flagged(report, member.limit).map(|answer| answer.map(Some)),
    };
    Report::of_all(members.iter().zip(calls).map(flagged)).after(event)
}

/// Takes from all limits if all of them are on this host and accept: the usual case there, with one reading
/// of the clock and without what a decision costs (`make bench`, `Compound`). Returns the time of the call; None if that is not so:
/// then nothing is taken. Nothing is counted.
fn take_all_on_host(members: &[Member<'_>]) -> Option<u64> {
    let is_on_host = |member: &Member<'_>| member.guard().is_none() && !member.is_exempt;
    if members.len() > MAX_MEMBERS || !members.iter().all(is_on_host) {
        return None;
    }
    let now = boot_time();
    // The first limit is not looked at: its charge comes next and answers the same.
    if !members.iter().skip(1).all(|member| member.would_accept(now)) {
        return None;
    }
    let mut charged = [0; MAX_MEMBERS];
    for (i, (member, charged_until)) in members.iter().zip(&mut charged).enumerate() {
        match member.charge(now) {
            Some(expires_at) => *charged_until = expires_at,
            None => {
                // Not at `now`: a charge may be later.
                let (before, later) = (members.iter().zip(charged).take(i), boot_time());
                before.rev().for_each(|(member, expires_at)| member.undo(expires_at, later));
                return None;
            }
        }
    }
    Some(now)
}
