//! What of a result is taken for a basis.

use super::*;
use crate::limit::{Span, State};

/// What is read of a basis, as the result of batch 3.
fn read_again(state: BasisState, now: u64) -> Option<Basis> {
    Basis::from_words(Basis { state, now }.to_words(3).unwrap(), 3)
}

#[test]
fn basis_is_read_as_it_was_written() {
    let hits =
        CondensedHits { count: MAX_SLIDING_HITS, early: MAX_SLIDING_HITS, first: 9, last: 9 };
    let filling = State::Filling { full_at: Span { ns: 7, part: 1 } };
    for state in [BasisState::Condensed(hits), BasisState::Whole(filling.into())] {
        for now in [0, MAX_NOW] {
            let basis = Basis { state: state.clone(), now };
            assert_eq!(read_again(state.clone(), now), Some(basis));
        }
        let words = Basis { state: state.clone(), now: 5 }.to_words(3).unwrap();
        assert_eq!(Basis::from_words(words, 4), None, "another batch");
        assert_eq!(read_again(state, MAX_NOW + 1), None, "no clock tells it");
    }
}

#[test]
fn condensed_window_that_none_writes_is_garbage() {
    let hits = CondensedHits { count: 4, early: 2, first: 8, last: 9 };
    let is_read = |hits| read_again(BasisState::Condensed(hits), 5).is_some();
    assert!(is_read(hits));
    assert!(!is_read(CondensedHits { count: MAX_SLIDING_HITS + 1, ..hits }));
    assert!(!is_read(CondensedHits { early: 5, ..hits }));
    assert!(!is_read(CondensedHits { first: 10, ..hits }));
}
