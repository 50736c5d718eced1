//! A decision, and how it came about.

use crate::limit::Decision;

/// A decision, and how it came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlaggedDecision {
    /// What was decided.
    pub decision: Decision,
    /// Whether the store decided, and whether the decision is enforced.
    pub flags: DecisionFlags,
}

impl FlaggedDecision {
    /// Whether the call may go on.
    pub fn is_admitted(&self) -> bool {
        self.decision.accepted || !self.flags.is_enforced()
    }
}

/// Whether the on-error policy answered, and whether the decision is enforced.
///
/// One word instead of two `bool`s: [`FlaggedDecision`] is copied in words, and the copy of a word that was
/// just written byte by byte waits for the writes (`make bench`, `attempt()`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecisionFlags(u64);

impl DecisionFlags {
    const DEGRADED: u64 = 1;
    const ENFORCED: u64 = 2;

    /// The flags of a decision. `degraded`: the on-error policy answered in the store's place. `enforced`:
    /// a denial denies, and is not only counted.
    #[inline(always)]
    pub const fn new(degraded: bool, enforced: bool) -> Self {
        Self(degraded as u64 * Self::DEGRADED + enforced as u64 * Self::ENFORCED)
    }

    /// Whether the store failed and the on-error policy answered.
    pub const fn is_degraded(self) -> bool {
        self.0 & Self::DEGRADED != 0
    }

    /// Whether a denial denies. In a dry run (`enforce=0`) the call goes on, whatever was decided.
    pub const fn is_enforced(self) -> bool {
        self.0 & Self::ENFORCED != 0
    }
}
