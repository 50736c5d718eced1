//! A hot key's record of any words: calls that wait for their turn, ask, and hand off.

#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use portable_atomic::AtomicU128;
use siphasher::sip::SipHasher13;
use std::cell::Cell;
use std::hash::Hasher;
use token_bucket::clock::Reading;
use token_bucket::limit::{SECOND, apply};
use token_bucket::store::swap::handoff::{hand_off, handed_off};
use token_bucket::store::swap::hot_key::{HotKey, KeyRecord};
use token_bucket::store::swap::locked_key::{is_locked, note_lock, note_swapped};
use token_bucket::store::swap::turn::{Next, take};
use token_bucket_fuzz::calls::{keeps_promises, limit, operation};
use token_bucket_fuzz::record::hits;
use token_bucket_fuzz::table_file::SECRET;

/// The words of a record: the turn, a locked key, and a hand-off.
const WORDS: usize = 8;
const HANDOFF_AT: usize = 2;
const KEY: u64 = 1;

fuzz_target!(|bytes: &[u8]| {
    let _ = run(&mut Unstructured::new(bytes));
});

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let now = 100_000 * SECOND;
    let (limit, op) = (limit(u)?, operation(u)?);
    let mut words: [u128; WORDS] = u.arbitrary()?;
    if u.arbitrary()? {
        words[0] = 0;
    }
    if u.arbitrary()? {
        // A hand-off with a valid checksum.
        words[HANDOFF_AT] = u128::from(KEY) << 64 | words[HANDOFF_AT] >> 64;
        with_record(u, &mut words[HANDOFF_AT + 1..], now)?;
        let written_at = now - u.int_in_range(0..=SECOND / 10)?;
        let times = &mut words[HANDOFF_AT + 4];
        *times = *times >> 64 << 64 | u128::from(written_at);
        words[HANDOFF_AT + 5] = checksum(&words[HANDOFF_AT..HANDOFF_AT + 5]).into();
    }
    let next = Cell::new(words.into_iter());
    let record = KeyRecord::<AtomicU128>::new(|| {
        let mut words = next.take();
        let word = words.next();
        next.set(words);
        AtomicU128::new(word.unwrap_or(0))
    });
    let hot_key = |key| HotKey { record: &record, key, secret: SECRET };
    let mut turn = None;
    for _ in 0..32 {
        if u.is_empty() {
            break;
        }
        let at = now + u64::from(u.arbitrary::<u32>()?);
        match u.int_in_range(0..=4u8)? {
            0 | 1 => {
                match take(hot_key(u.int_in_range(KEY..=KEY + 1)?), u.arbitrary()?, at, SECOND / 50)
                {
                    // The turn before it ends.
                    Next::Ask(taken) => turn = Some(taken),
                    Next::Sleep(sleep) => assert!(sleep.at_most.as_secs() <= 60),
                    Next::AskAlone => {}
                }
            }
            2 => turn.iter().for_each(|turn| turn.extend(at)),
            3 => turn = None,
            _ => {
                if let Some(handoff) = handed_off(hot_key(KEY), at) {
                    // As the stores that compare and swap do.
                    std::hint::black_box(limit.earliest_write(&handoff.state));
                    let (decision, after) = apply(&limit, &handoff.state, now, op);
                    keeps_promises(&limit, op, &decision, true);
                    hand_off(hot_key(KEY), &after, 1, Reading::taken_now(now, at), at);
                }
                note_lock(hot_key(KEY), at);
                std::hint::black_box(is_locked(hot_key(KEY), at));
                note_swapped(hot_key(KEY));
            }
        }
    }
    Ok(())
}

/// Puts the bytes of some state before the words, or of none.
fn with_record(u: &mut Unstructured<'_>, words: &mut [u128], now: u64) -> Result<()> {
    let mut bytes = if u.arbitrary()? { hits(u, now / SECOND)? } else { u.arbitrary()? };
    bytes.truncate(31);
    bytes.insert(0, bytes.len() as u8);
    bytes.resize(32, 0);
    for (word, half) in words.iter_mut().zip(bytes.chunks_exact(16)) {
        *word = u128::from_be_bytes(half.try_into().expect("16 bytes"));
    }
    Ok(())
}

fn checksum(words: &[u128]) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(SECRET[0], SECRET[1]);
    words.iter().for_each(|word| hasher.write_u128(*word));
    hasher.finish()
}
