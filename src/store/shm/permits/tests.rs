//! Permits of several processes in one file. Each has a table of its own here: with a descriptor and a number.

use super::*;
use crate::clock::freeze;
use crate::error::ErrorKind;
use crate::limit::SECOND;
use crate::mapped::Purpose;
use crate::mapped::tests::Folder;
use crate::net::Timeouts;
use crate::store::{KeyHash, LimitKind};
use std::cell::Cell;
use std::fs;

/// How long a permit is held if it is not renewed.
const LIFETIME: u64 = 10 * SECOND;

struct Process {
    permits: SharedPermits,
    /// The time of its calls.
    now: Cell<u64>,
}

impl Process {
    fn new(folder: &Folder) -> Self {
        Self::with_purpose(folder, Purpose::Permits)
    }

    fn with_purpose(folder: &Folder, purpose: Purpose) -> Self {
        let location = Location::of_permits(&folder.files(), "default", purpose);
        let permits = SharedPermits::in_table(Rc::new(PermitTable::new(location)), 0);
        Self { permits, now: Cell::new(boot_time()) }
    }

    fn file(&self) -> &MappedFile {
        &self.permits.table.file
    }

    fn wait(&self, time: u64) {
        self.now.set(self.now.get() + time);
    }

    /// Sets this thread's clock.
    fn call(&self) -> &'static Timeouts {
        const TIMEOUTS: &Timeouts =
            &Timeouts { call: std::time::Duration::ZERO, connect: std::time::Duration::ZERO };
        freeze(Some(self.now.get()));
        TIMEOUTS
    }

    fn try_to_acquire(&self, name: &str, max: i64) -> Result<Option<PermitHandle>> {
        let limit = PermitLimit::new(max, (LIFETIME / SECOND) as f64).unwrap();
        with_key(name, |key| self.permits.acquire(key, &limit, 0, self.call()))
    }

    fn acquire_leaving(&self, name: &str, max: i64, leave: u64) -> Option<PermitHandle> {
        let limit = PermitLimit::new(max, 60.0).unwrap();
        with_key(name, |key| self.permits.acquire(key, &limit, leave, self.call()).unwrap())
    }

    fn acquire(&self, name: &str, max: i64) -> Option<PermitHandle> {
        self.try_to_acquire(name, max).unwrap()
    }

    fn renew(&self, permit: &mut PermitHandle, lifetime: u64) -> bool {
        self.permits.renew(permit, lifetime, self.call()).unwrap()
    }

    fn release(&self, permit: &PermitHandle) {
        self.permits.release(permit, self.call()).unwrap();
    }

    fn count(&self, name: &str) -> u32 {
        with_key(name, |key| self.permits.count(key, self.call())).unwrap()
    }

    fn reset(&self, name: &str) {
        with_key(name, |key| self.permits.reset(key, self.call())).unwrap();
    }

    /// Frees the permits of `x` whose holders have died, and asks about `most` holders.
    fn free_dead(&self, max: u32, first: u32, most: usize) -> bool {
        let free = |permits: &KeyPermits<'_>, holder: &Holder| {
            permits.free_dead(max, first, &mut holder.ask_about_others(most, permits.region))
        };
        with_key("x", |key| self.permits.with_key(key, free)).unwrap()
    }

    /// Takes all slots of the table for permits of other keys.
    fn fill_table(&self) {
        let holder = self.permits.table.open_if_due(boot_time()).unwrap().next();
        let held = HeldSlot { ends_at: self.now.get() + LIFETIME, holder };
        let region = self.file().region();
        let sets = region.as_ref().unwrap().area::<Set>(Area::Permits);
        for (word, tag) in sets.iter().flat_map(|set| &set.0).zip(1..) {
            if !held::is_held(Slot(word.load(Ordering::Relaxed)), self.now.get()) {
                word.store(Slot::held(tag, held).0, Ordering::Relaxed);
            }
        }
    }

    /// How many calls were denied because the table was full.
    fn denied_newcomers(&self) -> u64 {
        self.permits.table.usage().unwrap().unwrap().denied_newcomers
    }

    fn described(&self) -> [String; 2] {
        let rows = self.permits.describe();
        assert_eq!(
            rows.iter().map(|row| row.0).collect::<Vec<_>>(),
            ["Permits it can hold", "Permits held"]
        );
        [0, 1].map(|row| rows[row].1.clone())
    }
}

