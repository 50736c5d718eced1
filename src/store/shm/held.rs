//! Taking, renewing and giving back a permit in a set of slots.
//!
//! A permit has a key of its own, and so at most one slot ([`table`](super::table)). Each step is one
//! compare-and-swap of the whole word. The word names the holder, so no process changes the permit of
//! another. A slot in use is never evicted: a permit that finds no free slot cannot be taken.

use super::slot::{HeldSlot, Slot};
use super::table::{Change, find_committed, is_in_use, update};
use crate::limit::State;
use crate::mapped::word::Word;

/// The end of the lifetime of a permit that is announced: it has passed, so the permit is free for all others.
const ANNOUNCED: u64 = 1;

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

/// Takes one of the first `max` permits at `places`, if no more than `most` of them are held then: the rest is left to calls that leave
/// none. Returns which, and the content of its slot.
///
/// A call announces its permit, counts the others, and confirms its own. A call that leaves none takes an announced permit as if it were
/// free, so an announcement denies nothing. Of two calls that announce, the later one to count finds the other's permit confirmed, and
/// counts it, or revokes its announcement: so both together never take too many. They may revoke each other's announcements, and both
/// be denied. Tried instead: to take, to count and to give back, which for a moment denied calls that leave none.
pub fn take_leaving<'a, W: Word + 'a>(
    places: &impl Fn(u32) -> Option<(&'a [W], u64)>,
    max: u32,
    most: u32,
    now: u64,
    held: HeldSlot,
) -> Option<(u32, Slot)> {
    let others = |but: Option<u32>| (0..max).filter(move |n| Some(*n) != but).filter_map(places);
    if others(None).filter(|(set, tag)| find(set, *tag, now).is_some()).count() >= most as usize {
        return None;
    }
    let (n, (set, tag), announced) = (0..most).find_map(|n| {
        let (set, tag) = places(n)?;
        let announcement = HeldSlot { ends_at: ANNOUNCED, ..held };
        take(set, tag, now, announcement).map(|slot| (n, (set, tag), slot))
    })?;
    let held_by_others = others(Some(n)).filter(|(set, tag)| is_held_or_revoked(set, *tag, now));
    if held_by_others.count() >= most as usize {
        free(set, announced);
        return None;
    }
    let confirmed = Slot::held(tag, held);
    replace(set, announced, confirmed).then_some((n, confirmed))
}

/// Whether the permit of `tag` is held. One that is announced is revoked.
fn is_held_or_revoked<W: Word>(set: &[W], tag: u64, now: u64) -> bool {
    loop {
        let Some((_, slot)) = find_committed(set, tag) else { return false };
        if is_held(slot, now) {
            return true;
        }
        let is_announced = slot.as_held().is_some_and(|held| held.ends_at == ANNOUNCED);
        if !is_announced || free(set, slot) {
            return false;
        }
    }
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
