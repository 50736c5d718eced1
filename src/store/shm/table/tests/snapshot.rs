//! What is read of a set that others change.

use super::*;
use portable_atomic::Ordering;

/// Slots that change while they are read: once slot 1 is read, the tombstone there has been merged into one in slot 0.
struct Changing<'a>(&'a [AtomicU128; 2], usize);

impl Word for Changing<'_> {
    fn load(&self) -> u128 {
        let Self(words, at) = self;
        if *at == 1 {
            let tombstone = words[1].load(Ordering::SeqCst);
            if Slot(tombstone).tag() == 0 {
                words[0].store(tombstone, Ordering::SeqCst);
                words[1].store(Slot::committed(9, State::FULL).0, Ordering::SeqCst);
            }
        }
        words[*at].load(Ordering::SeqCst)
    }

    fn replace(&self, _: u128, _: u128) -> bool {
        unreachable!("a snapshot only reads")
    }

    fn store(&self, _: u128) {
        unreachable!("a snapshot only reads")
    }
}

#[test]
fn snapshot_misses_no_tombstone_that_changes_its_slot() {
    let full_at = Span::from_ns(T0 + SECOND);
    let evicted = Slot::committed(7, State::Filling { full_at });
    let words =
        [Slot::committed(8, State::FULL), evicted.as_tombstone()].map(|it| AtomicU128::new(it.0));
    let seen = snapshot(&[Changing(&words, 0), Changing(&words, 1)]);
    assert!(find_tombstone(&seen, T0).is_some(), "{seen:?}");
}
