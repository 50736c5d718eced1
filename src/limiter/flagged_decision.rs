//! A decision, and how it came about.

use crate::guard::DecidedBy;
use crate::limit::Decision;

/// A decision, and how it came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlaggedDecision {
    /// What was decided.
    pub decision: Decision,
    /// What decided, and whether the decision is enforced.
    pub flags: DecisionFlags,
}

impl FlaggedDecision {
    /// Whether the call may go on.
    pub fn is_admitted(&self) -> bool {
        self.decision.is_accepted() || !self.flags.is_enforced()
    }

    /// Whether a refund was made: not if the identifier is blocked, if the on-error policy alone answered, or if the client is
    /// exempt.
    pub fn has_refunded(&self) -> bool {
        let has_charged =
            !matches!(self.flags.decided_by(), DecidedBy::Policy | DecidedBy::Exemption);
        self.decision.is_accepted() && has_charged
    }
}

/// What decided, and whether the decision is enforced.
///
/// One word instead of two bytes: [`FlaggedDecision`] is copied in words, and the copy of a word that was
/// just written byte by byte waits for the writes (`make bench`, `attempt()`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecisionFlags(u64);

impl DecisionFlags {
    const DECIDED_BY: u64 = 7;
    const ENFORCED: u64 = 8;

    /// The flags of a decision. `enforced`: a denial denies, and is not only counted.
    #[inline(always)]
    pub const fn new(decided_by: DecidedBy, enforced: bool) -> Self {
        Self(decided_by as u64 + enforced as u64 * Self::ENFORCED)
    }

    /// What decided.
    pub const fn decided_by(self) -> DecidedBy {
        match self.0 & Self::DECIDED_BY {
            1 => DecidedBy::Host,
            2 => DecidedBy::Policy,
            3 => DecidedBy::Lease,
            4 => DecidedBy::DenyCache,
            5 => DecidedBy::Exemption,
            _ => DecidedBy::Store,
        }
    }

    /// Whether the store failed, and this host or the on-error policy answered.
    pub const fn is_degraded(self) -> bool {
        self.decided_by().is_degraded()
    }

    /// Whether a denial denies. In a dry run (`enforce=0`) the call goes on, whatever was decided.
    pub const fn is_enforced(self) -> bool {
        self.0 & Self::ENFORCED != 0
    }
}
