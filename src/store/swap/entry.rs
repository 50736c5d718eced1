//! The value of a key on a server that compares and swaps.

use super::handoff::Handoff;
use crate::clock::Reading;
use crate::error::{Error, Result};
use crate::limit::StoredState;
use crate::net::budget::Budget;
use std::time::Duration;

/// A state that a server holds.
pub struct Found<V> {
    /// The state; [`StoredState::FULL`] if the server holds none.
    pub state: StoredState,
    /// Tells this value from others.
    pub version: V,
    /// The earliest and the latest time to decide at, in nanoseconds. They are equal if the time was read
    /// within this call.
    pub now: [u64; 2],
    /// The clock reading that gave this time.
    pub clock: Reading,
}

/// The result of a swap.
pub enum Swap {
    /// The value is replaced. The number is the new value's version in a hand-off, if it has one.
    Done(Option<u64>),
    /// The server holds another value by now.
    Lost,
    /// Another session held a lock for too long. Nothing was done.
    Locked,
    /// The server may still replace the value, once a lock is released. [`SwapEntry::locked`] notes that.
    Blocked,
}

/// Decides on a state and the time at which it was read. None if nothing changes.
pub type Decide<'a> = &'a mut dyn FnMut(&StoredState, &Reading) -> Option<StoredState>;

/// The value of one key on a server.
pub trait SwapEntry {
    /// Tells one value from others.
    type Version;

    /// Opens a connection if this process has none. A process that waits for others has one, too: it may be the next to ask.
    fn connect(&self, budget: &mut Budget) -> Result<()>;

    /// Reads the state.
    fn read(&self, budget: &mut Budget) -> Result<Found<Self::Version>>;

    /// The version of a value that another process of this host handed off. None if it must not be used.
    fn handed_off(&self, handoff: &Handoff) -> Option<Self::Version>;

    /// Replaces the value by `state`, which was decided at `now`, if the value still has `version`.
    fn swap(
        &self,
        version: &Self::Version,
        state: &StoredState,
        now: u64,
        budget: &mut Budget,
    ) -> Result<Swap>;

    /// Locks the value, and replaces it by what `decide` makes of it. None if the server has no locks.
    fn swap_locked(&self, _: Decide<'_>, _: &mut Budget) -> Result<Option<Swap>> {
        Ok(None)
    }

    /// How long a round trip to the server takes as a rule; zero before the first.
    fn round_trip(&self) -> Duration;

    /// Whether the call may write.
    fn may_write(&self) -> bool {
        true
    }

    /// The error of a call whose write waited for a lock until its time was over.
    fn locked(&self) -> Error {
        self.busy()
    }

    /// The error of a call that would have to write, but must not.
    fn withheld(&self) -> Error {
        self.busy()
    }

    /// The error of a call that could not be decided on in its time beside others.
    fn busy(&self) -> Error {
        Error::busy(format!("{}: the bucket is too busy", self.server()))
    }

    /// The error of a call whose time was over before others were in its way.
    fn too_late(&self) -> Error {
        Error::busy(format!(
            "{}: it answers too slowly for another round trip in this call; if that happens often, raise timeout_ms",
            self.server()
        ))
    }

    /// Names the server in a message.
    fn server(&self) -> String;
}