fn with_key<R>(name: &str, work: impl FnOnce(&Key<'_>) -> R) -> R {
    let parts = [name.as_bytes(), b"", b"", b""];
    work(&Key { parts, kind: LimitKind::Concurrency, key_hash: &Cell::new(KeyHash::default()) })
}

/// So many processes, each with one permit of `x`: the first has the first permit.
fn processes_with_a_permit(folder: &Folder, count: usize) -> Vec<Process> {
    let begin = |_| {
        let process = Process::new(folder);
        process.acquire("x", count as i64).unwrap();
        process
    };
    (0..count).map(begin).collect()
}

#[test]
fn permit_is_held_until_it_is_released_or_its_lifetime_ends() {
    let folder = Folder::new();
    let (process, other) = (Process::new(&folder), Process::new(&folder));
    let first = process.acquire("x", 2).unwrap();
    let second = process.acquire("x", 2).unwrap();
    assert!(process.acquire("x", 2).is_none());
    assert!(process.acquire("y", 1).is_some(), "another identifier");
    assert_eq!((process.count("x"), other.count("x"), other.count("z")), (2, 2, 0));
    process.release(&first);
    assert_eq!(other.count("x"), 1);
    process.release(&second);
    assert!(process.acquire("x", 1).is_some());
    process.wait(LIFETIME - 1);
    assert!(process.acquire("x", 1).is_none());
    process.wait(1);
    assert_eq!(process.count("x"), 0);
    assert!(process.acquire("x", 1).is_some());
}

#[test]
fn renewed_permit_begins_a_new_lifetime() {
    let folder = Folder::new();
    let process = Process::new(&folder);
    let mut permit = process.acquire("x", 1).unwrap();
    process.wait(LIFETIME - 1);
    assert!(process.renew(&mut permit, 2 * LIFETIME));
    process.wait(2 * LIFETIME - 1);
    assert!(process.acquire("x", 1).is_none());
    assert!(process.renew(&mut permit, LIFETIME));
    process.release(&permit);
    assert_eq!(process.count("x"), 0);
    assert!(!process.renew(&mut permit, LIFETIME), "it was released");
}

#[test]
fn permit_of_a_list_is_none_of_the_table() {
    let folder = Folder::new();
    let process = Process::new(&folder);
    process.acquire("x", 1).unwrap();
    let mut entry = PermitHandle::Entry { name: Box::from(&b"x"[..]), id: 1 };
    assert!(!process.renew(&mut entry, LIFETIME));
    process.release(&entry);
    assert_eq!(process.count("x"), 1);
}

#[test]
fn reset_frees_the_permits_of_all_processes() {
    let folder = Folder::new();
    let processes = processes_with_a_permit(&folder, 3);
    processes[0].acquire("y", 1).unwrap();
    processes[0].reset("x");
    assert_eq!((processes[1].count("x"), processes[1].count("y")), (0, 1));
}

#[test]
fn permits_of_a_process_that_has_ended_are_free_at_once() {
    let folder = Folder::new();
    let (living, ended) = (Process::new(&folder), Process::new(&folder));
    living.acquire("x", 4).unwrap();
    for _ in 0..3 {
        ended.acquire("x", 4).unwrap();
    }
    assert!(living.acquire("x", 4).is_none(), "both live");
    assert_eq!(living.count("x"), 4);
    drop(ended);
    assert!(living.acquire("x", 4).is_some());
    assert_eq!(living.count("x"), 2);
}

#[test]
fn counting_frees_the_permits_of_processes_that_have_ended() {
    let folder = Folder::new();
    let mut processes = processes_with_a_permit(&folder, 4);
    processes.swap_remove(1);
    let counted = with_key("x", |key| {
        let count = |permits: &KeyPermits<'_>, holder: &Holder| {
            (permits.count(holder), permits.held().count())
        };
        processes[0].permits.with_key(key, count)
    });
    assert_eq!(counted, Ok((3, 3)));
}

