//! The results of batches, each until all members have collected it.
//!
//! A process reserves the room for a result before it asks the server for others. If there is none, it asks for itself alone, and
//! the others join again: nothing is taken for a member that could not learn of it. Where no room is free, the oldest result
//! whose members have not come for a while makes room: they were killed, have given up, or are suspended.
//!
//! ```text
//! words 0-2  by what the batch was decided on: see `basis`
//! word 3     checksum of words 0 to 2 | since, ms (23) | number (31) | members that have not collected it (10)
//! ```

use super::basis::Basis;
use super::key_record::{Batch, Batches, Bell, RESULT_WORDS};
use super::record_words::checksum;
use crate::mapped::fields::fields;

const SINCE_BITS: u32 = 23;

/// How long a result is kept for members that do not come, in milliseconds.
const KEPT_FOR: u64 = 100;

/// The room for a result. It belongs to the batch while its last word is the one that reserved it.
pub struct Reserved<'a, W> {
    words: &'a [W; RESULT_WORDS],
    last: u128,
}

fields! {
    /// The last word of a result.
    struct Label: u128 {
        /// The members that have not collected it.
        left: u32 = 10,
        /// The number of the batch.
        number: u32 = 31,
        /// When the room was reserved, in milliseconds; wraps.
        since: u64 = SINCE_BITS,
        checksum: u64 = 64,
    }
}

impl Label {
    /// How long ago the room was reserved, in milliseconds.
    const fn age(&self, ms: u64) -> u64 {
        ms.wrapping_sub(self.since) & ((1 << SINCE_BITS) - 1)
    }
}

/// Reserves room for the result of a batch at `now`. None if there is none.
pub fn reserve<'a, W: Bell, const R: usize>(
    batches: Batches<'a, W, R>,
    batch: &Batch,
    now: u64,
) -> Option<Reserved<'a, W>> {
    let ms = now / 1_000_000;
    let left = batch.share.count - 1;
    let reserved = Label { checksum: 0, since: ms, number: batch.number, left }.to_word();
    let mut oldest: Option<(u64, &[W; RESULT_WORDS], u128)> = None;
    for words in &batches.record.results {
        let [.., last] = words;
        let seen = last.load();
        let label = Label::from_word(seen);
        if label.left == 0 {
            if last.replace(seen, reserved) {
                return Some(Reserved { words, last: reserved });
            }
            continue;
        }
        let age = label.age(ms);
        if age > oldest.map_or(KEPT_FOR, |(oldest, ..)| oldest) {
            oldest = Some((age, words, seen));
        }
    }
    let (_, words, seen) = oldest?;
    let [.., last] = words;
    last.replace(seen, reserved).then_some(Reserved { words, last: reserved })
}

/// Tells the members of a batch of this kind by what they were decided on.
pub fn publish<'a, W: Bell, const R: usize>(
    batches: Batches<'a, W, R>,
    room: &Reserved<'_, W>,
    kind: u64,
    basis: &Basis,
) {
    let label = Label::from_word(room.last);
    let [a, b, c, last] = room.words;
    let Some(words) = basis.to_words(label.number) else { return };
    [a, b, c].into_iter().zip(words).for_each(|(to, word)| to.store(word));
    // A process that was paused for long may have lost the room: members find no result, then.
    last.replace(
        room.last,
        Label { checksum: checksum(batches.secret, kind, &words), ..label }.to_word(),
    );
}

/// Gives room up, of which nothing came.
pub fn give_up<W: Bell>(room: &Reserved<'_, W>) {
    let [.., last] = room.words;
    last.replace(room.last, 0);
}

/// By what the members of a batch were decided on, if that was published. Each member asks until it has it.
pub(super) fn collect<'a, W: Bell, const R: usize>(
    batches: Batches<'a, W, R>,
    number: u32,
    kind: u64,
) -> Option<Basis> {
    batches.record.results.iter().find_map(|[a, b, c, last]| {
        let mut seen = last.load();
        if Label::from_word(seen).number != number {
            return None;
        }
        let words = [a, b, c].map(W::load);
        // The checksum rejects what is being written, and a mix of what two processes wrote at once.
        if (seen >> 64) as u64 != checksum(batches.secret, kind, &words) {
            return None;
        }
        let basis = Basis::from_words(words, number)?;
        loop {
            let label = Label::from_word(seen);
            if label.number != number || label.left == 0 {
                break;
            }
            let collected = Label { left: label.left - 1, ..label };
            if last.replace(seen, collected.to_word()) {
                break;
            }
            seen = last.load();
        }
        Some(basis)
    })
}

#[cfg(test)]
mod tests;
