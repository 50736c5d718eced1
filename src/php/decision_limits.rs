//! The limits that a decision is about, and what they say together.

use super::limit_decision::LimitDecision;
use crate::http::Problem;
use std::slice;

/// The limits that a decision is about: at least one.
pub enum DecisionLimits {
    One(LimitDecision),
    /// All of them were asked to accept the call.
    Several(Box<[LimitDecision]>),
    /// Any of them might have accepted the call, and all deny it. The decision is that of the one at the place `soonest`.
    Denied {
        each: Box<[LimitDecision]>,
        soonest: usize,
    },
}

impl DecisionLimits {
    /// Those that the numbers of the decision are about.
    pub fn asked(&self) -> &[LimitDecision] {
        match self {
            Self::One(limit) => slice::from_ref(limit),
            Self::Several(limits) => limits,
            Self::Denied { each, soonest } => each.get(*soonest..=*soonest).unwrap_or(each),
        }
    }

    /// [`asked`](Self::asked), to be changed.
    pub fn asked_mut(&mut self) -> &mut [LimitDecision] {
        match self {
            Self::One(limit) => slice::from_mut(limit),
            Self::Several(limits) => limits,
            // Such a call has taken nothing.
            Self::Denied { .. } => &mut [],
        }
    }

    pub fn is_admitted(&self) -> bool {
        self.asked().iter().all(|limit| limit.flagged.is_admitted())
    }

    /// The limits that deny the call.
    pub fn denying(&self) -> impl Iterator<Item = &LimitDecision> {
        let each = match self {
            Self::Denied { each, .. } => each,
            _ => self.asked(),
        };
        each.iter().filter(|limit| !limit.flagged.is_admitted())
    }

    /// Why they deny the call; none if no limit does.
    pub fn problem(&self) -> Option<Problem> {
        self.denying().map(LimitDecision::problem).max()
    }

    /// The limits that the call has taken something of.
    pub fn charged(&self) -> impl Iterator<Item = &LimitDecision> {
        self.asked()
            .iter()
            .filter(|limit| limit.decided().is_accepted() && limit.decided().taken > 0)
    }

    /// The limits that hold for the client.
    pub fn holding(&self) -> impl Iterator<Item = &LimitDecision> {
        self.asked().iter().filter(|limit| !limit.is_exempt())
    }

    /// Whether no limit holds for the client.
    pub fn is_exempt(&self) -> bool {
        self.holding().next().is_none()
    }

    /// The limit with the fewest tokens left, of those that hold for the client if any does.
    fn strictest(&self) -> Option<&LimitDecision> {
        let strictest = self.holding().min_by_key(|limit| limit.remaining());
        strictest.or_else(|| self.asked().first())
    }

    pub fn limit(&self) -> i64 {
        self.strictest().map_or(0, LimitDecision::capacity)
    }

    pub fn remaining(&self) -> i64 {
        self.strictest().map_or(0, LimitDecision::remaining)
    }

    pub fn tokens(&self) -> i64 {
        let tokens = self.asked().iter().map(LimitDecision::tokens).min().unwrap_or(0);
        if self.is_admitted() { tokens } else { 0 }
    }

    /// The longest of some times of all limits, in seconds.
    fn longest(&self, time: impl Fn(&LimitDecision) -> f64) -> f64 {
        self.asked().iter().map(time).fold(0.0, f64::max)
    }

    pub fn retry_after(&self) -> f64 {
        self.longest(LimitDecision::retry_after)
    }

    pub fn retry_after_seconds(&self) -> Option<u64> {
        let each = self.asked().iter().map(LimitDecision::retry_after_seconds);
        each.collect::<Option<Vec<_>>>().map(|all| all.into_iter().max().unwrap_or(0))
    }

    pub fn reset_after(&self) -> f64 {
        self.longest(|limit| limit.decided().reset_after())
    }

    pub fn wait(&self) -> f64 {
        self.longest(LimitDecision::wait)
    }

    /// How long a reservation has to wait, in nanoseconds.
    pub fn wait_ns(&self) -> u64 {
        self.asked().iter().map(LimitDecision::wait_ns).max().unwrap_or(0)
    }

    pub fn is_degraded(&self) -> bool {
        self.asked().iter().any(|limit| limit.flagged.flags.is_degraded())
    }

    pub fn would_deny(&self) -> bool {
        self.asked().iter().any(|limit| !limit.decided().is_accepted())
    }
}
