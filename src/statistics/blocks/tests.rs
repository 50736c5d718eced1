//! The blocks that operators see: until when, of which key, and what a full set or a torn entry shows.

use super::*;
use crate::limit::SECOND;
use std::cell::Cell;
use std::sync::atomic::AtomicBool;

const NOW: u64 = 1_000 * SECOND;

/// A table of so many sets.
struct TestTable(Vec<BlockSet>);

/// A token bucket in shared memory.
fn with_key<R>(identifier: &[u8], work: impl FnOnce(BlockedKey<'_>) -> R) -> R {
    let (key_hash, record) = (Cell::default(), Cell::default());
    let context = CallContext::of_identifier(identifier, &key_hash, &record);
    let kind = LimitKind::TokenBucket;
    let (store, prefix) = (b"store=3:shm;".as_slice(), b"tb:".as_slice());
    work(BlockedKey { store, prefix, context, kind, is_enforced: true })
}

impl TestTable {
    fn new(sets: usize) -> Self {
        Self((0..sets).map(|_| BlockSet::default()).collect())
    }

    fn blocks(&self) -> Blocks<'_> {
        Blocks { sets: &self.0, secret: [1, 2] }
    }

    fn block(&self, identifier: &str, until: u64) {
        with_key(identifier.as_bytes(), |key| self.blocks().note(&key, b"tb:", true, until));
    }

    fn reset(&self, identifier: &str) {
        with_key(identifier.as_bytes(), |key| self.blocks().lift(&key));
    }

    /// The identifiers that are listed at this time, and until when.
    fn listed(&self, now: u64) -> Vec<(String, u64)> {
        let text = |block: ListedBlock| (String::from_utf8(block.identifier).unwrap(), block.until);
        self.blocks().snapshot(b"tb:", now).into_iter().map(text).collect()
    }
}

fn row(identifier: &str, until: u64) -> (String, u64) {
    (identifier.to_owned(), until)
}

#[test]
fn block_is_listed_until_it_ends() {
    let table = TestTable::new(4);
    table.block("login:a", NOW + 5);
    table.block("login:b", NOW + 9);
    assert_eq!(table.listed(NOW), [row("login:b", NOW + 9), row("login:a", NOW + 5)]);
    assert_eq!(table.listed(NOW + 5), [row("login:b", NOW + 9)]);
    let block = &table.blocks().snapshot(b"tb:", NOW)[1];
    let expected = ListedBlock {
        name: b"login".to_vec(),
        identifier: b"login:a".to_vec(),
        kind: LimitKind::TokenBucket,
        is_enforced: true,
        until: NOW + 5,
    };
    assert_eq!(*block, expected);
    assert_eq!(table.blocks().snapshot(b"shop:", NOW), [], "another prefix");
}

#[test]
fn later_block_of_a_key_replaces_the_entry_and_a_reset_removes_it() {
    let table = TestTable::new(4);
    table.block("login:a", NOW + 5);
    table.block("login:a", NOW + 9);
    table.block("login:b", NOW + 7);
    assert_eq!(table.listed(NOW), [row("login:a", NOW + 9), row("login:b", NOW + 7)]);
    table.reset("login:a");
    table.reset("login:never");
    assert_eq!(table.listed(NOW), [row("login:b", NOW + 7)]);
    table.block("login:a", NOW + 8);
    assert_eq!(table.listed(NOW), [row("login:a", NOW + 8), row("login:b", NOW + 7)]);
}

