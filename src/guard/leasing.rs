//! Decides by tokens that this host has taken from a server ahead (`leases`).
//!
//! Only calls that take tokens from a token bucket or hits from a fixed or calendar window, or give some back, have leases. All other
//! calls ask the server, which does not know what hosts still hold; those that change the bucket otherwise end this host's lease.

use super::guard::Guard;
use super::host::Host;
use super::leases::{Fetch, LeaseKey, Level, Step, Taken, is_scarce, missing};
use super::no_answer::{PolicyAnswers, answers_to};
use super::report::{DecidedBy, Report};
use crate::clock::{boot_time, frozen};
use crate::error::Result;
use crate::limit::{Decision, Op};
use crate::net::Timeouts;
use crate::net::budget::Budget;
use crate::net::pause::note_wait;
use crate::store::{Answer, Request};
use std::time::Duration;

/// How long a call that waits for a batch sleeps at most before it looks again: the process that fetches it may have been
/// killed.
const LONGEST_SLEEP: Duration = Duration::from_millis(5);

/// Decides on a call: by a lease, by a remembered denial, by the store, or by the on-error policy. `sent` is the time.
#[inline(never)]
pub fn decide(guard: &Guard, request: &Request<'_>, sent: u64) -> Report {
    // A test's clock says nothing of leases, which end by this host's clock.
    if guard.lease == 0 || frozen().is_some() {
        return guard.decide_without_lease(request, sent);
    }
    let tokens_of_lease =
        |cost: u64| u32::try_from(cost).ok().filter(|cost| (1..=guard.lease).contains(cost));
    match *request.op {
        Op::Take { cost } => {
            let Some(tokens) = tokens_of_lease(cost) else {
                return decide_and_end_if_blocked(guard, request, sent);
            };
            let (step, timeouts) = take(guard, request, tokens, sent);
            let request = &Request { timeouts: &timeouts, ..*request };
            match step {
                Step::Taken(taken) => leased(request, cost, taken, sent),
                Step::Fetch(wanted) => fetch(guard, request, &wanted, sent),
                Step::Ask | Step::Await(_) => decide_and_end_if_blocked(guard, request, sent),
            }
        }
        Op::Peek { cost } => {
            let available =
                with_lease(guard, request, sent, |lease| lease.available(sent)).flatten();
            match available {
                Some(held) if (1..=held.rest.into()).contains(&cost) => {
                    leased(request, 0, held, sent)
                }
                Some(Taken { rest, .. }) => {
                    let mut report = guard.decide_without_lease(request, sent);
                    if let Ok(decision) = &mut report.answer
                        && decision.is_accepted()
                    {
                        *decision = request.limit.with_more(*decision, rest.into());
                    }
                    report
                }
                None => guard.decide_without_lease(request, sent),
            }
        }
        Op::Refund { .. } => give_back(guard, request, true, |it| it, answers_to(request)),
        Op::Reset | Op::Block { .. } | Op::Start { .. } => {
            let report = guard.decide_without_lease(request, sent);
            end_lease(guard, request);
            report
        }
        _ => guard.decide_without_lease(request, sent),
    }
}

/// Corrects what a decision took. What goes back goes to the lease that it was taken from, as far as there is room, the rest to the
/// store; what the call cost beyond that the store charges. No answer if the store gave none.
pub fn correct(
    guard: &Guard,
    request: &Request<'_>,
    is_by_lease: bool,
) -> Report<Option<Decision>> {
    give_back(guard, request, is_by_lease, Some, PolicyAnswers::none())
}

/// Gives tokens back to the lease. The error is what there is left to do: the server is asked for what the lease has no room for.
fn give_back_to_lease(
    guard: &Guard,
    request: &Request<'_>,
    now: u64,
) -> std::result::Result<Taken, Op> {
    let Op::Refund { cost, expiry } = *request.op else { return Err(*request.op) };
    let limit = request.limit;
    let missing = |level: &Level| missing(limit, &level.at(limit, now));
    let put = with_lease(guard, request, now, |lease| lease.give_back(cost, expiry, now, missing));
    match put.flatten() {
        Some((taken, put)) if put == cost => Ok(taken),
        put => Err(Op::Refund { cost: cost - put.map_or(0, |(_, put)| put), expiry }),
    }
}

/// Gives tokens back to the lease, and to the store those that it has no room for; or lets the store charge more.
fn give_back<T>(
    guard: &Guard,
    request: &Request<'_>,
    is_by_lease: bool,
    keep: impl FnOnce(Decision) -> T,
    answers: PolicyAnswers<T, impl FnOnce(&Host) -> Result<Answer<T>>>,
) -> Report<T> {
    let sent = boot_time();
    let left = match is_by_lease {
        true => give_back_to_lease(guard, request, sent),
        false => Err(*request.op),
    };
    let op = match left {
        Ok(taken) => return leased(request, 0, taken, sent).map(|answer| answer.map(keep)),
        Err(op) => op,
    };
    let request = &Request { op: &op, ..*request };
    let mut refunded = None;
    let keep = |decision| {
        refunded = Some(decision);
        keep(decision)
    };
    let report = guard.decide_by_store(request, sent, keep, answers);
    if guard.lease == 0 || frozen().is_some() {
        return report;
    }
    match refunded {
        Some(decision) if decision.is_accepted() => {
            let level = Level::new(request.limit, &decision, sent);
            with_lease(guard, request, sent, |lease| lease.note_refund(&level));
        }
        Some(decision) if decision.is_blocked() => end_lease(guard, request),
        _ => {}
    }
    report
}

