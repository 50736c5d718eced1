//! Permits in this process alone.

use crate::clock::now;
use crate::error::Result;
use crate::limit::{HeldPermits, PermitAnswer, PermitId, PermitOp};
use crate::net::Timeouts;
use crate::store::Key;
use crate::store::permits::PermitLists;
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
    last_id: Cell<PermitId>,
}

impl PermitLists for ArrayPermits {
    fn list_name(&self, key: &Key<'_>) -> Vec<u8> {
        key.to_vec()
    }

    fn new_id(&self) -> Result<PermitId> {
        let id = self.last_id.get() + 1;
        self.last_id.set(id);
        Ok(id)
    }

    fn apply_to_list(&self, name: &[u8], _: &Timeouts, op: PermitOp) -> Result<PermitAnswer> {
        let now = now();
        let mut lists = self.lists.borrow_mut();
        if let Some(list) = lists.get_mut(name) {
            let answer = list.apply(now, op);
            if answer.active == 0 {
                lists.remove(name);
            }
            return Ok(answer);
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
        Ok(answer)
    }
}
