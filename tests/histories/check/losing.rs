//! A limit of which the store may charge more than the answers say.
//!
//! When it did so is not known. It is tried before each call that has an answer; what is lost between two of them is taken as
//! lost at one time.

use crate::history::{Asked, Call, Key, STORE};
use crate::search::Model;
use std::fmt::{self, Debug, Formatter};
use token_bucket::limit::Op;

/// A limit, and how much may be lost.
pub struct Losing<'a, M> {
    model: &'a M,
    /// How many tokens.
    budget: u64,
    /// When the first call began.
    begin: u64,
}

/// What is known of the state, and how much more may be lost.
#[derive(Clone, PartialEq)]
pub struct Known<K> {
    state: K,
    budget: u64,
}

impl<K: Debug> Debug for Known<K> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.state.fmt(f)?;
        match self.budget {
            0 => Ok(()),
            budget => write!(f, ", {budget} more may be lost"),
        }
    }
}

impl<'a, M> Losing<'a, M> {
    /// The limit of a key.
    pub fn new(model: &'a M, key: &Key, budget: u64) -> Self {
        let begins = key.processes.iter().flatten().map(|call| call.begin);
        Self { model, budget, begin: begins.min().unwrap_or_default() }
    }

    /// A call that loses so many tokens between these times.
    fn loss(cost: u64, [begin, end]: [u64; 2]) -> Call {
        let asked = Asked::Op(Op::Take { cost });
        Call { process: STORE.to_owned(), asked, begin, end, answer: None }
    }
}

impl<M: Model> Model for Losing<'_, M> {
    type Known = Known<M::Known>;

    fn first(&self) -> Self::Known {
        Known { state: self.model.first(), budget: self.budget }
    }

    fn after(&self, known: &Self::Known, process: usize, call: &Call) -> Vec<Self::Known> {
        let most = if call.answer.is_some() { known.budget } else { 0 };
        let times = [self.model.begin_of_loss(&known.state, self.begin), call.end];
        let after_loss = |lost: u64| match lost {
            0 => vec![known.state.clone()],
            lost => self.model.after(&known.state, process, &Self::loss(lost, times)),
        };
        let after = |lost: u64| {
            let budget = known.budget - lost;
            let each = |state: M::Known| self.model.after(&state, process, call);
            let states = after_loss(lost).into_iter().flat_map(each);
            states.map(|state| Known { state, budget }).collect::<Vec<_>>()
        };
        (0..=most).flat_map(after).collect()
    }

    fn lost(&self, known: &Self::Known) -> u64 {
        self.budget - known.budget
    }

    fn likely_time(&self, known: &Self::Known, call: &Call) -> u64 {
        self.model.likely_time(&known.state, call)
    }

    fn covers(&self, known: &Self::Known, other: &Self::Known) -> bool {
        known.budget >= other.budget && self.model.covers(&known.state, &other.state)
    }
}
