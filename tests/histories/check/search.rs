//! Searches an order of the calls on one key, each within its own begin and end, in which the pure function gives
//! the answers that were recorded (J. Wing and C. Gong, 1993; states seen before are not tried again, as G. Lowe, 2017).
//!
//! The store's clock is not in a history: a call was decided at some time between its begin and its end. The pure
//! function depends on differences of times alone, so a state is kept as one exact state and the range of times
//! by which it may have been later. Each answer tells how far the state's end is away; that narrows the range,
//! and an answer that no time of the range gives is not explained.

use crate::history::{Call, Key, LOST};
use std::collections::HashSet;
use token_bucket::limit::{Decision, Limit, Op, StoredState, apply};

/// Nanoseconds by which a recorded answer may differ, for it went through a float.
const ROUNDING: u64 = 1_000;
/// How many calls are tried for one key before the search gives up.
const MAX_TRIED: usize = 2_000_000;

/// What the search found.
pub enum Outcome {
    /// There is an order.
    Explained(Calls),
    /// There is none.
    Unexplained(Stuck),
    /// Too many orders.
    GaveUp,
}

/// How many calls an order has.
pub struct Calls {
    pub answered: usize,
    /// Without an answer, since the process died or got an error: they may have been decided or not.
    pub died: usize,
}

/// Where the longest order that could be found ends.
pub struct Stuck {
    /// The last calls in the order.
    pub last: Vec<Call>,
    /// The calls of which none can be next.
    pub next: Vec<Call>,
    /// What is known of the state.
    pub known: String,
}

/// What is known of the state: it is `state`, later by `earliest` to `latest` nanoseconds.
#[derive(Clone, Debug)]
struct Known {
    state: StoredState,
    earliest: u64,
    latest: u64,
}

impl Known {
    const FULL: Self = Self { state: StoredState::FULL, earliest: 0, latest: 0 };
}

/// A step of the order: the call made, and what is known after it.
struct Step {
    process: usize,
    known: Known,
}

struct Search<'a> {
    key: &'a Key,
    /// How many calls of each process are in the order.
    done: Vec<usize>,
    order: Vec<Step>,
    seen: HashSet<(Vec<usize>, String)>,
    tried: usize,
    longest: Vec<usize>,
    longest_known: Known,
}

/// Searches an order for the calls on one key.
pub fn explain(key: &Key) -> Outcome {
    let mut search = Search {
        key,
        done: vec![0; key.processes.len()],
        order: Vec::new(),
        seen: HashSet::new(),
        tried: 0,
        longest: Vec::new(),
        longest_known: Known::FULL,
    };
    let found = search.run();
    let count = |is_answered| {
        let calls = key.processes.iter().flatten().filter(|call| call.process != LOST);
        calls.filter(|call| call.answer.is_some() == is_answered).count()
    };
    match found {
        Some(true) => Outcome::Explained(Calls { answered: count(true), died: count(false) }),
        Some(false) => Outcome::Unexplained(search.stuck()),
        None => Outcome::GaveUp,
    }
}

impl Search<'_> {
    /// Whether there is an order; `None` if too many were tried.
    fn run(&mut self) -> Option<bool> {
        let mut open: Vec<Vec<Step>> = vec![self.next_steps(&Known::FULL)];
        loop {
            if self.is_complete() {
                return Some(true);
            }
            let Some(steps) = open.last_mut() else { return Some(false) };
            match steps.pop() {
                Some(step) => {
                    self.tried += 1;
                    if self.tried > MAX_TRIED {
                        return None;
                    }
                    self.add_call(step.process);
                    if !self.seen.insert((self.done.clone(), format!("{:?}", step.known))) {
                        self.remove_call(step.process);
                        continue;
                    }
                    if self.order.len() + 1 > self.longest.len() {
                        self.longest = self
                            .order
                            .iter()
                            .map(|step| step.process)
                            .chain([step.process])
                            .collect();
                        self.longest_known = step.known.clone();
                    }
                    let next = self.next_steps(&step.known);
                    self.order.push(step);
                    open.push(next);
                }
                None => {
                    open.pop();
                    if let Some(step) = self.order.pop() {
                        self.remove_call(step.process);
                    }
                }
            }
        }
    }

    fn add_call(&mut self, process: usize) {
        if let Some(done) = self.done.get_mut(process) {
            *done += 1;
        }
    }

    fn remove_call(&mut self, process: usize) {
        if let Some(done) = self.done.get_mut(process) {
            *done -= 1;
        }
    }

    /// Each process's first call that is not in the order.
    fn pending<'b>(key: &'b Key, done: &'b [usize]) -> impl Iterator<Item = (usize, &'b Call)> {
        key.processes
            .iter()
            .zip(done)
            .enumerate()
            .filter_map(|(process, (calls, done))| Some((process, calls.get(*done)?)))
    }

    /// Calls that no process waits for the answer of may be left out.
    fn is_complete(&self) -> bool {
        Self::pending(self.key, &self.done).all(|(_, call)| call.answer.is_none())
    }

    /// Each call that may be next, and what would be known after it; the likeliest last.
    fn next_steps(&self, known: &Known) -> Vec<Step> {
        let mut candidates = candidates(self.key, &self.done);
        candidates.sort_by_key(|(_, call)| (call.answer.is_some(), std::cmp::Reverse(call.end)));
        let steps = |(process, call): (usize, &Call)| {
            known_after(self.key, known, call).into_iter().map(move |known| Step { process, known })
        };
        candidates.into_iter().flat_map(steps).collect()
    }

    fn stuck(&self) -> Stuck {
        let mut done = vec![0; self.key.processes.len()];
        let mut order = Vec::new();
        for process in &self.longest {
            let next = done.get_mut(*process).and_then(|n: &mut usize| {
                *n += 1;
                self.key.processes.get(*process)?.get(*n - 1)
            });
            order.extend(next.cloned());
        }
        let next = candidates(self.key, &done).into_iter().map(|(_, call)| call.clone()).collect();
        let last = order.split_off(order.len().saturating_sub(8));
        Stuck { last, next, known: format!("{:?}", self.longest_known) }
    }
}

