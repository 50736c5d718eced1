//! What a table counts: what did not fit.

use crate::mapped::{Mappable, Region, STATISTICS_AT};
use portable_atomic::{AtomicU64, Ordering};

/// The counters of a table, in its header.
#[repr(C, align(128))]
#[derive(Default)]
pub struct TableStatistics {
    evictions: AtomicU64,
    denied_newcomers: AtomicU64,
}

// SAFETY: consists of atomics, of which any bits are a value.
unsafe impl Mappable for TableStatistics {}

impl TableStatistics {
    /// The counters in this file.
    #[inline(always)]
    pub fn in_file(region: &Region) -> &Self {
        region.in_header::<Self, STATISTICS_AT>()
    }

    /// Counts a bucket that was evicted while it was in use.
    pub fn note_eviction(&self) {
        self.evictions.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a call that was denied because its set had no slot for it.
    pub fn note_denied_newcomer(&self) {
        self.denied_newcomers.fetch_add(1, Ordering::Relaxed);
    }

    /// How many buckets were evicted while they were in use.
    pub fn evictions(&self) -> u64 {
        self.evictions.load(Ordering::Relaxed)
    }

    /// How many calls were denied because the table was full.
    pub fn denied_newcomers(&self) -> u64 {
        self.denied_newcomers.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapped::{Purpose, without_file};

    #[test]
    fn what_one_process_counts_in_a_file_the_next_one_reads() {
        let region = without_file(Purpose::Buckets).unwrap();
        let counts = || {
            let statistics = TableStatistics::in_file(&region);
            (statistics.evictions(), statistics.denied_newcomers())
        };
        assert_eq!(counts(), (0, 0));
        TableStatistics::in_file(&region).note_eviction();
        TableStatistics::in_file(&region).note_eviction();
        TableStatistics::in_file(&region).note_denied_newcomer();
        assert_eq!(counts(), (2, 1));
    }
}
