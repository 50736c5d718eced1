//! How full a table is.

use super::held;
use super::holder::Living;
use super::slot::Slot;
use super::statistics::TableStatistics;
use crate::clock::boot_time;
use crate::error::Result;
use crate::mapped::set::{Set, WAYS};
use crate::mapped::{Area, Region};
use portable_atomic::Ordering;

/// The most sets of a table that are read to see how full it is. Keys are spread over all sets alike, so a larger
/// table is as full as this part of it.
const MOST_READ: usize = (16 << 20) / size_of::<Set>();

/// How full a table is, and what did not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableUsage {
    /// How many buckets or permits there is room for.
    pub slots: usize,
    /// How many of the slots are in use; of a table above 16 MiB about how many.
    pub used: usize,
    /// How many buckets were evicted while they were in use.
    pub evictions: u64,
    /// How many calls were denied because there was no slot for them.
    pub denied_newcomers: u64,
}

impl TableUsage {
    /// How full the table of buckets in this file is.
    pub fn of_buckets(region: &Region) -> Self {
        let (now, sets) = (boot_time(), region.area::<Set>(Area::Buckets));
        let words = sets.iter().take(MOST_READ).flat_map(|set| &set.0);
        let used = words.filter(|word| Slot(word.load(Ordering::Relaxed)).expires_at() > now);
        let used = used.count() * sets.len() / sets.len().clamp(1, MOST_READ);
        Self::new(region, Area::Buckets, used)
    }

    /// How full the table of permits in this file is. A permit of a process that has died does not count.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Storage`](crate::error::ErrorKind::Storage) if the file cannot be opened once more.
    pub fn of_permits(region: &Region) -> Result<Self> {
        let (now, mut living) = (boot_time(), Living::in_file(region)?);
        let slots = region.area::<Set>(Area::Permits).iter().flat_map(|set| &set.0);
        let held = slots
            .map(|word| Slot(word.load(Ordering::Relaxed)))
            .filter(|slot| held::is_held(*slot, now))
            .filter_map(Slot::as_held);
        let used = held.filter(|held| living.contains(held.holder)).count();
        Ok(Self::new(region, Area::Permits, used))
    }

    /// How full a table with so many slots in use is.
    fn new(region: &Region, area: Area, used: usize) -> Self {
        let statistics = TableStatistics::in_file(region);
        Self {
            slots: region.area::<Set>(area).len() * WAYS,
            used,
            evictions: statistics.evictions(),
            denied_newcomers: statistics.denied_newcomers(),
        }
    }
}

#[cfg(test)]
mod tests;
