//! The places of a sliding window: what is found there, and what an operation changes in one.

use crate::clock::latest;
use crate::limit::{Decision, MAX_REFILL, Op, Place, State, StoredState, WordAlgorithm};
use crate::store::shm::slot::Slot;
use crate::store::shm::statistics::TableStatistics;
use crate::store::shm::table::Change;
use std::cell::Cell;

/// What was found in one place, or came of a change to it.
pub(super) enum PlaceState {
    Free,
    /// A hit, which leaves at this time.
    Taken(u64),
    /// A block.
    Blocked(State),
    /// A hit that was taken after the time of this call, or before a clock went back, and when it leaves.
    Later(u64),
}

/// What was found in the places.
pub(super) struct SeenPlaces {
    /// The block, or the hits.
    pub(super) state: StoredState,
    /// The places that are free.
    pub(super) free: Vec<u32>,
    /// The places with a hit, and when it leaves.
    pub(super) taken: Vec<(u32, u64)>,
}

/// An operation on one place.
pub(super) struct PlaceChange<'a> {
    pub(super) place: Place,
    /// Whether it is the first place, in which a block stands.
    pub(super) is_first: bool,
    pub(super) op: Op,
    /// The time of the call, which is a later one where the clock was read again.
    pub(super) now: u64,
    pub(super) statistics: &'a TableStatistics,
    pub(super) lacked_room: &'a Cell<bool>,
    /// What was there. A place for which its set has no room is taken until it has.
    pub(super) found: PlaceState,
    /// Whether the operation was accepted.
    pub(super) accepted: bool,
}

impl Change for PlaceChange<'_> {
    #[inline(always)]
    fn apply(&mut self, slot: Slot) -> Option<Slot> {
        // A place without a slot may have lost a hit, or a claim, after the clock was read here.
        let state = slot.state();
        // A block that was set after that is not cut.
        if slot.is_claim() || state.is_block_from_future(self.now) {
            self.now = self.latest(self.now);
        }
        self.found = PlaceState::of(&self.place, state, self.now);
        self.accepted = false;
        if let (PlaceState::Later(_), Op::Take { .. } | Op::Peek { .. }) = (&self.found, self.op) {
            return None;
        }
        // What the place is started with must not leave early if the process was suspended since `now`.
        let now = match self.op {
            Op::Start { .. } => self.latest(self.now),
            _ => self.now,
        };
        let (decision, after): (Decision, State) = self.place.apply(state, now, &self.op);
        self.accepted = decision.is_accepted();
        (after != state).then(|| Slot::committed(slot.tag(), after))
    }

    fn inherited_state(&self, expires_at: u64) -> State {
        let now = self.latest(self.now);
        // Only a block or the longest debt owes so much. It is inherited as it is, unless the newcomer gets a block of its own.
        let until = expires_at.saturating_sub(MAX_REFILL);
        match self.is_first && until > now && !matches!(self.op, Op::Block { .. }) {
            true => State::blocked(until, now),
            false => self.place.inherited_state(expires_at, now),
        }
    }

    fn latest(&self, now: u64) -> u64 {
        latest(now)
    }

    fn takes(&self) -> bool {
        self.place.takes(self.op)
    }

    fn note_eviction(&mut self) {
        self.statistics.note_eviction();
        self.lacked_room.set(true);
    }

    /// Counts in the statistics of the limit like an eviction.
    fn note_denied_newcomer(&mut self) {
        self.statistics.note_denied_newcomer();
        self.lacked_room.set(true);
    }
}

impl PlaceState {
    /// What a state says at `now`.
    #[inline(always)]
    pub(super) fn of(place: &Place, state: State, now: u64) -> Self {
        match (state, Place::leaves_at(state)) {
            (_, time) if time <= now => Self::Free,
            (State::Blocked { .. }, _) => Self::Blocked(state),
            (_, leaves_at) if place.is_from_future(state, now) => Self::Later(leaves_at),
            (_, leaves_at) => Self::Taken(leaves_at),
        }
    }
}
