//! How full a table is.

use super::counts::TableCounts;
use super::set::{Set, WAYS};
use super::slot::Slot;
use crate::clock::boot_time;
use crate::store::file::{Area, Region};
use portable_atomic::Ordering;

/// How full a table is, and what did not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableUsage {
    /// How many buckets or permits there is room for.
    pub slots: usize,
    /// How many of the slots are in use.
    pub used: usize,
    /// How many buckets were evicted while they were in use.
    pub evictions: u64,
    /// How many calls were denied because there was no slot for them.
    pub denied_newcomers: u64,
}

impl TableUsage {
    /// How full the table of buckets in this file is.
    pub fn of_buckets(region: &Region) -> Self {
        let now = boot_time();
        let words = region.area::<Set>(Area::Buckets).iter().flat_map(|set| &set.0);
        let used = words.filter(|word| Slot(word.load(Ordering::Relaxed)).expires_at() > now);
        Self::new(region, Area::Buckets, used.count())
    }

    /// How full a table with so many slots in use is.
    pub fn new(region: &Region, area: Area, used: usize) -> Self {
        let counts = TableCounts::in_file(region);
        Self {
            slots: region.area::<Set>(area).len() * WAYS,
            used,
            evictions: counts.evictions(),
            denied_newcomers: counts.denied_newcomers(),
        }
    }
}
