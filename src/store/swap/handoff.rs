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

use super::basis::{MAX_RECORD, with_length};
use super::batch::{Batches, Bell};
use crate::clock::Reading;
use crate::limit::StoredState;
use crate::store::record;
use siphasher::sip::SipHasher13;
use std::hash::Hasher;

/// The words of a hand-off.
pub(super) const HANDOFF_WORDS: usize = 6;
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

impl<W: Bell, const R: usize> Batches<'_, W, R> {
    /// What was handed off for the key, unless that was too long before `now`.
    pub fn handoff(&self, key: u64, now: u64) -> Option<Handoff> {
        let [a, b, c, d, e, check] = &self.record.handoff;
        let words = [a, b, c, d, e].map(W::load);
        let [key_and_version, first, second, clock, times] = words;
        let written_at = times as u64;
        let is_fresh = written_at <= now && now < written_at + LIFETIME;
        // The checksum rejects a mix of what two processes wrote at once.
        let is_whole = u128::from(checksum(self.secret, 0, &words)) == check.load();
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
    pub fn hand_off(&self, key: u64, state: &StoredState, version: u64, clock: Reading, now: u64) {
        let record = record::encode(state);
        let length = u8::try_from(record.len()).ok().filter(|it| usize::from(*it) <= MAX_RECORD);
        let Some(bytes) = length.and_then(|length| with_length(length, record)) else {
            // What is there from before is out of date: a swap that begins with it would be lost.
            let [.., check] = &self.record.handoff;
            return check.store(0);
        };
        let [first, second] = from_bytes(bytes);
        let times = pair(clock.read_at, now);
        let words = [pair(key, version), first, second, pair(clock.time, clock.sent_at), times];
        let all = words.into_iter().chain([checksum(self.secret, 0, &words).into()]);
        self.record.handoff.iter().zip(all).for_each(|(to, word)| to.store(word));
    }
}

/// A checksum of words that belong to `owner`.
pub(super) fn checksum([low, high]: [u64; 2], owner: u64, words: &[u128]) -> u64 {
    let mut hasher = SipHasher13::new_with_keys(low, high);
    hasher.write_u64(owner);
    words.iter().for_each(|word| hasher.write_u128(*word));
    hasher.finish()
}

const fn pair(high: u64, low: u64) -> u128 {
    (high as u128) << 64 | low as u128
}

pub(super) fn from_bytes(bytes: [u8; 32]) -> [u128; 2] {
    let (first, second) = bytes.split_at(16);
    [first, second].map(|half| half.iter().fold(0, |word, byte| word << 8 | u128::from(*byte)))
}

pub(super) fn to_bytes([first, second]: [u128; 2]) -> [u8; 32] {
    let mut bytes = [0; 32];
    let both = first.to_be_bytes().into_iter().chain(second.to_be_bytes());
    bytes.iter_mut().zip(both).for_each(|(to, from)| *to = from);
    bytes
}
