//! Slots of the table: claims, states and tombstones.

use super::*;
use crate::limit::{MAX_HITS, MAX_NOW, MAX_REFILL};
use proptest::prelude::*;

const LATEST: u64 = MAX_NOW + 2 * MAX_REFILL;

fn encode_and_decode(state: State) -> State {
    let slot = Slot::committed((1 << TAG_BITS) - 1, state);
    assert_eq!(slot.tag(), (1 << TAG_BITS) - 1);
    assert!(!slot.is_claim());
    assert_eq!(slot.expires_at(), slot.state().expires_at());
    assert_eq!(slot.as_held(), None, "a bucket is no permit");
    let is_filling = matches!(state, State::Filling { .. });
    assert_eq!(slot.as_filling(), is_filling.then(|| slot.state()));
    slot.state()
}

#[test]
fn raised_tombstone_owes_no_less_than_either_slot() {
    let filling = |ns| Slot::committed(7, State::Filling { full_at: Span { ns, part: 1 } });
    let overdrawn = |forgiven_at, debt| Slot::committed(9, State::Overdrawn { forgiven_at, debt });
    let blocked = |until| Slot::committed(5, State::blocked(until, 0));
    let slots = [
        filling(1),
        filling(10_001),
        overdrawn(5_000, 1_000),
        overdrawn(1_000, 90_000),
        blocked(3_001),
        blocked(20_000),
    ];
    for (a, b) in slots.iter().flat_map(|a| slots.map(|b| (*a, b))) {
        let both = a.raised_to(b);
        assert_eq!(both.tag(), 0);
        let at_least = |f: fn(Slot) -> u64| f(both) >= f(a) && f(both) >= f(b);
        assert!(at_least(Slot::expires_at) && at_least(Slot::owes_until), "{a:?} {b:?}");
    }
}

#[test]
fn raised_tombstone_expires_with_the_later_slot_if_none_has_a_debt() {
    let filling = |ns| Slot::committed(7, State::Filling { full_at: Span::from_ns(ns) });
    assert_eq!(filling(1).raised_to(filling(10_001)), filling(10_001).as_tombstone());
}

#[test]
fn time_with_the_smallest_fraction_expires_a_nanosecond_later() {
    // The fraction of a bucket that fills is longer than that of the other forms.
    for part in [1, 1 << FRACTION_BITS] {
        encode_and_decode(State::Filling { full_at: Span { ns: 5, part } });
    }
}

#[test]
fn word_of_zeros_is_a_full_bucket() {
    assert_eq!(Slot::EMPTY.state(), State::FULL);
    assert_eq!(Slot::EMPTY.expires_at(), 0);
    assert!(!Slot::EMPTY.is_claim());
    assert_eq!(Slot::committed(0, State::FULL), Slot::EMPTY);
}

proptest! {
    #[test]
    fn state_that_is_not_overdrawn_is_kept_exactly(
        time in 0..LATEST, n in 0u32..1 << 24, ahead in 0..=MOST_REFILLS, part in 0u64..1 << 30,
    ) {
        for state in [
            State::Filling { full_at: Span { ns: time, part } },
            State::Reserved { full_at: time, fraction: n >> 2, ahead },
            State::Window { ends_at: time, hits: n.min(MAX_HITS) },
            State::Blocked { until: time, asked: n >> 11, number: (n % 1_000) as u16 },
            State::blocked(time + MAX_REFILL / 9, time),
            State::blocked(time + part, time),
        ] {
            prop_assert_eq!(encode_and_decode(state), state);
        }
    }

    #[test]
    fn claim_is_recognised(tag in 0u64..1 << TAG_BITS, time in 0..LATEST, number: u32) {
        let claim = Slot::claim(tag, time, number);
        prop_assert_ne!(claim, Slot::claim(tag, time, number.wrapping_add(1)));
        prop_assert_eq!(claim, Slot::claim(tag, time, number & ((1 << CLAIM_NUMBER_BITS) - 1)));
        prop_assert!(claim.is_claim());
        prop_assert_eq!((claim.tag(), claim.expires_at()), (tag, time));
        prop_assert_eq!(claim.state(), State::Filling { full_at: Span::from_ns(time) });
        prop_assert_eq!(claim.as_held(), None);
    }

    #[test]
    fn permit_is_kept_exactly(
        tag in 1u64..1 << TAG_BITS, ends_at in 1..LATEST, holder in 1u32..1 << HOLDER_BITS,
    ) {
        let held = HeldSlot { ends_at, holder };
        let slot = Slot::held(tag, held);
        prop_assert_eq!(slot.as_held(), Some(held));
        prop_assert_eq!((slot.tag(), slot.expires_at(), slot.is_claim()), (tag, ends_at, false));
        prop_assert_eq!(slot.as_filling(), None);
        let free = Slot::free(tag);
        prop_assert_eq!((free.tag(), free.expires_at(), free.as_held()), (tag, 0, None));
        prop_assert_eq!(free, Slot::committed(tag, State::FULL));
    }

    #[test]
    fn debt_is_never_rounded_down(forgiven in 0..LATEST / GRAIN, debt in prop_oneof![
        0..1u64 << 38, 0..MAX_REFILL / GRAIN,
    ]) {
        let (forgiven_at, debt) = (forgiven * GRAIN, debt * GRAIN);
        let State::Overdrawn { forgiven_at: time, debt: more } =
            encode_and_decode(State::Overdrawn { forgiven_at, debt }) else { panic!() };
        prop_assert_eq!(time, forgiven_at);
        prop_assert!(more >= debt && more - debt <= debt >> 31);
        if debt < GRAIN << 38 { prop_assert_eq!(more, debt); }
    }

    #[test]
    fn any_word_can_be_decoded(word: u128) {
        let slot = Slot(word);
        let _ = (slot.tag(), slot.is_claim(), slot.expires_at(), slot.state());
        prop_assert!(slot.as_held().is_none_or(|held| held.ends_at == slot.expires_at()));
    }
}
