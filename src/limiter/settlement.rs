//! Settles decisions: a call took an estimate, and is charged what it cost. What it did not need goes back to where
//! it was taken; what it needed beyond that is charged there, also if it is not there.

use super::limiter::Limiter;
use super::member::Member;
use super::together::decide_together;
use crate::clock::boot_time;
use crate::error::Result;
use crate::guard::{self, DecidedBy, NoAnswer, PolicyAnswers, Report};
use crate::limit::{Decision, Limit, Op, TokenBucket};
use crate::store::Answer;
use std::cell::Cell;
use std::rc::Rc;

/// A decision, where it was made, and what its call cost.
pub struct Settlement<'a> {
    /// The limiter that made it.
    pub limiter: &'a Limiter,
    /// Its identifier.
    pub identifier: &'a [u8],
    /// Its limit.
    pub limit: &'a Limit,
    /// The numbers that are in force for the limit now, if the caller knows them.
    pub in_force: Option<Rc<Limit>>,
    /// The decision.
    pub decision: &'a Decision,
    /// What made it.
    pub decided_by: DecidedBy,
    /// Tokens or hits.
    pub cost: u64,
    /// Whether the call went on, and asked for nothing.
    pub asked_for_nothing: bool,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    /// Whether the call is charged what it cost. Not if it took nothing, if all that it did not need has come back by
    /// itself, if its fixed window has ended or was reset, if the identifier is blocked, or if the store failed
    /// a moment ago and was not asked. None if the store was asked and gave no answer.
    pub is_done: Option<bool>,
    /// What is left after it, if that is known.
    pub level: Option<Decision>,
}

impl Settled {
    const fn without_asking(is_done: bool) -> Self {
        Self { is_done: Some(is_done), level: None }
    }

    /// What a store or a lease answered, if it did. `has_failed`: the store was asked and failed.
    fn of(answer: Option<Decision>, has_failed: bool) -> Self {
        let is_done = match answer {
            Some(decision) => Some(decision.is_accepted()),
            None => (!has_failed).then_some(false),
        };
        Self { is_done, level: answer }
    }
}

