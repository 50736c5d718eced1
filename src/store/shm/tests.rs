//! The store: a table in a file, and what it says of itself.

use super::*;
use crate::clock::boot_time;
use crate::limit::{Limit, Op, SECOND, SlidingWindow, Span, State, TokenBucket};
use crate::mapped::Purpose;
use crate::mapped::tests::Folder;
use crate::store::LimitKind;
use permits::PermitTable;
use portable_atomic::Ordering;
use slot::Slot;
use std::fs;

const TAKE: Op = Op::Take { cost: 1 };

fn location(folder: &Folder) -> Location {
    Location::new(&folder.files(), "default", Purpose::Buckets)
}

/// A store whose file cannot be made.
fn store_nowhere() -> SharedMemory {
    SharedMemory::new(Location { base: "/nowhere".into(), ..location(&Folder::new()) })
}

fn with_permits(folder: &Folder, store: SharedMemory) -> SharedMemory {
    let location = Location::of_permits(&folder.files(), "default", Purpose::Permits);
    store.with_permits(SharedPermits::in_table(Rc::new(PermitTable::new(location)), 0))
}

fn with_request<R>(name: &str, limit: &Limit, work: impl FnOnce(&Request<'_>) -> R) -> R {
    let (key_hash, parts) = (Cell::default(), [name.as_bytes(), b"", b"", b""]);
    let key = Key { parts, kind: LimitKind::from(limit), key_hash: &key_hash };
    let timeouts = &Timeouts::default();
    work(&Request { key: &key, limit, op: &TAKE, now: boot_time(), timeouts })
}

/// Two at once, in an hour.
fn limits() -> [Limit; 2] {
    let bucket = TokenBucket::per_period(2, 3_600.0).unwrap().into();
    [bucket, SlidingWindow::new(2, 3_600.0).unwrap().into()]
}

/// The rows that every table has which was just made.
fn rows_of_fresh_table(location: &Location) -> Vec<(&'static str, String)> {
    let path = location.path();
    let rows = [
        ("Shared memory", path.to_str().unwrap()),
        ("Size in bytes", "1048576"),
        ("Buckets it can hold", "65280"),
        ("Buckets in use", "0"),
        ("Evicted while in use", "0"),
        ("Newcomers denied because the table was full", "0"),
    ];
    rows.map(|(name, value)| (name, value.to_owned())).to_vec()
}

#[test]
fn both_calls_decide_on_one_state_of_each_key() {
    for limit in limits() {
        let folder = Folder::new();
        let store = SharedMemory::new(location(&folder));
        let decide = |name| {
            let answer = with_request(name, &limit, |request| store.decide(request)).unwrap();
            (answer.decision.is_accepted(), answer.lacked_room)
        };
        let accepts = |name| {
            let answer = with_request(name, &limit, |request| store.accepts(request)).unwrap();
            (answer.decision, answer.lacked_room)
        };
        assert_eq!([decide("x"), accepts("x")], [(true, false); 2]);
        assert_eq!([decide("x"), accepts("x")], [(false, false); 2]);
        assert_eq!([accepts("y"), decide("y"), decide("y")].map(|it| it.0), [true, true, false]);
    }
}

#[test]
fn call_that_evicts_says_that_it_lacked_room() {
    for limit in limits() {
        let folder = Folder::new();
        let store = SharedMemory::new(location(&folder));
        store.file().open().unwrap();
        let full_at = Span::from_ns(boot_time() + 60 * SECOND);
        let region = store.file().region();
        let sets = region.as_ref().unwrap().area::<Set>(Area::Buckets);
        for (word, tag) in sets.iter().flat_map(|set| &set.0).zip(1..) {
            word.store(Slot::committed(tag, State::Filling { full_at }).0, Ordering::Relaxed);
        }
        assert!(with_request("x", &limit, |request| store.decide(request)).unwrap().lacked_room);
    }
}

#[test]
fn file_is_made_by_its_preparation_and_not_by_a_check_of_memory() {
    let folder = Folder::new();
    let store = SharedMemory::new(location(&folder));
    assert_eq!(store.check_memory(), Ok(()));
    assert!(!location(&folder).path().exists());
    assert_eq!(store.prepare(b"x", &Timeouts::default()), Ok(()));
    assert!(location(&folder).path().exists());
    assert!(store_nowhere().check_memory().is_err());
    assert!(store_nowhere().prepare(b"x", &Timeouts::default()).is_err());
}

#[test]
fn description_has_a_row_for_what_is_unusual_alone() {
    let folder = Folder::new();
    let store = SharedMemory::new(location(&folder));
    let state = ("State", "not made yet: the first call makes it".to_owned());
    assert_eq!(store.describe().get(1), Some(&state));
    assert!(!location(&folder).path().parent().unwrap().exists(), "nothing is made");
    store.prepare(b"", &Timeouts::default()).unwrap();
    assert_eq!(store.describe(), rows_of_fresh_table(&location(&folder)));
    let larger = SharedMemory::new(Location { size: 2 << 20, ..location(&folder) });
    let text = "2097152 (the file keeps its size; remove it to have this one)".to_owned();
    let mut expected = rows_of_fresh_table(&location(&folder));
    expected.insert(2, ("Size set by token_bucket.shm_size", text));
    assert_eq!(larger.describe(), expected);
    let failed = store_nowhere().describe();
    assert_eq!(failed.iter().map(|row| row.0).collect::<Vec<_>>(), ["Shared memory", "State"]);
    assert!(failed[1].1.contains("/nowhere"), "{failed:?}");
}

#[test]
fn permits_beside_the_table_are_described_with_it() {
    let folder = Folder::new();
    let store = SharedMemory::new(location(&folder));
    assert!(store.permits().is_none());
    let store = with_permits(&folder, store);
    assert!(store.permits().is_some());
    store.prepare(b"", &Timeouts::default()).unwrap();
    let permits = [("Permits it can hold", "65280"), ("Permits held", "0")]
        .map(|(name, value)| (name, value.to_owned()));
    assert_eq!(
        store.describe(),
        [rows_of_fresh_table(&location(&folder)), permits.to_vec()].concat()
    );
}

#[test]
fn root_learns_which_other_users_have_such_a_table() {
    let (folder, is_root) = (Folder::new(), rustix::process::geteuid().is_root());
    let store = SharedMemory::new(location(&folder));
    assert_eq!(store.other_users(), Some(vec![]));
    store.prepare(b"", &Timeouts::default()).unwrap();
    for user in ["4000000001", "4000000000"] {
        let directory = folder.files().path.join(format!("token_bucket-{user}"));
        fs::create_dir(&directory).unwrap();
        let file = location(&folder).path();
        fs::write(directory.join(file.file_name().unwrap()), "").unwrap();
    }
    let mut rows = rows_of_fresh_table(&location(&folder));
    let mut users = vec![];
    if is_root {
        users.extend([4_000_000_000, 4_000_000_001]);
        let row = ("Users that have such a table, too", "4000000000 4000000001".to_owned());
        rows.insert(1, row);
    }
    assert_eq!(store.other_users(), Some(users));
    assert_eq!(store.describe(), rows);
}
