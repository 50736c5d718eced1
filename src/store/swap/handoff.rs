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

use super::hot_key::{HANDOFF_WORDS, HotKey};
use crate::clock::Reading;
use crate::hash;
use crate::limit::StoredState;
use crate::mapped::word::Word;
use crate::store::record;

/// The most bytes of a state's record.
const MAX_RECORD: usize = 31;

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
pub fn handed_off<W: Word>(hot_key: HotKey<'_, W>, now: u64) -> Option<Handoff> {
    let [words @ .., check] = hot_key.record.handoff.each_ref().map(W::load);
    let [key_and_version, first, second, clock, times] = words;
    let written_at = times as u64;
    let is_fresh = written_at <= now && now < written_at + LIFETIME;
    // The checksum rejects a mix of what two processes wrote at once.
    let is_whole = checksum(hot_key, &words) == check;
    if !is_fresh || !is_whole || (key_and_version >> 64) as u64 != hot_key.key {
        return None;
    }
    let mut bytes = [0; 1 + MAX_RECORD];
    let stored = [first, second].into_iter().flat_map(u128::to_be_bytes);
    bytes.iter_mut().zip(stored).for_each(|(to, byte)| *to = byte);
    let [length, bytes @ ..] = bytes;
    let state = record::try_decode(bytes.get(..usize::from(length))?)?;
    let (time, read_at) = ((clock >> 64) as u64, (times >> 64) as u64);
    let clock = Reading { time, sent_at: clock as u64, read_at };
    Some(Handoff { state, version: key_and_version as u64, clock })
}

/// Hands the next process the state that is on the server at `now`. A state whose record is too long is not handed off;
/// the next process reads it.
pub fn hand_off<W: Word>(
    hot_key: HotKey<'_, W>,
    state: &StoredState,
    version: u64,
    clock: Reading,
    now: u64,
) {
    let Some([first, second]) = state_words(state) else {
        // What is there from before is out of date: a swap that begins with it would be lost.
        let [.., check] = &hot_key.record.handoff;
        return check.store(0);
    };
    let times = pair(clock.read_at, now);
    let words = [pair(hot_key.key, version), first, second, pair(clock.time, clock.sent_at), times];
    let all = words.into_iter().chain([checksum(hot_key, &words)]);
    hot_key.record.handoff.iter().zip(all).for_each(|(to, word)| to.store(word));
}

/// The length and the bytes of a state's record. None if it has too many.
fn state_words(state: &StoredState) -> Option<[u128; 2]> {
    let record = record::encode(state);
    let length = u8::try_from(record.len()).ok().filter(|it| usize::from(*it) <= MAX_RECORD)?;
    let mut bytes = std::iter::once(length).chain(record).chain(std::iter::repeat(0));
    let mut word = || bytes.by_ref().take(16).fold(0, |word, byte| word << 8 | u128::from(byte));
    Some([word(), word()])
}

const fn pair(high: u64, low: u64) -> u128 {
    (high as u128) << 64 | low as u128
}

fn checksum<W>(hot_key: HotKey<'_, W>, words: &[u128; HANDOFF_WORDS - 1]) -> u128 {
    hash::keyed(hot_key.secret, &[words.map(u128::to_le_bytes).as_flattened()]).into()
}

#[cfg(test)]
mod tests;