#[test]
fn search_for_dead_holders_asks_about_so_many_alone() {
    let folder = Folder::new();
    let mut processes = processes_with_a_permit(&folder, 5);
    let caller = processes.pop().unwrap();
    assert!(!caller.free_dead(5, 3, 5), "all live");
    processes.remove(2);
    assert!(!caller.free_dead(5, 0, 2), "2 is dead, but is not asked about");
    assert!(caller.free_dead(5, 1, 2), "2 comes after 1");
    assert!(!caller.free_dead(5, 0, 5), "2 is free already");
    assert_eq!(caller.count("x"), 4);
}

#[test]
fn call_that_is_denied_by_the_limit_does_not_count_as_one_for_want_of_room() {
    let folder = Folder::new();
    let processes = processes_with_a_permit(&folder, 2);
    assert!(processes[0].acquire("x", 2).is_none());
    assert_eq!(processes[0].denied_newcomers(), 0);
    assert!(processes[0].acquire_leaving("x", 9, 7).is_none(), "two are held of two");
    assert_eq!(processes[0].denied_newcomers(), 0, "seven are free, which have no slot yet");
    processes[0].fill_table();
    assert!(processes[0].acquire("x", 3).is_none());
    assert_eq!(processes[0].denied_newcomers(), 1, "the third permit finds no slot");
}

#[test]
fn permit_takes_the_slot_of_a_process_that_has_ended_in_a_full_table() {
    let folder = Folder::new();
    let (living, ended) = (Process::new(&folder), Process::new(&folder));
    ended.fill_table();
    assert!(living.acquire("x", 1).is_none(), "both live");
    drop(ended);
    assert!(living.acquire("x", 1).is_some());
    assert_eq!((living.count("x"), living.denied_newcomers()), (1, 1));
}

#[test]
fn permit_of_a_file_that_was_replaced_is_none_of_the_new_file() {
    let folder = Folder::new();
    let process = Process::new(&folder);
    let mut old = process.acquire("x", 1).unwrap();
    fs::remove_file(process.file().location().path()).unwrap();
    process.file().open().unwrap();
    assert!(!process.renew(&mut old, LIFETIME));
    assert!(process.acquire("x", 1).is_some());
    process.release(&old);
    assert_eq!(process.count("x"), 1);
}

#[test]
fn first_permit_after_the_file_was_removed_is_in_the_new_file() {
    let folder = Folder::new();
    let (early, late) = (Process::new(&folder), Process::new(&folder));
    // It has mapped the file, but has no number in it yet.
    early.file().open().unwrap();
    fs::remove_file(early.file().location().path()).unwrap();
    assert!(late.acquire("x", 1).is_some());
    assert!(early.acquire("x", 1).is_none(), "both see one file");
}

#[test]
fn process_that_cannot_open_the_file_again_has_permits_only_where_it_needs_no_file() {
    let folder = Folder::new();
    for (purpose, needs_file) in [(Purpose::Permits, true), (Purpose::HostPermits, false)] {
        let process = Process::with_purpose(&folder, purpose);
        process.file().open().unwrap();
        let path = process.file().location().path();
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        let acquired = process.try_to_acquire("x", 1);
        assert_eq!(acquired.is_err(), needs_file, "{purpose:?}");
        match acquired {
            Err(error) => assert_eq!(error.kind(), ErrorKind::Storage),
            Ok(permit) => assert!(permit.is_some() && process.acquire("x", 1).is_none()),
        }
        fs::remove_dir(&path).unwrap();
    }
}

#[test]
fn description_counts_the_permits_of_processes_that_live() {
    let folder = Folder::new();
    let (process, ended) = (Process::new(&folder), Process::new(&folder));
    assert_eq!(process.described(), ["65280", "0"]);
    assert!(!process.file().location().path().exists(), "it makes no file");
    process.acquire("x", 2).unwrap();
    ended.acquire("x", 2).unwrap();
    assert_eq!(process.described(), ["65280", "2"]);
    assert_eq!(Process::new(&folder).described(), ["65280", "2"], "it has not opened the file yet");
    drop(ended);
    assert_eq!(process.described(), ["65280", "1"]);
    // It cannot be read where a directory is in its place.
    let path = process.file().location().path();
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(Process::new(&folder).described()[1].contains(path.to_str().unwrap()));
}