/// Takes from the lease. If a batch is on its way, waits for it with half of the call's time at most. Also returns the
/// time-outs that are left.
fn take(guard: &Guard, request: &Request<'_>, cost: u32, sent: u64) -> (Step, Timeouts) {
    let (mut timeouts, longest) = (*request.timeouts, request.timeouts.longest());
    let (mut now, mut budget) = (sent, None);
    loop {
        let step = with_lease(guard, request, now, |lease| lease.take(cost, now, longest));
        let seen = match step {
            Some(Step::Await(seen)) => seen,
            step => return (step.unwrap_or(Step::Ask), timeouts),
        };
        let budget = budget.get_or_insert_with(|| Budget::start(*request.timeouts));
        let left = budget.left().saturating_sub(request.timeouts.call / 2);
        if left.is_zero() {
            return (Step::Ask, timeouts);
        }
        let at_most = left.min(LONGEST_SLEEP);
        with_lease(guard, request, now, |lease| lease.sleep_while(seen, at_most));
        note_wait(at_most);
        timeouts.call = budget.left();
        now = boot_time();
    }
}

/// Asks the server for the tokens of a call, and for a batch. First gives it back what is left of the last batch.
#[cold]
fn fetch(guard: &Guard, request: &Request<'_>, fetch: &Fetch, sent: u64) -> Report {
    let mut event = None;
    if let Some(op) = fetch.return_left_over(sent) {
        let (request, none) = (Request { op: &op, ..*request }, PolicyAnswers::none());
        // If the server does not answer, these tokens are lost to the client.
        event = guard.decide_by_store(&request, sent, Some, none).event;
    }
    let give_up = |is_busy, is_denied| {
        with_lease(guard, request, boot_time(), |lease| {
            lease.give_up(fetch, is_busy, is_denied);
            lease.wake();
        })
    };
    if let Some(denial) = guard.known_denial(request, sent) {
        give_up(false, true);
        return Report::answered(denial, DecidedBy::DenyCache).after(event);
    }
    let cost = request.op.cost();
    let op = fetch.op(request.limit, cost, sent);
    let (asked, batch) = (boot_time(), Request { op: &op, ..*request });
    let mut report =
        guard.decide_by_store(&batch, asked, |it| it, answers_to(request)).after(event);
    match (report.decided_by, &mut report.answer) {
        (DecidedBy::Store, Ok(decision)) if decision.is_accepted() => {
            // Fits: a batch is at most MAX_LEASE.
            let tokens = decision.taken.saturating_sub(cost) as u32;
            let level = Level::new(request.limit, decision, asked);
            let is_scarce = is_scarce(request.limit, decision);
            let now = boot_time();
            let rest = with_lease(guard, request, now, |lease| {
                let rest = lease.put(fetch, tokens, level, is_scarce, asked, now);
                lease.wake();
                rest
            });
            let held = request.limit.with_more(*decision, rest.unwrap_or(0).into());
            *decision = Decision { taken: cost, wait: 0, ..held };
        }
        (by, _) => {
            give_up(report.is_busy, by == DecidedBy::Store && report.answer.is_ok());
        }
    }
    report
}

/// Decides without a lease, and ends it if another host has blocked the bucket.
fn decide_and_end_if_blocked(guard: &Guard, request: &Request<'_>, sent: u64) -> Report {
    let report = guard.decide_without_lease(request, sent);
    if report.answer.as_ref().is_ok_and(|decision| decision.is_blocked()) {
        end_lease(guard, request);
    }
    report
}

fn end_lease(guard: &Guard, request: &Request<'_>) {
    let now = boot_time();
    with_lease(guard, request, now, |lease| {
        lease.end(now);
        lease.wake();
    });
}

/// Runs `work` on the lease of the request's bucket at `now`.
fn with_lease<R>(
    guard: &Guard,
    request: &Request<'_>,
    now: u64,
    work: impl FnOnce(&LeaseKey<'_>) -> R,
) -> Option<R> {
    guard.host.with_lease(request.key, request.limit, guard.lease, now, work)
}

/// The decision on a call that takes `cost` tokens from a lease at `now`.
fn leased(request: &Request<'_>, cost: u64, taken: Taken, now: u64) -> Report {
    let Taken { level, rest } = taken;
    let decision = request.limit.with_more(level.at(request.limit, now), rest.into());
    Report::answered(Decision { taken: cost, ..decision }, DecidedBy::Lease)
}

#[cfg(test)]
mod tests;
