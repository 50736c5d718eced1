//! Buckets in this process alone.

use super::{Key, Store, Timeouts};
use crate::clock::boot_time;
use crate::error::Result;
use crate::limit::{Decision, Limit, Op, State, apply};
use std::cell::RefCell;
use std::collections::HashMap;

/// Buckets in plain memory, for tests, command lines and workers that serve alone.
///
/// Holds the buckets that are not full: whenever their number has doubled, those that
/// have become as good as new are dropped.
#[derive(Debug, Default)]
pub struct Array {
    table: RefCell<Table>,
}

#[derive(Debug, Default)]
struct Table {
    buckets: HashMap<(bool, Vec<u8>), State>,
    sweep_at: usize,
}

/// The table is not swept while it is smaller than this.
const SMALL: usize = 1024;

impl Table {
    fn sweep(&mut self, now: u64) {
        if self.buckets.len() >= self.sweep_at.max(SMALL) {
            self.buckets.retain(|_, state| state.new_again_at() > now);
            self.sweep_at = self.buckets.len() * 2;
        }
    }
}

impl Store for Array {
    fn decide(
        &self,
        key: &Key<'_>,
        limit: &Limit,
        op: Op,
        now: Option<u64>,
        _: &Timeouts,
    ) -> Result<Decision> {
        let now = now.unwrap_or_else(boot_time);
        let mut table = self.table.borrow_mut();
        let name = (key.window, key.to_vec());
        let state = table.buckets.get(&name).copied().unwrap_or(State::FULL);
        let (decision, after) = apply(limit, state, now, op);
        if after == State::FULL {
            table.buckets.remove(&name);
        } else if after != state {
            table.sweep(now);
            table.buckets.insert(name, after);
        }
        Ok(decision)
    }

    fn prepare(&self, _: &Timeouts) -> Result<()> {
        Ok(())
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        vec![("Buckets in this process", self.table.borrow().buckets.len().to_string())]
    }
}
