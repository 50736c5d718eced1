//! By what the calls of a batch were decided on: the state before them, and the time.
//!
//! Each member applies the operation as often as its place in the batch says, and so gets the decision that it would have got
//! alone. A state that is too long is condensed to one that gives the same decisions.
//!
//! ```text
//! word 0     time | number of the batch
//! words 1-2  length and bytes of the state's record, or CONDENSED and a condensed window
//! ```

use super::record_words::{MAX_RECORD, from_bytes, to_bytes, with_length};
use crate::limit::{CondensedHits, MAX_NOW, MAX_SLIDING_HITS, StoredState};
use crate::store::record;

/// Stands before a condensed window.
const CONDENSED: u8 = 32;

/// By what calls were decided on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Basis {
    /// The state before them.
    pub state: BasisState,
    /// The clock that the store decides by, in nanoseconds.
    pub now: u64,
}

/// A state that fits a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BasisState {
    /// A state whose record is short enough.
    Whole(StoredState),
    /// A sliding window with more hits than that.
    Condensed(CondensedHits),
}

impl BasisState {
    /// A state, if it fits.
    pub fn whole(state: &StoredState) -> Option<Self> {
        let fits = match state {
            StoredState::Word(_) => true,
            StoredState::Hits(_) => record::encode(state).len() <= MAX_RECORD,
        };
        fits.then(|| Self::Whole(state.clone()))
    }

    /// The state to decide on.
    pub fn state(&self) -> StoredState {
        match self {
            Self::Whole(state) => state.clone(),
            Self::Condensed(hits) => hits.expand(),
        }
    }
}

impl Basis {
    /// The words of the result of this batch.
    pub(super) fn to_words(&self, number: u32) -> Option<[u128; 3]> {
        let bytes = match &self.state {
            BasisState::Whole(state) => {
                let record = record::encode(state);
                with_length(u8::try_from(record.len()).ok()?, record)?
            }
            BasisState::Condensed(CondensedHits { count, early, first, last }) => {
                let counts = u64::from(*count) << 32 | u64::from(*early);
                let all = [counts, *first, *last].into_iter().flat_map(u64::to_be_bytes);
                with_length(CONDENSED, all)?
            }
        };
        let [first, second] = from_bytes(bytes);
        Some([u128::from(self.now) << 64 | u128::from(number), first, second])
    }

    /// The result of this batch. None if the words are none.
    pub(super) fn from_words([head, first, second]: [u128; 3], number: u32) -> Option<Self> {
        if head as u64 != u64::from(number) {
            return None;
        }
        let [length, bytes @ ..] = to_bytes([first, second]);
        let state = match length {
            CONDENSED => {
                let number = |at: usize| {
                    let bytes = bytes.get(at..at + 8)?;
                    Some(bytes.iter().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte)))
                };
                let (counts, first, last) = (number(0)?, number(8)?, number(16)?);
                let (count, early) = ((counts >> 32) as u32, counts as u32);
                if count > MAX_SLIDING_HITS || early > count || first > last {
                    return None;
                }
                BasisState::Condensed(CondensedHits { count, early, first, last })
            }
            _ => {
                let bytes = bytes.get(..usize::from(length))?;
                BasisState::Whole(record::try_decode(bytes)?)
            }
        };
        let now = (head >> 64) as u64;
        // No clock tells a later time: it is garbage.
        (now <= MAX_NOW).then_some(Self { state, now })
    }
}

#[cfg(test)]
mod tests;
