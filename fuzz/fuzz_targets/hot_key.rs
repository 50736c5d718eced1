//! A hot key's record of any words: calls that join batches, ask, and hand off.

#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use portable_atomic::AtomicU128;
use siphasher::sip::SipHasher13;
use std::cell::Cell;
use std::hash::Hasher;
use token_bucket::clock::Reading;
use token_bucket::limit::{SECOND, StoredState, apply};
use token_bucket::net::Timeouts;
use token_bucket::store::swap::basis::{Basis, BasisState};
use token_bucket::store::swap::batch::{Caller, Step, extend, release};
use token_bucket::store::swap::handoff::{hand_off, handed_off};
use token_bucket::store::swap::key_record::{Batches, KeyRecord};
use token_bucket::store::swap::locked_key::{is_locked, note_lock, note_swapped};
use token_bucket::store::swap::repeated;
use token_bucket::store::swap::results::{give_up, publish, reserve};
use token_bucket::store::{LimitKind, Request, Time};
use token_bucket_fuzz::calls::{keeps_promises, limit, operation, time};
use token_bucket_fuzz::record::hits;
use token_bucket_fuzz::table_file::{SECRET, key};

/// The words of a record: the control word, a locked key, a hand-off, and results of four words.
const WORDS: usize = 40;
const HANDOFF_AT: usize = 2;
const RESULTS_AT: usize = 8;
const KEY: u64 = 1;
const KIND: u64 = 2;

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
        words[HANDOFF_AT + 5] = checksum(0, &words[HANDOFF_AT..HANDOFF_AT + 5]).into();
    }
    for at in (RESULTS_AT..WORDS).step_by(4) {
        if u.arbitrary()? {
            // A result with a valid checksum, of one of the first batches.
            let number = u.int_in_range(0..=3u128)?;
            words[at] = words[at] >> 64 << 64 | number;
            with_record(u, &mut words[at + 1..], now)?;
            let low = u128::from(u.arbitrary::<u64>()?);
            let label = low & !((1 << 41) - 1) | number << 10 | low & 1023;
            words[at + 3] = u128::from(checksum(KIND, &words[at..at + 3])) << 64 | label;
        }
    }
    let next = Cell::new(words.into_iter());
    let record = KeyRecord::<AtomicU128>::new(|| {
        let mut words = next.take();
        let word = words.next();
        next.set(words);
        AtomicU128::new(word.unwrap_or(0))
    });
    let batches = Batches { record: &record, secret: SECRET };
    let (key_hash, timeouts) = (Cell::default(), Timeouts::default());
    let key = key(b"a", LimitKind::from(&limit), &key_hash);
    let request =
        Request { key: &key, limit: &limit, op: &op, time: Time::Now, timeouts: &timeouts };
    let mut callers: Vec<_> = (0..3).map(|i| Caller::new(batches, KIND + i / 2)).collect();
    let mut batch = None;
    for _ in 0..32 {
        if u.is_empty() {
            break;
        }
        let at = now + u64::from(u.arbitrary::<u32>()?);
        let caller = u.choose_index(callers.len())?;
        match u.int_in_range(0..=5u8)? {
            0..=2 => match callers[caller].step(at, at + SECOND / 50, u.arbitrary()?) {
                Step::Ask(asked) => batch = Some(asked),
                Step::Decided(basis, index) => {
                    // Any state may have been handed over; what is decided on it is a decision.
                    let decision = repeated::decide_by(&basis, &request, index);
                    std::hint::black_box(limit.remaining(&decision));
                }
                Step::Sleep(_) | Step::TooLate => {}
            },
            3 => callers[caller].leave(at),
            4 => {
                if let Some(handoff) = handed_off(batches, KEY, at) {
                    // As the stores that compare and swap do.
                    std::hint::black_box(limit.earliest_write(&handoff.state));
                    let (decision, after) = apply(&limit, &handoff.state, now, op);
                    keeps_promises(&limit, op, &decision, true);
                    hand_off(batches, KEY, &after, 1, Reading::taken_now(now, at), at);
                }
                note_lock(batches, KEY, at);
                std::hint::black_box(is_locked(batches, KEY, at));
                note_swapped(batches, KEY);
            }
            _ => {
                let Some(batch) = batch.take() else { continue };
                extend(batches, &batch, at + SECOND / 50);
                if let Some(room) = reserve(batches, &batch, at) {
                    let state = BasisState::Whole(StoredState::FULL);
                    match u.arbitrary()? {
                        true => publish(batches, &room, KIND, &Basis { state, now: time(u, now)? }),
                        false => give_up(&room),
                    }
                }
                release(batches, &batch);
            }
        }
    }
    Ok(())
}

/// Puts the bytes of some state before the words, or of none.
fn with_record(u: &mut Unstructured<'_>, words: &mut [u128], now: u64) -> Result<()> {
    let mut bytes = if u.arbitrary()? { hits(u, now / SECOND)? } else { u.arbitrary()? };
    bytes.truncate(31);
    bytes.insert(0, u.int_in_range(0..=1)? * 32 | bytes.len() as u8);
    bytes.resize(32, 0);
    for (word, half) in words.iter_mut().zip(bytes.chunks_exact(16)) {
        *word = u128::from_be_bytes(half.try_into().expect("16 bytes"));
    }
    Ok(())
}

fn checksum(owner: u64, words: &[u128]) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(SECRET[0], SECRET[1]);
    hasher.write_u64(owner);
    words.iter().for_each(|word| hasher.write_u128(*word));
    hasher.finish()
}