/// The calls that may be next: those that began before each other pending call had ended.
fn candidates<'a>(key: &'a Key, done: &'a [usize]) -> Vec<(usize, &'a Call)> {
    let answered = Search::pending(key, done).filter(|(_, call)| call.answer.is_some());
    let first_end = answered.map(|(_, call)| call.end).min().unwrap_or(u64::MAX);
    Search::pending(key, done).filter(|(_, call)| call.begin <= first_end).collect()
}

/// What may be known after a call; nothing if it cannot be next.
fn known_after(key: &Key, known: &Known, call: &Call) -> Vec<Known> {
    let limit = &key.limit;
    let from = call.begin.saturating_sub(key.clock_error);
    let to = call.end.saturating_add(key.clock_error);
    let mut after: Vec<Known> = full_before(limit, known, call, from, to).into_iter().collect();
    // The times of the call on the clock of `known.state`.
    let (first, last) = (from.saturating_sub(known.latest), to.saturating_sub(known.earliest));
    let last = last.min(known.state.expires_at().saturating_sub(1));
    if last < first {
        return after;
    }
    match reset_after(call) {
        Some(reset_after) => {
            let known_at = |now: u64| {
                let (decision, state) = apply(limit, &known.state, now, call.op);
                let earliest = known.earliest.max(from.saturating_sub(now));
                let latest = known.latest.min(to.saturating_sub(now));
                let is_within = now >= first && now <= last && earliest <= latest;
                (is_within && fits(limit, &decision, call)).then_some(Known {
                    state,
                    earliest,
                    latest,
                })
            };
            for now in times(limit, known, call.op, last, reset_after) {
                // The answer may have been rounded.
                after.extend([now, now + 1, now.saturating_sub(1)].into_iter().find_map(known_at));
            }
        }
        // Any time of the call is possible.
        None => {
            for (now, op) in [first, last]
                .into_iter()
                .flat_map(|now| parts(call).into_iter().map(move |op| (now, op)))
            {
                let (decision, state) = apply(limit, &known.state, now, op);
                if fits(limit, &decision, call) {
                    after.push(Known { state, ..known.clone() });
                }
            }
        }
    }
    after
}

/// The operation; of one whose cost depends on what is there, one for each cost.
fn parts(call: &Call) -> Vec<Op> {
    match call.op {
        Op::TakeUpTo { most, least, leave } => {
            (least..=most).map(|cost| Op::take(cost, leave)).collect()
        }
        op => vec![op],
    }
}

/// After a call that found the bucket full or no window open.
fn full_before(limit: &Limit, known: &Known, call: &Call, from: u64, to: u64) -> Option<Known> {
    let now = from.max(known.state.expires_at().saturating_add(known.earliest));
    let (decision, state) = apply(limit, &StoredState::FULL, now, call.op);
    if now > to || !fits(limit, &decision, call) {
        return None;
    }
    Some(if state.expires_at() <= now {
        Known::FULL
    } else {
        Known { state, earliest: 0, latest: to - now }
    })
}

/// The times at which the call may have been decided. The answer gives them: the end of a state that has not expired
/// depends on what the call took, not on its time. `Settle` takes whether or not it is there.
fn times(limit: &Limit, known: &Known, op: Op, last: u64, reset_after: u64) -> Vec<u64> {
    let end = |cost| apply(limit, &known.state, last, Op::Settle { cost }).0.expires_at;
    let costs = if op.takes_hits() { op.cost() } else { 0 };
    (0..=costs).filter_map(|cost| end(cost).checked_sub(reset_after)).collect()
}

fn reset_after(call: &Call) -> Option<u64> {
    call.answer.as_ref()?.left.as_ref()?.reset_after
}

