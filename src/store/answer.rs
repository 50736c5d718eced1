//! What a store answers.

use crate::limit::Decision;

/// What a store answers to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer<R = Decision> {
    /// The decision, or what the caller keeps of it.
    pub decision: R,
    /// Whether the store had too little room: it evicted another bucket in use, or denied a newcomer.
    pub lacked_room: bool,
}

impl<R> From<R> for Answer<R> {
    /// The answer of a store that had room.
    #[inline(always)]
    fn from(decision: R) -> Self {
        Self { decision, lacked_room: false }
    }
}
