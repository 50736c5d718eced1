//! Buckets and windows whose state ends at a time.
//!
//! The store's clock is not in a history: a call was decided at some time between its begin and its end. The pure
//! function depends on differences of times alone, so a state is kept as one exact state and the range of times
//! by which it may have been later. Each answer tells how far the state's end is away; that narrows the range,
//! and an answer that no time of the range gives is not explained.

use crate::history::{Asked, Call};
use crate::search::Model;
use token_bucket::limit::{Decision, Limit, Op, StoredState, apply};

/// Nanoseconds by which a recorded answer may differ, for it went through a float.
const ROUNDING: u64 = 1_000;
/// How much later than the calendar's the end of a window may be: in shared memory it is a whole millisecond since the host booted.
const BOUNDARY: u64 = 1_000_000;

/// What is known of the state: it is `state`, later by `earliest` to `latest` nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Known {
    state: StoredState,
    earliest: u64,
    latest: u64,
    /// The earliest time at which a call can have made it so, on the clock of `state`. No call that ended before comes later.
    decided: u64,
}

impl Known {
    const fn full(decided: u64) -> Self {
        Self { state: StoredState::FULL, earliest: 0, latest: 0, decided }
    }

    /// The operation; one that settles a call does so in the window that is open: no history has one that has ended.
    fn in_its_window(&self, op: Op) -> Op {
        match op {
            Op::Settle { cost, .. } => Op::Settle { cost, expiry: self.state.expires_at() },
            op => op,
        }
    }

    /// The earliest time at which a call can have made the state what it is.
    const fn earliest_decision(&self) -> u64 {
        self.decided.saturating_add(self.earliest)
    }

    /// When the state was last made what it is, if a call at `now` comes to `after`. One that changes nothing may have read the
    /// clock before the state.
    fn decided_by(&self, after: &StoredState, now: u64) -> u64 {
        if *after == self.state { self.decided } else { self.decided.max(now) }
    }
}

/// A bucket or window.
pub struct Ending {
    pub limit: Limit,
    /// Nanoseconds by which the time of a decision may lie outside the call.
    pub clock_error: u64,
}

impl Model for Ending {
    type Known = Known;

    fn first(&self) -> Known {
        Known::full(0)
    }

    fn after(&self, known: &Known, _: usize, call: &Call) -> Vec<Known> {
        match call.asked {
            Asked::Op(op) => known_after(self, known, call, op),
            _ => Vec::new(),
        }
    }

    fn begin_of_loss(&self, known: &Known, begin: u64) -> u64 {
        begin.max(known.earliest_decision().saturating_sub(self.clock_error))
    }

    /// The answer tells when the state ends.
    fn likely_time(&self, known: &Known, call: &Call) -> u64 {
        let cost = match (call.asked, &call.answer) {
            (Asked::Op(op), Some(answer)) if op.takes_hits() && answer.accepted => op.cost(),
            _ => 0,
        };
        let time = reset_after(call).and_then(|reset_after| {
            let last = known.state.expires_at().saturating_sub(1);
            let end = end_after(&self.limit, known, last, cost);
            (end + known.earliest).checked_sub(reset_after)
        });
        let [from, to] = call.times(self.clock_error);
        time.map_or(call.end, |time| time.clamp(from, to))
    }

    fn covers(&self, known: &Known, other: &Known) -> bool {
        known.state == other.state
            && known.earliest <= other.earliest
            && other.latest <= known.latest
            && known.decided <= other.decided
    }
}

impl Ending {
    /// The decision by a clock that may be behind the one that wrote the state by so much as two clocks may differ: it is made by
    /// that clock.
    fn apply_by_later_clock(
        &self,
        state: &StoredState,
        now: u64,
        op: Op,
    ) -> (Decision, StoredState) {
        let written = self.limit.earliest_write(state);
        let is_behind = (now..=now + 2 * self.clock_error).contains(&written);
        let (decision, after) =
            apply(&self.limit, state, if is_behind { written } else { now }, op);
        (Decision { now, ..decision }, after)
    }
}