/// Whether a decision is the one that was recorded. A call without an answer fits always.
fn fits(limit: &Limit, decision: &Decision, call: &Call) -> bool {
    let Some(answer) = &call.answer else { return true };
    let left_fits = answer.left.as_ref().is_none_or(|left| {
        let reset_after = decision.expires_at.saturating_sub(decision.now);
        left.remaining == limit.remaining(decision)
            && left.reset_after.is_none_or(|recorded| recorded.abs_diff(reset_after) <= ROUNDING)
    });
    // What refund() and reset() say is no part of the decision.
    let is_told = !matches!(call.op, Op::Refund { .. } | Op::Reset);
    left_fits && (!is_told || answer.accepted == decision.accepted)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]
mod tests {
    use super::*;
    use crate::history::History;

    fn outcome(lines: &[&str]) -> Outcome {
        let mut text = String::from("limit k token_bucket 3 3000 0 5000\n");
        lines.iter().for_each(|line| text += &format!("{line}\n"));
        explain(History::parse(&[text]).unwrap().keys.get("k").unwrap())
    }

    fn is_explained(lines: &[&str]) -> bool {
        matches!(outcome(lines), Outcome::Explained(_))
    }

    /// A time, seconds after the first.
    fn at(seconds: f64) -> u64 {
        1_700_000_000_000_000_000 + (seconds * 1e9) as u64
    }

    fn call(process: &str, begin: f64, end: f64, answer: &str) -> [String; 2] {
        [
            format!("begin {process} k {} attempt 1 0", at(begin)),
            format!("end {process} {} {answer}", at(end)),
        ]
    }

    fn of(calls: &[[String; 2]]) -> Vec<&str> {
        calls.iter().flatten().map(String::as_str).collect()
    }

    #[test]
    fn calls_at_the_same_time_may_have_come_in_any_order() {
        let calls = [call("a", 0.0, 1.0, "yes 1 -"), call("b", 0.5, 1.5, "yes 2 -")];
        assert!(is_explained(&of(&calls)));
    }

    #[test]
    fn a_call_that_ended_before_another_began_came_first() {
        let calls = [call("a", 0.0, 1.0, "yes 1 -"), call("b", 1.5, 2.0, "yes 2 -")];
        assert!(!is_explained(&of(&calls)));
    }

    #[test]
    fn one_token_for_two_calls_is_found() {
        let calls = [call("a", 0.0, 1.0, "yes 2 1000"), call("b", 0.5, 1.5, "yes 2 1000")];
        assert!(!is_explained(&of(&calls)));
    }

    #[test]
    fn a_token_that_came_back_too_early_is_found() {
        let four = |retried: f64, answer: &str| {
            let first = [
                call("a", 0.0, 0.1, "yes 2 1000"),
                call("a", 0.2, 0.3, "yes 1 1999.8"),
                call("a", 0.4, 0.5, "yes 0 2999.6"),
            ];
            is_explained(&of(
                &[first.to_vec(), vec![call("a", retried, retried + 0.1, answer)]].concat()
            ))
        };
        assert!(four(1000.0, "yes 0 2999.95"));
        assert!(!four(900.0, "yes 0 2999.95"));
        assert!(four(900.0, "no 0 2100"));
        // No time of the call gives this.
        assert!(!four(900.0, "no 0 2200"));
    }

    #[test]
    fn a_call_of_a_process_that_died_may_have_happened_or_not() {
        for answer in ["yes 2 -", "yes 1 -"] {
            let [begin, end] = call("b", 2.0, 3.0, answer);
            let died = [
                format!("begin a k {} attempt 1 0", at(0.0)),
                format!("died a {}", at(1.0)),
                begin,
                end,
            ];
            assert!(is_explained(&died.each_ref().map(String::as_str)), "{answer}");
        }
    }

    #[test]
    fn a_call_of_a_process_that_died_happened_once() {
        let [begin, end] = call("b", 3.0, 4.0, "yes 0 -");
        let died = [
            format!("begin a k {} attempt 1 0", at(0.0)),
            format!("died a {}", at(1.0)),
            begin,
            end,
        ];
        assert!(!is_explained(&died.each_ref().map(String::as_str)));
    }

    #[test]
    fn what_was_refunded_may_be_taken_again() {
        let refund = [format!("begin a k {} refund 1", at(0.4)), format!("end a {} yes", at(0.5))];
        let calls = [
            call("a", 0.0, 0.1, "yes 2 -"),
            call("a", 0.2, 0.3, "yes 1 -"),
            refund,
            call("a", 0.6, 0.7, "yes 1 -"),
        ];
        assert!(is_explained(&of(&calls)));
        let calls = [
            call("a", 0.0, 0.1, "yes 2 -"),
            call("a", 0.2, 0.3, "yes 1 -"),
            call("a", 0.6, 0.7, "yes 1 -"),
        ];
        assert!(!is_explained(&of(&calls)));
    }
}
