//! Taking, renewing and giving back a permit in a set of slots.
//!
//! A permit has a key of its own, and so at most one slot ([`table`](super::table)). Each step is one
//! compare-and-swap of the whole word. The word names the holder, so no process changes the permit of
//! another. A slot in use is never evicted: a permit that finds no free slot cannot be taken.

use super::slot::{HeldSlot, Slot};
use super::table::{Change, find_committed, is_in_use, update};
use crate::limit::State;
use crate::mapped::word::Word;

/// Takes a permit, if it is free.
struct Take {
    now: u64,
    held: HeldSlot,
    taken: Option<Slot>,
}

impl Change for Take {
    const EVICTS: bool = false;

    #[inline(always)]
    fn apply(&mut self, slot: Slot) -> Option<Slot> {
        self.taken = match is_held(slot, self.now) {
            true => None,
            false => Some(Slot::held(slot.tag(), self.held)),
        };
        self.taken
    }

    fn inherited_state(&self, _: u64) -> State {
        State::FULL
    }

    fn takes(&self) -> bool {
        true
    }

    fn note_eviction(&mut self) {}

    fn note_full(&mut self) {
        self.taken = None;
    }
}

/// Whether a slot is a permit whose lifetime has not ended at `now`.
#[inline(always)]
pub fn is_held(slot: Slot, now: u64) -> bool {
    slot.as_held().is_some() && is_in_use(slot, now)
}

/// Takes the permit of `tag` in `set`, unless it is held or the set has no free slot. Returns the content of
/// its slot.
#[inline(always)]
pub fn take<W: Word>(set: &[W], tag: u64, now: u64, held: HeldSlot) -> Option<Slot> {
    update(set, tag, now, Take { now, held, taken: None }).taken
}

/// Frees the permit with this content. Returns whether it was there: not if its slot was freed or taken
/// by another holder meanwhile.
#[inline(always)]
pub fn free<W: Word>(set: &[W], permit: Slot) -> bool {
    replace(set, permit, Slot::free(permit.tag()))
}

/// Frees the permit with this content, also if it is renewed meanwhile.
pub fn reset<W: Word>(set: &[W], mut permit: Slot, now: u64) {
    while !free(set, permit) {
        let Some(renewed) = find(set, permit.tag(), now) else { return };
        permit = renewed;
    }
}

/// Lets the lifetime of the permit with this content end at `ends_at`. Returns the new content; none if the
/// lifetime has ended at `now`, or the permit is not there any more.
pub fn renew<W: Word>(set: &[W], permit: Slot, now: u64, ends_at: u64) -> Option<Slot> {
    let HeldSlot { holder, .. } = permit.as_held().filter(|_| is_in_use(permit, now))?;
    let renewed = Slot::held(permit.tag(), HeldSlot { ends_at, holder });
    replace(set, permit, renewed).then_some(renewed)
}

/// The permit of `tag`, if it is held at `now`.
pub fn find<W: Word>(set: &[W], tag: u64, now: u64) -> Option<Slot> {
    find_committed(set, tag).map(|(_, slot)| slot).filter(|slot| is_held(*slot, now))
}

/// Whether the set has a slot of this key.
pub fn has_slot<W: Word>(set: &[W], tag: u64) -> bool {
    find_committed(set, tag).is_some()
}

#[inline(always)]
fn replace<W: Word>(set: &[W], old: Slot, new: Slot) -> bool {
    set.iter().any(|word| word.load() == old.0 && word.replace(old.0, new.0))
}

#[cfg(test)]
mod tests;
