//! Permits in this process alone.

use crate::clock::boot_time;
use crate::error::Result;
use crate::limit::{HeldPermits, PermitAnswer, PermitLimit, PermitOp};
use crate::store::Key;
use crate::store::permits::{PermitCall, PermitHandle, Permits};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// No list is dropped while there are fewer.
const MIN_SWEEP: usize = 1024;

/// The permits of each key that are held.
///
/// Expired lists are dropped whenever the number of lists has doubled.
#[derive(Debug, Default)]
pub struct ArrayPermits {
    lists: RefCell<HashMap<Box<[u8]>, HeldPermits>>,
    /// The number of lists at which expired ones are dropped next.
    sweep_at: Cell<usize>,
    /// The id of the permit that was taken last.
    last_id: Cell<u128>,
}

impl ArrayPermits {
    fn apply(&self, name: &[u8], call: PermitCall<'_>, op: PermitOp) -> PermitAnswer {
        let now = call.frozen.unwrap_or_else(boot_time);
        let mut lists = self.lists.borrow_mut();
        if let Some(list) = lists.get_mut(name) {
            let answer = list.apply(now, op);
            if answer.active == 0 {
                lists.remove(name);
            }
            return answer;
        }
        let mut list = HeldPermits::default();
        let answer = list.apply(now, op);
        if answer.active > 0 {
            if lists.len() >= self.sweep_at.get().max(MIN_SWEEP) {
                lists.retain(|_, list| list.expires_at() > now);
                self.sweep_at.set(lists.len() * 2);
            }
            lists.insert(name.into(), list);
        }
        answer
    }
}

impl Permits for ArrayPermits {
    fn acquire(
        &self,
        key: &Key<'_>,
        limit: &PermitLimit,
        call: PermitCall<'_>,
    ) -> Result<Option<PermitHandle>> {
        let (name, id) = (key.to_vec(), self.last_id.get() + 1);
        self.last_id.set(id);
        let op = PermitOp::Acquire { id, max: limit.max(), lease: limit.lease() };
        let is_taken = self.apply(&name, call, op).accepted;
        Ok(is_taken.then(|| PermitHandle::Entry { name: name.into(), id }))
    }

    fn renew(&self, permit: &mut PermitHandle, lease: u64, call: PermitCall<'_>) -> Result<bool> {
        let PermitHandle::Entry { name, id } = permit else { return Ok(false) };
        Ok(self.apply(name, call, PermitOp::Renew { id: *id, lease }).accepted)
    }

    fn release(&self, permit: &PermitHandle, call: PermitCall<'_>) -> Result<()> {
        if let PermitHandle::Entry { name, id } = permit {
            self.apply(name, call, PermitOp::Release { id: *id });
        }
        Ok(())
    }

    fn count(&self, key: &Key<'_>, call: PermitCall<'_>) -> Result<u32> {
        Ok(self.apply(&key.to_vec(), call, PermitOp::Count).active)
    }

    fn reset(&self, key: &Key<'_>, call: PermitCall<'_>) -> Result<()> {
        self.apply(&key.to_vec(), call, PermitOp::Reset);
        Ok(())
    }
}