/// Settles the decisions of one call. If they were made by one server that can decide on all of their limits in one
/// step, it settles them so.
///
/// # Errors
///
/// Those of [`Limiter::decide`], after all were tried.
pub fn settle(each: &[Settlement<'_>]) -> Report<Vec<Settled>> {
    match settle_together(each) {
        Some(reports) => Report::of_all(reports.into_iter()),
        None => Report::of_all(each.iter().map(|it| it.settle())),
    }
}

impl<'a> Settlement<'a> {
    /// What there is to change; or, without that, whether the call is charged what it cost.
    fn op(&self) -> std::result::Result<Op, bool> {
        let (limit, decision) = (self.limit, self.decision);
        let (decided_by, cost) = (self.decided_by, self.cost);
        match (decision.settle(cost), limit) {
            _ if decision.taken == 0 && (cost == 0 || !self.is_accepted_for_nothing()) => {
                Err(false)
            }
            // No window was open, so there is none to name: the call opens one, or is charged to the one that another opened.
            (Op::Settle { .. }, Limit::FixedWindow(_) | Limit::CalendarWindow(_))
                if decision.taken == 0 && limit.remaining(decision) == limit.capacity() =>
            {
                Ok(Op::TakeUpTo { most: cost, least: 0, leave: 0 })
            }
            (Op::Settle { cost: 0, .. }, _) => Err(true),
            (Op::Refund { cost, .. }, Limit::TokenBucket(bucket))
                if decided_by == DecidedBy::Lease =>
            {
                match still_missing(bucket, decision).min(cost) {
                    0 => Err(false),
                    cost => Ok(Op::Refund { cost, expiry: None }),
                }
            }
            (op, _) => Ok(op),
        }
    }

    /// Whether the call was accepted by a store or this host because it estimated its cost at nothing.
    fn is_accepted_for_nothing(&self) -> bool {
        let is_counted =
            matches!(self.decided_by, DecidedBy::Store | DecidedBy::Host | DecidedBy::Lease);
        is_counted && self.decision.is_accepted() && self.asked_for_nothing
    }

    /// The numbers to settle by. The time of a token changes with the interval: of the decision's own and of those in force
    /// now, the ones that count against the caller.
    fn limit_for(&self, op: Op) -> &Limit {
        let (Limit::TokenBucket(own), Some(current @ Limit::TokenBucket(now))) =
            (self.limit, self.in_force.as_deref())
        else {
            return self.limit;
        };
        let is_cheaper = now.cost_in_time(1).ceil() < own.cost_in_time(1).ceil();
        let gives_back = matches!(op, Op::Refund { .. });
        if is_cheaper == gives_back { current } else { self.limit }
    }

    /// Settles the decision.
    ///
    /// # Errors
    ///
    /// Those of [`Limiter::decide`].
    pub fn settle(&self) -> Report<Settled> {
        let (limiter, identifier, decided_by) = (self.limiter, self.identifier, self.decided_by);
        let op = match self.op() {
            Ok(op) => op,
            Err(is_done) => {
                return Report::answered(Settled::without_asking(is_done), decided_by);
            }
        };
        let (limit, key_hash) = (self.limit_for(op), Cell::default());
        let key = limiter.plain_key(identifier, limit, &key_hash);
        let request = limiter.request(&key, limit, &op, boot_time());
        let on_host = |answer: Result<Answer>| Report::of_local(answer).map(|it| it.map(Some));
        let report = match &limiter.guard {
            Some(guard) if decided_by == DecidedBy::Host => on_host(guard.host.decide(&request)),
            Some(guard) => guard::correct(guard, &request, decided_by == DecidedBy::Lease),
            None => on_host(limiter.store.decide(&request)),
        };
        settled(report, limiter)
    }
}

/// Lets the server on which all decisions were made settle them in one step. None if it is not one server, or cannot.
fn settle_together(each: &[Settlement<'_>]) -> Option<Vec<Report<Settled>>> {
    let ops: Vec<_> = each.iter().map(Settlement::op).collect();
    let caches: Vec<_> = each.iter().map(|_| (Cell::default(), Cell::default())).collect();
    let with_ops = || each.iter().zip(&ops).filter_map(|(it, op)| Some((it, op.ok()?)));
    let can_join =
        |(it, op): (&Settlement<'_>, Op)| it.decided_by == DecidedBy::Store && op.settles();
    if with_ops().count() < 2 || !with_ops().all(can_join) {
        return None;
    }
    let members: Vec<_> =
        with_ops().zip(&caches).map(|((it, op), cache)| member(it, op, cache)).collect();
    let asked: Vec<Op> = with_ops().map(|(_, op)| op).collect();
    let mut event = None;
    let mut answers = match decide_together(&members, &asked, &mut event)? {
        Ok(decisions) => decisions
            .into_iter()
            .map(|decision| Report::answered(Some(decision), DecidedBy::Store))
            .collect(),
        Err(no_answer) => unanswered(&members, &asked, &no_answer),
    }
    .into_iter();
    let mut reports = Vec::with_capacity(each.len());
    for (it, op) in each.iter().zip(&ops) {
        reports.push(match op {
            Ok(_) => settled(answers.next()?.after(event.take()), it.limiter),
            Err(is_done) => Report::answered(Settled::without_asking(*is_done), it.decided_by),
        });
    }
    Some(reports)
}

/// The reports of members whose server gave no answer.
fn unanswered(
    members: &[Member<'_>],
    ops: &[Op],
    no_answer: &NoAnswer,
) -> Vec<Report<Option<Decision>>> {
    let each =
        members.iter().zip(ops).filter_map(|(member, op)| Some((member, op, member.guard()?)));
    each.map(|(member, op, guard)| {
        // The server may have given the tokens back before the call failed.
        if let Op::Refund { .. } = op {
            guard.host.clear_denials(&member.key());
        }
        guard.answer_by_policy(no_answer, PolicyAnswers::none())
    })
    .collect()
}

fn settled(report: Report<Option<Decision>>, limiter: &Limiter) -> Report<Settled> {
    let has_failed = report.has_failed;
    report.map(|answer| match answer {
        // A dry run fails no call.
        Err(error) if limiter.is_enforced() => Err(error),
        answer => Ok(Settled::of(answer.unwrap_or(None), has_failed)),
    })
}

fn member<'a>(
    settlement: &'a Settlement<'_>,
    op: Op,
    cache: &'a (Cell<crate::store::KeyHash>, Cell<crate::statistics::RecordHandle>),
) -> Member<'a> {
    let (limiter, identifier) = (settlement.limiter, settlement.identifier);
    let (limit, (key_hash, record)) = (settlement.limit_for(op), cache);
    let (name, is_exempt) = (None, false);
    Member { limiter, identifier, name, key_hash, record, limit, cost: 0, leave: 0, is_exempt }
}

/// How many of the tokens that a decision took from a bucket's lease have not come back by themselves. It expires by this host's
/// clock, which says nothing to a server.
fn still_missing(bucket: &TokenBucket, decision: &Decision) -> u64 {
    let left = decision.expires_at.saturating_sub(boot_time());
    decision.taken.min(bucket.tokens_begun_in(left))
}
