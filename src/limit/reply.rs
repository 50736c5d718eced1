//! What a caller keeps of a decision.

use super::decision::Decision;

/// What a caller keeps of a decision: all of it, or whether the call was accepted. A caller that keeps less spares the
/// copy (`make bench`, `consume()` against `attempt()`).
pub trait Reply: Copy {
    /// What is kept of this decision.
    fn of(decision: Decision) -> Self;

    /// The reply to a call of which no more is known than whether it was accepted. None if that is not enough.
    fn from_acceptance(accepted: bool) -> Option<Self>;

    /// Whether the call was accepted.
    fn is_accepted(self) -> bool;

    /// Whether the client is blocked. None if that is not known.
    fn is_blocked(self) -> Option<bool>;
}

impl Reply for Decision {
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
impl Reply for bool {
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
