//! Searches an order of the calls on one key, each within its own begin and end, in which a model of the limit gives
//! the answers that were recorded (J. Wing and C. Gong, 1993; states seen before are not tried again, as G. Lowe, 2017).

use crate::history::{Asked, Call, Key, STORE};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Debug;

/// How many calls are tried for one key before the search gives up.
const MAX_TRIED: usize = 500_000;

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

/// What a limit would answer.
pub trait Model {
    /// What is known of the limit's state.
    type Known: Clone + Debug + PartialEq;

    /// What is known before the first call.
    fn first(&self) -> Self::Known;

    /// What may be known after a call of this process; nothing if it cannot be next.
    fn after(&self, known: &Self::Known, process: usize, call: &Call) -> Vec<Self::Known>;

    /// How much the store lost by now. Orders that lose less are tried first.
    fn lost(&self, _known: &Self::Known) -> u64 {
        0
    }

    /// The earliest time at which a store can lose something next; `begin` is that of the history. A loss is written down nowhere, so
    /// its time is not known.
    fn begin_of_loss(&self, _known: &Self::Known, begin: u64) -> u64 {
        begin
    }

    /// When the call was likely decided if it is next.
    fn likely_time(&self, _known: &Self::Known, call: &Call) -> u64 {
        call.end
    }

    /// Whether all that may follow `other` may follow `known`, too.
    fn covers(&self, known: &Self::Known, other: &Self::Known) -> bool {
        known == other
    }
}

/// A step of the order: the call made, and what is known after it.
struct Step<K> {
    process: usize,
    known: K,
}

struct Search<'a, M: Model> {
    key: &'a Key,
    model: &'a M,
    /// How many calls of each process are in the order.
    done: Vec<usize>,
    order: Vec<Step<M::Known>>,
    /// What was known after so many calls of each process.
    seen: HashMap<Vec<usize>, Vec<M::Known>>,
    tried: usize,
    longest: Vec<usize>,
    longest_known: M::Known,
}

/// Searches an order for the calls on one key.
pub fn explain<M: Model>(key: &Key, model: &M) -> Outcome {
    let mut search = Search {
        key,
        model,
        done: vec![0; key.processes.len()],
        order: Vec::new(),
        seen: HashMap::new(),
        tried: 0,
        longest: Vec::new(),
        longest_known: model.first(),
    };
    let found = search.run();
    let count = |is_answered| {
        let is_call =
            |call: &&Call| call.process != STORE && !matches!(call.asked, Asked::Failover { .. });
        let calls = key.processes.iter().flatten().filter(is_call);
        calls.filter(|call| call.answer.is_some() == is_answered).count()
    };
    match found {
        Some(true) => Outcome::Explained(Calls { answered: count(true), died: count(false) }),
        Some(false) => Outcome::Unexplained(search.stuck()),
        None => Outcome::GaveUp,
    }
}

impl<M: Model> Search<'_, M> {
    /// Whether there is an order; `None` if too many were tried.
    fn run(&mut self) -> Option<bool> {
        let mut open = vec![self.next_steps(&self.model.first())];
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
                    if !self.is_new(&step.known) {
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

    /// Whether nothing seen after as many calls covers this. From now on something does.
    fn is_new(&mut self, known: &M::Known) -> bool {
        let seen = self.seen.entry(self.done.clone()).or_default();
        if seen.iter().any(|seen| self.model.covers(seen, known)) {
            return false;
        }
        seen.retain(|seen| !self.model.covers(known, seen));
        seen.push(known.clone());
        true
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

    /// Calls that no process waits for the answer of may be left out.
    fn is_complete(&self) -> bool {
        pending(self.key, &self.done).all(|(_, call)| call.answer.is_none())
    }

    /// Each call that may be next, and what would be known after it; the likeliest last.
    fn next_steps(&self, known: &M::Known) -> Vec<Step<M::Known>> {
        let mut candidates = candidates(self.key, &self.done);
        let time = |call: &Call| self.model.likely_time(known, call);
        candidates.sort_by_cached_key(|(_, call)| (call.answer.is_some(), Reverse(time(call))));
        let steps = |(process, call): (usize, &Call)| {
            let after = self.model.after(known, process, call);
            after.into_iter().map(move |known| Step { process, known })
        };
        let mut steps: Vec<_> = candidates.into_iter().flat_map(steps).collect();
        steps.sort_by_key(|step| Reverse(self.model.lost(&step.known)));
        steps
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
    let answered = pending(key, done).filter(|(_, call)| call.answer.is_some());
    let first_end = answered.map(|(_, call)| call.end).min().unwrap_or(u64::MAX);
    pending(key, done).filter(|(_, call)| call.begin <= first_end).collect()
}

/// Each process's first call that is not in the order.
fn pending<'a>(key: &'a Key, done: &'a [usize]) -> impl Iterator<Item = (usize, &'a Call)> {
    let pairs = key.processes.iter().zip(done).enumerate();
    pairs.filter_map(|(process, (calls, done))| Some((process, calls.get(*done)?)))
}
