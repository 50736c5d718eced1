//! What is taken for a hand-off.

use super::*;
use crate::limit::{Hits, SECOND, Span, State};
use crate::store::swap::hot_key::tests::{hot_key, record};
use portable_atomic::Ordering;

const NOW: u64 = 100 * SECOND;
const KEY: u64 = 1;
const CLOCK: Reading = Reading { time: 3, sent_at: 4, read_at: 5 };

fn filling() -> StoredState {
    State::Filling { full_at: Span { ns: NOW, part: 1 } }.into()
}

#[test]
fn next_process_has_what_was_handed_off_for_fifty_milliseconds() {
    let record = record();
    assert_eq!(handed_off(hot_key(&record, 0), 0), None, "nothing was");
    hand_off(hot_key(&record, KEY), &filling(), 9, CLOCK, NOW);
    let expected = Handoff { state: filling(), version: 9, clock: CLOCK };
    let at = |now| handed_off(hot_key(&record, KEY), now);
    assert_eq!(at(NOW), Some(expected.clone()));
    assert_eq!(at(NOW + LIFETIME - 1), Some(expected));
    assert_eq!(at(NOW + LIFETIME), None);
    assert_eq!(at(NOW - 1), None, "it is from the future");
    assert_eq!(handed_off(hot_key(&record, KEY + 1), NOW), None, "another key");
}

#[test]
fn mix_of_two_hand_offs_is_none() {
    for word in 0..6 {
        let record = record();
        hand_off(hot_key(&record, KEY), &filling(), 9, CLOCK, NOW);
        record.handoff[word].fetch_xor(1 << 64, Ordering::Relaxed);
        assert_eq!(handed_off(hot_key(&record, KEY), NOW), None, "word {word}");
    }
}

#[test]
fn state_that_has_no_room_leaves_no_hand_off() {
    let hits = |count| StoredState::Hits(Hits::new((1..=count).map(|i| NOW + i).collect()));
    let [most, too_many] = [3, 4].map(hits);
    assert!(
        record::encode(&most).len() <= MAX_RECORD && record::encode(&too_many).len() > MAX_RECORD
    );
    let record = record();
    hand_off(hot_key(&record, KEY), &most, 9, CLOCK, NOW);
    assert_eq!(handed_off(hot_key(&record, KEY), NOW).map(|it| it.state), Some(most));
    hand_off(hot_key(&record, KEY), &too_many, 10, CLOCK, NOW);
    assert_eq!(handed_off(hot_key(&record, KEY), NOW), None);
}
