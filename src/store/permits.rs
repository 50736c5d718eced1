//! What a caller asks of a store that holds permits, and the trait of these stores.

use super::key::Key;
use crate::error::Result;
use crate::limit::{PermitAnswer, PermitId, PermitLimit, PermitOp};
use crate::net::Timeouts;

/// Where a store keeps a permit that is held.
#[derive(Clone, Debug)]
pub enum PermitHandle {
    /// In a slot of shared memory.
    Slot(PermitSlot),
    /// In the list of a key.
    Entry {
        /// The name of the key.
        name: Box<[u8]>,
        /// The permit's id.
        id: PermitId,
    },
}

/// Where a permit is in a table of shared memory.
#[derive(Clone, Copy, Debug)]
pub struct PermitSlot {
    /// The number of the file, which no other file has in this process.
    pub(in crate::store) file: u32,
    /// Which of the key's permits it is.
    pub(in crate::store) nth: u32,
    /// The key's hash.
    pub(in crate::store) hash: u64,
    /// The content of the slot, which no other permit has.
    pub(in crate::store) word: u128,
}

/// A store that holds permits. A permit goes back to the store that gave it. Calls fail as
/// [`Store::decide`](super::Store::decide) does.
pub trait Permits {
    /// Takes a permit if the limit allows one more and `leave` others; none if it does not.
    fn acquire(
        &self,
        key: &Key<'_>,
        limit: &PermitLimit,
        leave: u64,
        timeouts: &Timeouts,
    ) -> Result<Option<PermitHandle>>;

    /// Lets the lifetime of a permit begin anew, for `lifetime` nanoseconds. False if it is not held any more: its
    /// lifetime has ended, or it was released or reset.
    fn renew(&self, permit: &mut PermitHandle, lifetime: u64, timeouts: &Timeouts) -> Result<bool>;

    /// Gives a permit back, if it is still held.
    fn release(&self, permit: &PermitHandle, timeouts: &Timeouts) -> Result<()>;

    /// Counts the permits of a key that are held.
    fn count(&self, key: &Key<'_>, timeouts: &Timeouts) -> Result<u32>;

    /// Frees all permits of a key, held by any process.
    fn reset(&self, key: &Key<'_>, timeouts: &Timeouts) -> Result<()>;
}

/// A store that keeps the permits of a key in a list, under a name.
pub trait PermitLists {
    /// The name of a key's list.
    fn list_name(&self, key: &Key<'_>) -> Vec<u8>;

    /// An id that no other permit in the store has.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Local`](crate::error::ErrorKind::Local) if none can be made.
    fn new_id(&self) -> Result<PermitId>;

    /// Applies an operation to a list, as [`HeldPermits::apply`](crate::limit::HeldPermits::apply) does.
    fn apply_to_list(&self, name: &[u8], timeouts: &Timeouts, op: PermitOp)
    -> Result<PermitAnswer>;
}

impl<T: PermitLists> Permits for T {
    fn acquire(
        &self,
        key: &Key<'_>,
        limit: &PermitLimit,
        leave: u64,
        timeouts: &Timeouts,
    ) -> Result<Option<PermitHandle>> {
        let (name, id) = (self.list_name(key), self.new_id()?);
        let (max, lifetime) = (limit.max_leaving(leave), limit.lifetime());
        let op = PermitOp::Acquire { id, max, lifetime };
        let is_taken = self.apply_to_list(&name, timeouts, op)?.accepted;
        Ok(is_taken.then(|| PermitHandle::Entry { name: name.into(), id }))
    }

    fn renew(&self, permit: &mut PermitHandle, lifetime: u64, timeouts: &Timeouts) -> Result<bool> {
        let PermitHandle::Entry { name, id } = permit else { return Ok(false) };
        Ok(self.apply_to_list(name, timeouts, PermitOp::Renew { id: *id, lifetime })?.accepted)
    }

    fn release(&self, permit: &PermitHandle, timeouts: &Timeouts) -> Result<()> {
        let PermitHandle::Entry { name, id } = permit else { return Ok(()) };
        self.apply_to_list(name, timeouts, PermitOp::Release { id: *id }).map(drop)
    }

    fn count(&self, key: &Key<'_>, timeouts: &Timeouts) -> Result<u32> {
        Ok(self.apply_to_list(&self.list_name(key), timeouts, PermitOp::Count)?.active)
    }

    fn reset(&self, key: &Key<'_>, timeouts: &Timeouts) -> Result<()> {
        self.apply_to_list(&self.list_name(key), timeouts, PermitOp::Reset).map(drop)
    }
}
