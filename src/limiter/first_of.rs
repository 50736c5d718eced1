//! Calls on several limits, of which the first one that accepts is charged.
//!
//! Paid: a round trip for each limit that a server denies, unless this host remembers the denial, which it does of buckets. Got: one way
//! for all stores, with leases. Tried instead, on a Redis of the same host: one script that decides on two limits in one trip. The times are
//! each the shortest mean of five runs, on a machine with other work, so differences of a few µs say nothing.
//!
//! | | the script | one after the other |
//! |---|---|---|
//! | the first accepts | 1 trip; windows 32 µs, buckets 36 µs | 1 trip; windows 29 µs, buckets 28 µs |
//! | the first denies, the second accepts | 1 trip; 34 µs | windows 2 trips, 54 µs; buckets 1 trip, 28 µs: the denial is remembered |
//! | both deny | windows 1 trip, 31 µs; buckets none | windows 2 trips, 52 µs; buckets none |
//!
//! One limit is asked after the other until one accepts, each as if it stood alone: with its leases, and the denials that its host
//! remembers. That is exact: a limit that denies is not charged, so nothing has to be given back.

use super::flagged_decision::FlaggedDecision;
use super::in_order::InOrder;
use super::member::Member;
use crate::clock::boot_time;
use crate::guard::{self, Event, Report};
use crate::limit::Op;

/// The answer to a call on several limits, of which the first one that accepts is charged.
pub enum FirstAnswer {
    /// The call goes on: the limit at this position accepts, or none does and this one is in a dry run.
    GoesOn {
        /// The position of the limit.
        position: usize,
        /// Its decision.
        decision: FlaggedDecision,
    },
    /// All limits deny.
    Denied {
        /// The decision of each.
        each: Vec<FlaggedDecision>,
        /// The position of the limit that accepts before the others do.
        soonest: usize,
    },
}

impl FirstAnswer {
    /// The answer of limits of which none accepts.
    fn of_denials(each: Vec<FlaggedDecision>) -> Self {
        if let Some(position) = each.iter().position(FlaggedDecision::is_admitted)
            && let Some(decision) = each.get(position).copied()
        {
            return Self::GoesOn { position, decision };
        }
        let wait = |it: &FlaggedDecision| it.decision.retry_after();
        let by_wait = each.iter().enumerate().min_by(|a, b| wait(a.1).total_cmp(&wait(b.1)));
        let soonest = by_wait.map_or(0, |(position, _)| position);
        Self::Denied { each, soonest }
    }
}

/// Takes from the first limit that accepts. Counts the call for that limit; if there is none, for each limit that denies
/// it, or those in a dry run.
///
/// # Errors
///
/// Those of [`Limiter::decide`](super::limiter::Limiter::decide), of the limits up to the one that accepts.
#[inline(always)]
pub fn take_first<'a>(members: impl Iterator<Item = Member<'a>>) -> Report<FirstAnswer> {
    ask(members, Member::take, true)
}

/// Answers as [`take_first`] would, and changes nothing.
///
/// # Errors
///
/// Those of [`take_first`].
pub fn peek_first<'a>(members: impl Iterator<Item = Member<'a>>) -> Report<FirstAnswer> {
    ask(members, Member::peek, false)
}

#[inline(always)]
fn ask<'a>(
    members: impl Iterator<Item = Member<'a>>,
    op: fn(&Member<'a>) -> Op,
    is_counted: bool,
) -> Report<FirstAnswer> {
    let in_order = InOrder::new(guard::decide);
    let mut passed = Passed { each: Vec::new(), is_counted };
    for member in members {
        let now = boot_time();
        let report = in_order.ask(&member, op(&member), now);
        let lets_next_be_asked = match &report.answer {
            Ok(decision) => !decision.is_accepted(),
            Err(_) => !member.limiter.is_enforced(),
        };
        if lets_next_be_asked {
            passed.each.push((member, report));
            continue;
        }
        let mistake = if is_counted { member.count(&report, now) } else { None };
        let report = member.limiter.flagged(report, member.limit).before(mistake);
        return passed.followed_by(report);
    }
    passed.deny()
}

/// The limits of a call that do not accept it, with their answers: the next limit is asked.
struct Passed<'a> {
    each: Vec<(Member<'a>, Report)>,
    is_counted: bool,
}

impl Passed<'_> {
    /// The answer to a call that the next limit accepts, or fails.
    #[inline(always)]
    fn followed_by(self, last: Report<FlaggedDecision>) -> Report<FirstAnswer> {
        let position = self.each.len();
        let last = last.map(|answer| Ok(FirstAnswer::GoesOn { position, decision: answer? }));
        if position == 0 {
            return last;
        }
        if self.is_counted {
            // Neither charged nor denying.
            self.each.iter().for_each(|(member, report)| member.count_incidents(report));
        }
        last.after(self.answers().event)
    }

    /// The answer to a call that no limit accepts.
    #[cold]
    fn deny(self) -> Report<FirstAnswer> {
        let has_dry_run = self.each.iter().any(|(member, _)| !member.limiter.is_enforced());
        let now = boot_time();
        let count = |(member, report): &(Member<'_>, Report)| {
            // A call that a dry run lets go on is not denied.
            member.count_if(!has_dry_run || !member.limiter.is_enforced(), report, now)
        };
        let mistakes = match self.is_counted {
            true => self.each.iter().map(count).reduce(Event::both).flatten(),
            false => None,
        };
        self.answers().before(mistakes).map(|each| Ok(FirstAnswer::of_denials(each?)))
    }

    fn answers(self) -> Report<Vec<FlaggedDecision>> {
        let flagged =
            |(member, report): (Member<'_>, Report)| member.limiter.flagged(report, member.limit);
        Report::of_all(self.each.into_iter().map(flagged))
    }
}