#[test]
fn keys_that_differ_in_store_algorithm_or_end_have_entries_of_their_own() {
    let table = TestTable::new(1);
    let long = "login:".to_owned() + &"x".repeat(LONGEST_IDENTIFIER);
    let changes: [fn(BlockedKey<'_>) -> BlockedKey<'_>; 3] = [
        |key| key,
        |key| BlockedKey { store: b"store=5:redis;", ..key },
        |key| BlockedKey { kind: LimitKind::FixedWindow, ..key },
    ];
    for change in changes {
        with_key(long.as_bytes(), |key| {
            table.blocks().note(&change(key), b"tb:", true, NOW + 5);
        });
    }
    table.block(&format!("{long} and more"), NOW + 5);
    assert_eq!(table.listed(NOW).len(), 4);
    table.reset(&long);
    let cut = &long[..LONGEST_IDENTIFIER];
    assert_eq!(table.listed(NOW), [const { NOW + 5 }; 3].map(|until| row(cut, until)));
}

#[test]
fn limit_has_its_name_and_another_name_the_same_entry() {
    let table = TestTable::new(1);
    let named = |name, until| {
        with_key(b"login:a", |key| {
            let key =
                BlockedKey { context: CallContext { name: Some(name), ..key.context }, ..key };
            table.blocks().note(&key, b"tb:", true, until);
        });
    };
    named(b"strict", NOW + 5);
    named(b"lenient", NOW + 6);
    let names: Vec<_> =
        table.blocks().snapshot(b"tb:", NOW).into_iter().map(|block| block.name).collect();
    assert_eq!(names, [b"lenient"]);
}

#[test]
fn identifier_that_is_not_tracked_is_not_kept() {
    let table = TestTable::new(1);
    for identifier in [b"login:a", b"login:b"] {
        with_key(identifier, |key| table.blocks().note(&key, b"tb:", false, NOW + 5));
    }
    assert_eq!(table.listed(NOW), [row("", NOW + 5), row("", NOW + 5)]);
    table.reset("login:a");
    assert_eq!(table.listed(NOW), [row("", NOW + 5)]);
}

#[test]
fn full_set_keeps_the_blocks_that_end_last() {
    let table = TestTable::new(1);
    for n in 0..100 {
        table.block(&format!("login:{n}"), NOW + 10 + n * 37 % 100);
    }
    let ends: Vec<_> = table.listed(NOW).into_iter().map(|(_, until)| until - NOW - 10).collect();
    assert_eq!(ends, [99, 98, 97, 96, 95, 94, 93, 92]);
    table.block("login:early", NOW + 10);
    assert_eq!(table.listed(NOW).len(), 8, "it ends before all others");
    table.block("login:later", NOW + 110);
    assert_eq!(table.listed(NOW).len(), 8);
    assert_eq!(table.listed(NOW)[7].1, NOW + 103, "the one that ended first has made room");
}

#[test]
fn table_that_is_full_of_ended_blocks_has_room() {
    let table = TestTable::new(1);
    (0..20).for_each(|n| table.block(&format!("login:{n}"), NOW + n));
    (0..8).for_each(|n| table.block(&format!("login:new {n}"), NOW + 100));
    assert_eq!(table.listed(NOW + 50).len(), 8);
}

#[test]
fn entry_that_is_being_written_is_left_out_until_it_is_whole() {
    let table = TestTable::new(1);
    table.block("login:a", NOW + 5);
    table.block("login:b", NOW + 6);
    let first =
        |table: &TestTable| table.0[0].positions().next().unwrap().entry.name.write(b"other");
    first(&table);
    assert_eq!(table.listed(NOW), [row("login:b", NOW + 6)]);
    table.block("login:a", NOW + 7);
    assert_eq!(table.listed(NOW), [row("login:a", NOW + 7), row("login:b", NOW + 6)]);
    table.0[0]
        .positions()
        .for_each(|position| position.entry.kind.store(u64::MAX, Ordering::Relaxed));
    assert_eq!(table.listed(NOW), []);
}

#[test]
fn processes_that_block_and_reset_at_once_leave_whole_entries() {
    let (table, is_over) = (TestTable::new(1), AtomicBool::new(false));
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..3u64)
            .map(|writer| {
                let table = &table;
                scope.spawn(move || {
                    for n in 0..30_000u64 {
                        let until = NOW + writer * 100_000 + n;
                        table.block(&format!("login:{until}"), until);
                        if n % 4 == 0 {
                            table.reset(&format!("login:{}", until - 1));
                        }
                    }
                })
            })
            .collect();
        let reader = scope.spawn(|| {
            let mut seen = 0;
            while !is_over.load(Ordering::Relaxed) {
                for (identifier, until) in table.listed(NOW) {
                    assert_eq!(identifier, format!("login:{until}"));
                    seen += 1;
                }
            }
            seen
        });
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        is_over.store(true, Ordering::Relaxed);
        assert!(reader.join().unwrap() > 0);
    });
}

#[test]
fn smallest_file_has_no_room_and_that_of_statistics_has() {
    let region = crate::mapped::without_file(crate::mapped::Purpose::Statistics).unwrap();
    let blocks = Blocks::new(&region);
    with_key(b"login:a", |key| blocks.note(&key, b"tb:", true, NOW + 5));
    assert_eq!(blocks.snapshot(b"tb:", NOW), []);
    let sets = BLOCKS_SIZE / size_of::<BlockSet>();
    assert_eq!(sets * tagged_set::WAYS, 1_024, "docs/operations.md");
}
