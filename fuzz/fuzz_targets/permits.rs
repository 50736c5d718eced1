//! Permits: what Redis's script may reply, and a table of any words. No word makes a call fail, and none lets
//! more in than the limit.

#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use std::cell::Cell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::rc::Rc;
use token_bucket::clock::freeze;
use token_bucket::limit::{HeldPermits, MAX_NOW, MAX_PERMITS, PermitLimit, PermitOp, SECOND};
use token_bucket::mapped::{Location, MIN_SIZE, Purpose};
use token_bucket::net::Timeouts;
use token_bucket::store::shm::permits::{PermitTable, SharedPermits};
use token_bucket::store::shm::slot::{HeldSlot, Slot};
use token_bucket::store::{Key, KeyHash, LimitKind, PermitHandle, Permits, parse_permit_reply};
use token_bucket_fuzz::calls::number;
use token_bucket_fuzz::folder::folder;

/// The identifiers, each with the limit that it always has.
const IDS: [(&[u8], i64); 3] = [(b"a", 1), (b"b", 3), (b"c", 40)];
const HEADER: u64 = 4096;
const WORD: usize = 16;

fuzz_target!(|input: &[u8]| {
    let _ = run(&mut Unstructured::new(input));
});

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    if u.ratio(1, 8)? {
        let reply = u.bytes(u.len())?;
        assert!(parse_permit_reply(reply).is_none_or(|answer| answer.active <= MAX_PERMITS));
        return Ok(());
    }
    let mut now = 1_000_000 * SECOND;
    let permits = table_of_any_words(u, now)?;
    let mut models: [HeldPermits; IDS.len()] = Default::default();
    for (id, _) in IDS {
        with_key(id, |key| permits.reset(key, call(now))).expect("the table is open");
    }
    let mut held: Vec<(usize, u128, PermitHandle)> = Vec::new();
    for step in 0..64u128 {
        if u.is_empty() {
            break;
        }
        let at = u.int_in_range(0..=IDS.len() - 1)?;
        let (id, max) = IDS[at];
        now = now.saturating_add(number(u, 100 * SECOND)?).min(MAX_NOW);
        let lifetime = number(u, 200 * SECOND)?.max(1);
        let limit = PermitLimit::new(max, lifetime as f64 / SECOND as f64).expect("a limit");
        match u.int_in_range(0..=7u8)? {
            0..=3 => {
                let taken = with_key(id, |key| permits.acquire(key, &limit, 0, call(now)));
                let mut after = models[at].clone();
                let op =
                    PermitOp::Acquire { id: step, max: limit.max(), lifetime: limit.lifetime() };
                let allowed = after.apply(now, op).accepted;
                // Without a free slot a newcomer is denied, whatever the limit says.
                if let Some(handle) = taken.expect("the table is open") {
                    assert!(allowed, "let in beyond the limit");
                    models[at] = after;
                    held.push((at, step, handle));
                }
            }
            4 | 5 if !held.is_empty() => {
                let n = u.int_in_range(0..=held.len() - 1)?;
                let (at, id, handle) = &mut held[n];
                let renewed =
                    permits.renew(handle, lifetime, call(now)).expect("the table is open");
                let op = PermitOp::Renew { id: *id, lifetime };
                assert_eq!(renewed, models[*at].apply(now, op).accepted);
            }
            6 if !held.is_empty() => {
                let (at, id, handle) = held.swap_remove(u.int_in_range(0..=held.len() - 1)?);
                permits.release(&handle, call(now)).expect("the table is open");
                models[at].apply(now, PermitOp::Release { id });
            }
            7 => {
                with_key(id, |key| permits.reset(key, call(now))).expect("the table is open");
                models[at].apply(now, PermitOp::Reset);
            }
            _ => {}
        }
        let counted = with_key(id, |key| permits.count(key, call(now)));
        assert_eq!(counted, Ok(models[at].apply(now, PermitOp::Count).active));
    }
    std::hint::black_box(permits.describe());
    Ok(())
}

/// A table with a valid header and words that the input chooses.
fn table_of_any_words(u: &mut Unstructured<'_>, now: u64) -> Result<SharedPermits> {
    let purpose = Purpose::Permits;
    let name = "fuzz.permits".into();
    let location = Location { base: folder().to_owned(), name, size: MIN_SIZE, purpose };
    let open = || SharedPermits::in_table(Rc::new(PermitTable::new(location.clone())), 0);
    let permits = open();
    with_key(b"a", |key| permits.count(key, call(now))).expect("a file in memory");
    let mut words = Vec::new();
    for _ in 0..u.int_in_range(0..=16u8)? {
        let tag = u64::from(u.arbitrary::<u32>()?);
        words.push(match u.int_in_range(0..=3u8)? {
            0 => 0,
            1 => u.arbitrary::<u128>()?,
            2 => Slot::claim(tag, now.saturating_sub(number(u, now)?), u.arbitrary()?).0,
            _ => {
                let (ends_at, holder) = (now + number(u, 1 << 57)?, u.arbitrary::<u32>()? >> 8);
                Slot::held(tag, HeldSlot { ends_at, holder: holder.max(1) }).0
            }
        });
    }
    let count = (MIN_SIZE - HEADER) as usize / WORD;
    let bytes: Vec<u8> = match words.is_empty() {
        true => vec![0; count * WORD],
        false => words.iter().cycle().take(count).flat_map(|word| word.to_ne_bytes()).collect(),
    };
    let file = File::options().write(true).open(location.path()).expect("a file in memory");
    file.write_all_at(&bytes, HEADER).expect("room in memory");
    Ok(permits)
}

/// Sets this thread's clock.
fn call(now: u64) -> &'static Timeouts {
    static TIMEOUTS: Timeouts =
        Timeouts { call: std::time::Duration::ZERO, connect: std::time::Duration::ZERO };
    freeze(Some(now));
    &TIMEOUTS
}

fn with_key<R>(id: &[u8], work: impl FnOnce(&Key<'_>) -> R) -> R {
    let key_hash = &Cell::new(KeyHash::default());
    work(&Key { parts: [b"tb:", id, b"", b""], kind: LimitKind::Concurrency, key_hash })
}
