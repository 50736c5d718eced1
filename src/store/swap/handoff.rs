//! The hand-off: what the last process of this host wrote for a key. The next one need not read it.
//!
//! A hand-off is only a hint, for the server compares before it swaps.
//!
//! ```text
//! word 0     key           | version
//! words 1-2  length and bytes of the state's record
//! word 3     clock: time    | sent at
//! word 4     clock: read at | handed off at
//! word 5     checksum of words 0 to 4
//! ```

use super::key_record::{Batches, Bell};
use super::record_words::{MAX_RECORD, checksum, from_bytes, to_bytes, with_length};
use crate::clock::Reading;
use crate::limit::StoredState;
use crate::store::record;

/// How long a hand-off is used, in nanoseconds. An older one is likely to be out of date.
const LIFETIME: u64 = 50_000_000;

/// What a process of this host wrote on the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handoff {
    /// The bucket's state.
    pub state: StoredState,
    /// By what the server, or the store, recognises this value.
    pub version: u64,
    /// The clock reading that the process decided by.
    pub clock: Reading,
}

/// What was handed off for the key, unless that was too long before `now`.
pub fn handed_off<W: Bell, const R: usize>(
    batches: Batches<'_, W, R>,
    key: u64,
    now: u64,
) -> Option<Handoff> {
    let [a, b, c, d, e, check] = &batches.record.handoff;
    let words = [a, b, c, d, e].map(W::load);
    let [key_and_version, first, second, clock, times] = words;
    let written_at = times as u64;
    let is_fresh = written_at <= now && now < written_at + LIFETIME;
    // The checksum rejects a mix of what two processes wrote at once.
    let is_whole = u128::from(checksum(batches.secret, 0, &words)) == check.load();
    if !is_fresh || !is_whole || (key_and_version >> 64) as u64 != key {
        return None;
    }
    let [length, bytes @ ..] = to_bytes([first, second]);
    let state = record::try_decode(bytes.get(..usize::from(length))?)?;
    let (time, read_at) = ((clock >> 64) as u64, (times >> 64) as u64);
    let clock = Reading { time, sent_at: clock as u64, read_at };
    Some(Handoff { state, version: key_and_version as u64, clock })
}

/// Hands the next process the state that is on the server at `now`. A state whose record is too long is not handed off;
/// the next process reads it.
pub fn hand_off<W: Bell, const R: usize>(
    batches: Batches<'_, W, R>,
    key: u64,
    state: &StoredState,
    version: u64,
    clock: Reading,
    now: u64,
) {
    let record = record::encode(state);
    let length = u8::try_from(record.len()).ok().filter(|it| usize::from(*it) <= MAX_RECORD);
    let Some(bytes) = length.and_then(|length| with_length(length, record)) else {
        // What is there from before is out of date: a swap that begins with it would be lost.
        let [.., check] = &batches.record.handoff;
        return check.store(0);
    };
    let [first, second] = from_bytes(bytes);
    let times = pair(clock.read_at, now);
    let words = [pair(key, version), first, second, pair(clock.time, clock.sent_at), times];
    let all = words.into_iter().chain([checksum(batches.secret, 0, &words).into()]);
    batches.record.handoff.iter().zip(all).for_each(|(to, word)| to.store(word));
}

const fn pair(high: u64, low: u64) -> u128 {
    (high as u128) << 64 | low as u128
}

#[cfg(test)]
mod tests;
