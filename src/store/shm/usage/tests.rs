//! Tables in files, a part of which is in use.

use super::super::holder::Holder;
use super::super::slot::HeldSlot;
use super::*;
use crate::limit::{SECOND, Span, State};
use crate::mapped::tests::Folder;
use crate::mapped::{self, FileSettings, Location, Purpose};

/// Longer than a test runs.
const HOUR: u64 = 3_600 * SECOND;

fn table(folder: &Folder, purpose: Purpose, size: u64) -> Region {
    let files = FileSettings { size, ..folder.files() };
    mapped::open(&Location::new(&files, "default", purpose)).unwrap()
}

/// Stores slots, one in each set from the set `first` on.
fn store(region: &Region, area: Area, first: usize, slots: impl IntoIterator<Item = Slot>) {
    for (set, slot) in region.area::<Set>(area)[first..].iter().zip(slots) {
        set.0[0].store(slot.0, Ordering::Relaxed);
    }
}

fn bucket(full_at: u64) -> Slot {
    Slot::committed(7, State::Filling { full_at: Span::from_ns(full_at) })
}

#[test]
fn slots_in_use_are_counted_in_a_small_table() {
    let folder = Folder::new();
    let region = table(&folder, Purpose::Buckets, 1 << 20);
    let now = boot_time();
    let slots = [now + HOUR, now, 1, now + HOUR, now + HOUR].map(bucket);
    store(&region, Area::Buckets, 5, slots);
    let statistics = TableStatistics::in_file(&region);
    (0..2).for_each(|_| statistics.note_eviction());
    statistics.note_denied_newcomer();
    let expected = TableUsage { slots: 65_280, used: 3, evictions: 2, denied_newcomers: 1 };
    assert_eq!(TableUsage::of_buckets(&region), expected);
}

#[test]
fn large_table_is_as_full_as_its_first_part() {
    let folder = Folder::new();
    let region = table(&folder, Purpose::Buckets, 32 << 20);
    let slots = || std::iter::repeat_n(bucket(boot_time() + HOUR), 100);
    store(&region, Area::Buckets, 0, slots());
    let sets = ((32 << 20) - 4_096) / 128;
    store(&region, Area::Buckets, sets - 50, slots());
    let usage = TableUsage::of_buckets(&region);
    assert_eq!((usage.slots, usage.used), (8 * sets, 100 * sets / 131_072));
}

#[test]
fn permits_that_are_held_by_processes_that_live_are_counted() {
    let folder = Folder::new();
    let region = table(&folder, Purpose::Permits, 1 << 20);
    let [living, dead] = [0, 1].map(|_| Holder::new(&region, 1).unwrap().unwrap());
    let (now, dead_holder) = (boot_time(), dead.next());
    let held = |ends_at, holder| Slot::held(7, HeldSlot { ends_at, holder });
    let slots = [
        held(now + HOUR, living.next()),
        held(now + HOUR, dead_holder),
        held(now + HOUR, Holder::without_lock(1).next()),
        held(now, living.next()),
        bucket(now + HOUR),
    ];
    store(&region, Area::Permits, 0, slots);
    let used = || TableUsage::of_permits(&region).map(|usage| usage.used);
    assert_eq!(used(), Ok(3));
    drop(dead);
    assert_eq!(used(), Ok(2));
}