/// What may be known after a call; nothing if it cannot be next.
fn known_after(model: &Ending, known: &Known, call: &Call, op: Op) -> Vec<Known> {
    let limit = &model.limit;
    let op = known.in_its_window(op);
    let [from, to] = call.times(model.clock_error);
    if to < known.earliest_decision() {
        return Vec::new();
    }
    let between_clocks = 2 * model.clock_error;
    let latest = known.latest.min(to - known.decided);
    let known = &Known { latest, ..known.clone() };
    let mut after: Vec<Known> =
        full_before(limit, known, call, op, [from, to]).into_iter().collect();
    // The times of the call on the clock of `known.state`.
    let (first, last) = (from.saturating_sub(known.latest), to.saturating_sub(known.earliest));
    let last = last.min(known.state.expires_at().saturating_sub(1));
    let first = first.max(limit.earliest_write(&known.state).saturating_sub(between_clocks));
    if last < first {
        return after;
    }
    match reset_after(call) {
        Some(reset_after) => {
            let known_at = |now: u64| {
                let (decision, state) = model.apply_by_later_clock(&known.state, now, op);
                let earliest = known.earliest.max(from.saturating_sub(now));
                let latest = known.latest.min(to.saturating_sub(now));
                let decided = known.decided_by(&state, now);
                let is_within = now >= first && now <= last && earliest <= latest;
                (is_within && fits(limit, &decision, call, op)).then_some(Known {
                    state,
                    earliest,
                    latest,
                    decided,
                })
            };
            for now in times(limit, known, op, last, reset_after) {
                // The answer may have been rounded.
                after.extend([now, now + 1, now.saturating_sub(1)].into_iter().find_map(known_at));
            }
        }
        // Any time of the call is possible. Before the state can have been written the clock would seem set back, and at the last
        // moment the limit may be full: in between it is changed by what the call took or gave back alone.
        None => {
            let between = limit.earliest_write(&known.state).clamp(first, last);
            for (now, op) in [first, between, last]
                .into_iter()
                .flat_map(|now| parts(op).into_iter().map(move |op| (now, op)))
            {
                let (decision, state) = model.apply_by_later_clock(&known.state, now, op);
                if fits(limit, &decision, call, op) {
                    let is_so =
                        |time| model.apply_by_later_clock(&known.state, time, op).1 == state;
                    let decided = known.decided_by(&state, first_time(first, now, is_so));
                    after.push(Known { state, decided, ..known.clone() });
                }
            }
        }
    }
    after
}

/// The first time up to `last` that is so. If one is, those after it are, too.
fn first_time(mut first: u64, mut last: u64, is_so: impl Fn(u64) -> bool) -> u64 {
    while first < last {
        let middle = first.midpoint(last);
        match is_so(middle) {
            true => last = middle,
            false => first = middle + 1,
        }
    }
    last
}

/// The operation; of one whose cost depends on what is there, one for each cost.
fn parts(op: Op) -> Vec<Op> {
    match op {
        Op::TakeUpTo { most, least, leave } => {
            (least..=most).map(|cost| Op::take(cost, leave)).collect()
        }
        op => vec![op],
    }
}

/// After a call that found the bucket full or no window open.
fn full_before(
    limit: &Limit,
    known: &Known,
    call: &Call,
    op: Op,
    [from, to]: [u64; 2],
) -> Option<Known> {
    let is_calendar = matches!(limit, Limit::CalendarWindow(_));
    let first = if is_calendar { from.saturating_sub(BOUNDARY) } else { from };
    let now = match reset_after(call) {
        // The end of a calendar's window does not depend on when the call came, so it tells that.
        Some(reset_after) if is_calendar && reset_after > 0 => {
            let opened = apply(limit, &StoredState::FULL, from, Op::Take { cost: 1 }).0;
            opened.expires_at.checked_sub(reset_after)?.max(first)
        }
        _ => from.max(known.state.expires_at().saturating_add(known.earliest)),
    };
    let (decision, state) = apply(limit, &StoredState::FULL, now, op);
    if now > to || !fits(limit, &decision, call, op) {
        return None;
    }
    let latest = if is_calendar { BOUNDARY.min(to - now) } else { to - now };
    Some(match state.expires_at() <= now {
        true => Known::full(now.max(known.decided + known.earliest)),
        false => Known { state, earliest: from.saturating_sub(now), latest, decided: now },
    })
}

/// The times at which the call may have been decided. The answer gives them: the end of a state that has not expired
/// depends on what the call took, not on its time.
fn times(limit: &Limit, known: &Known, op: Op, last: u64, reset_after: u64) -> Vec<u64> {
    let costs = if op.takes_hits() { op.cost() } else { 0 };
    let end = |cost| end_after(limit, known, last, cost);
    (0..=costs).filter_map(|cost| end(cost).checked_sub(reset_after)).collect()
}

/// When the state ends after a call at this time that took so much. `Settle` takes whether or not it is there.
fn end_after(limit: &Limit, known: &Known, now: u64, cost: u64) -> u64 {
    apply(limit, &known.state, now, known.in_its_window(Op::Settle { cost, expiry: 0 }))
        .0
        .expires_at
}

fn reset_after(call: &Call) -> Option<u64> {
    call.answer.as_ref()?.left.as_ref()?.reset_after
}

/// Whether a decision is the one that was recorded. A call without an answer fits always.
fn fits(limit: &Limit, decision: &Decision, call: &Call, op: Op) -> bool {
    let Some(answer) = &call.answer else { return true };
    let left_fits = answer.left.as_ref().is_none_or(|left| {
        let reset_after = decision.expires_at.saturating_sub(decision.now);
        left.remaining == limit.remaining(decision)
            && left.reset_after.is_none_or(|recorded| recorded.abs_diff(reset_after) <= ROUNDING)
    });
    // What refund(), settle() and reset() say is no part of the decision.
    let is_told = !matches!(op, Op::Refund { .. } | Op::Settle { .. } | Op::Reset);
    left_fits && (!is_told || answer.accepted == decision.is_accepted())
}
