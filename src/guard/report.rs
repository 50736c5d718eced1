//! How a call on a guarded store ended.

/// What decided on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum DecidedBy {
    /// The store.
    Store = 0,
    /// This host's own buckets, in place of a store that failed.
    Host = 1,
    /// The on-error policy alone: nothing was counted anywhere.
    Policy = 2,
    /// This host, with tokens that it had taken from the store ahead.
    Lease = 3,
    /// This host, by a denial of the store that it remembers.
    DenyCache = 4,
}

impl DecidedBy {
    /// Whether the store failed, and this host or the on-error policy answered.
    pub const fn is_degraded(self) -> bool {
        matches!(self, Self::Host | Self::Policy)
    }
}
