//! What a caller keeps of a decision.

use super::decision::Decision;

/// What a caller keeps of a decision: all of it, or whether the call was accepted. A caller that keeps less spares the
/// copy (`make bench`, `consume()` against `attempt()`).
pub trait Kept: Copy {
    /// What is kept of this decision.
    fn of(decision: Decision) -> Self;

    /// What is kept of a call of which no more is known than whether it was accepted. None if that is not enough.
    fn from_acceptance(accepted: bool) -> Option<Self>;

    /// Whether the call was accepted.
    fn is_accepted(self) -> bool;

    /// Whether the client is blocked. None if that is not known.
    fn is_blocked(self) -> Option<bool>;
}

impl Kept for Decision {
    #[inline(always)]
    fn of(decision: Decision) -> Self {
        decision
    }

    #[inline(always)]
    fn from_acceptance(_: bool) -> Option<Self> {
        None
    }

    #[inline(always)]
    fn is_accepted(self) -> bool {
        self.is_accepted()
    }

    #[inline(always)]
    fn is_blocked(self) -> Option<bool> {
        Some(self.is_blocked())
    }
}

/// Whether the call was accepted.
impl Kept for bool {
    #[inline(always)]
    fn of(decision: Decision) -> Self {
        decision.is_accepted()
    }

    #[inline(always)]
    fn from_acceptance(accepted: bool) -> Option<Self> {
        Some(accepted)
    }

    #[inline(always)]
    fn is_accepted(self) -> bool {
        self
    }

    fn is_blocked(self) -> Option<bool> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::WordAlgorithm;
    use crate::{Op, State, TokenBucket};

    #[test]
    fn answer_is_the_decision_or_whether_it_accepts() {
        let limit = TokenBucket::per_second(1, 1.0).unwrap();
        for (op, is_accepted, is_blocked) in [
            (Op::Take { cost: 1 }, true, false),
            (Op::Take { cost: 2 }, false, false),
            (Op::Block { duration: 1 }, true, true),
        ] {
            let (decision, _): (Decision, _) = limit.apply(State::FULL, 1, &op);
            assert_eq!(Kept::is_accepted(decision), is_accepted);
            assert_eq!(Kept::is_blocked(decision), Some(is_blocked));
            let (accepted, _): (bool, _) = limit.apply(State::FULL, 1, &op);
            assert_eq!(Kept::is_accepted(accepted), is_accepted);
            assert_eq!(Kept::is_blocked(accepted), None, "it does not tell");
        }
    }

    #[test]
    fn acceptance_alone_makes_a_yes_or_no_and_no_decision() {
        assert_eq!([true, false].map(bool::from_acceptance), [Some(true), Some(false)]);
        assert_eq!([true, false].map(Decision::from_acceptance), [None, None]);
    }
}
