//! What a store remembers of one key, whatever its algorithm.

use super::state::State;

/// What a store remembers of one bucket or window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredState {
    /// A state that fits one word of shared memory: every one but that of a sliding window.
    Word(State),
    /// The hits in a sliding window. There is at least one: a window without hits is
    /// [`FULL`](Self::FULL).
    Hits(Hits),
    /// A state on a server, of which hosts hold tokens or hits.
    Leased(State, Leased),
}

impl StoredState {
    /// A full bucket, or a window without hits: what is not stored.
    pub const FULL: Self = Self::Word(State::FULL);

    /// The time from which the state is expired, in nanoseconds, rounded up: a store may forget it
    /// then.
    pub fn expires_at(&self) -> u64 {
        match self {
            Self::Word(state) | Self::Leased(state, _) => state.expires_at(),
            Self::Hits(hits) => hits.last().unwrap_or(0),
        }
    }

    /// The state as one word. The hits of a sliding window are no state of the other algorithms, so they are
    /// a full bucket to them.
    #[inline(always)]
    pub const fn word(&self) -> State {
        match self {
            Self::Word(state) | Self::Leased(state, _) => *state,
            Self::Hits(_) => State::FULL,
        }
    }

    /// What hosts hold of it.
    pub const fn leased(&self) -> Option<Leased> {
        if let Self::Leased(_, leased) = self { Some(*leased) } else { None }
    }
}

impl From<State> for StoredState {
    fn from(state: State) -> Self {
        Self::Word(state)
    }
}

/// What hosts hold of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Leased {
    /// Tells the state from others of its key. Not 0.
    pub name: u32,
    /// How much they hold at most: hits, or the time in which the tokens come back, in nanoseconds.
    pub held: u64,
}

/// The hits in a sliding window: when each of them leaves it, in nanoseconds, the earliest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hits(Vec<u64>);

impl Hits {
    /// The hits that leave at these times, in any order.
    #[inline]
    pub fn new(mut leave_at: Vec<u64>) -> Self {
        leave_at.sort_unstable();
        Self(leave_at)
    }

    /// The hits that leave at these times, the earliest first.
    pub(super) const fn from_sorted(leave_at: Vec<u64>) -> Self {
        Self(leave_at)
    }

    /// When each hit leaves, the earliest first.
    pub fn as_slice(&self) -> &[u64] {
        &self.0
    }

    /// When the last hit leaves. None if there are no hits.
    pub fn last(&self) -> Option<u64> {
        self.0.last().copied()
    }
}
