//! A limit of which the store may charge more than the answers say.
//!
//! When it did so is not known, and makes no difference before an answer tells what is left: so it is tried there alone,
//! and what is lost between two answers is taken as lost at one time.

use crate::history::{Asked, Call, Key, STORE};
use crate::search::Model;
use std::fmt::{self, Debug, Formatter};
use token_bucket::limit::Op;

/// A limit, and how much may be lost.
pub struct Losing<'a, M> {
    model: &'a M,
    most: u64,
    /// When the first call began and the last one ended.
    times: [u64; 2],
}

/// What is known of the state, and how much more may be lost.
#[derive(Clone, PartialEq)]
pub struct Known<K> {
    state: K,
    left: u64,
}

impl<K: Debug> Debug for Known<K> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.state.fmt(f)?;
        match self.left {
            0 => Ok(()),
            left => write!(f, ", {left} more may be lost"),
        }
    }
}

impl<'a, M> Losing<'a, M> {
    /// The limit of a key.
    pub fn new(model: &'a M, key: &Key, most: u64) -> Self {
        let calls = || key.processes.iter().flatten();
        let begin = calls().map(|call| call.begin).min().unwrap_or_default();
        let end = calls().map(|call| call.end).max().unwrap_or_default();
        Self { model, most, times: [begin, end] }
    }

    /// A call that loses so many tokens.
    fn loss(&self, cost: u64) -> Call {
        let [begin, end] = self.times;
        let asked = Asked::Op(Op::Take { cost });
        Call { process: STORE.to_owned(), asked, begin, end, answer: None }
    }
}

impl<M: Model> Model for Losing<'_, M> {
    type Known = Known<M::Known>;

    fn first(&self) -> Self::Known {
        Known { state: self.model.first(), left: self.most }
    }

    fn after(&self, known: &Self::Known, process: usize, call: &Call) -> Vec<Self::Known> {
        let is_told = call.answer.as_ref().is_some_and(|answer| answer.left.is_some());
        let most = if is_told { known.left } else { 0 };
        let before = |lost: u64| match lost {
            0 => vec![known.state.clone()],
            lost => self.model.after(&known.state, process, &self.loss(lost)),
        };
        let after = |lost: u64| {
            let states = before(lost);
            let states = states.iter().flat_map(|state| self.model.after(state, process, call));
            let left = known.left - lost;
            states.map(|state| Known { state, left }).collect::<Vec<_>>()
        };
        (0..=most).flat_map(after).collect()
    }

    fn lost(&self, known: &Self::Known) -> u64 {
        self.most - known.left
    }

    fn likely_time(&self, known: &Self::Known, call: &Call) -> u64 {
        self.model.likely_time(&known.state, call)
    }

    fn covers(&self, known: &Self::Known, other: &Self::Known) -> bool {
        known.left >= other.left && self.model.covers(&known.state, &other.state)
    }
}
