//! How calls end.

/// How a call ended, or what happened in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Accepted.
    Accepted,
    /// Denied.
    Denied,
    /// Accepted by a dry run: the limit would have denied it.
    DryRunDenied,
    /// The store failed.
    Failed,
    /// Answered by the policy for failures, not by the store.
    Degraded,
    /// A bucket in use was evicted from a full table.
    Evicted,
    /// The store is up, but the call could not be decided on in its time beside others.
    Busy,
    /// Accepted, for the client is exempt from the limit.
    Exempt,
}

/// How many outcomes there are.
pub const OUTCOMES: usize = Outcome::Exempt as usize + 1;

/// How often each [`Outcome`] occurred.
pub type OutcomeCounts = [u64; OUTCOMES];
