//! Finding, claiming and reusing slots, lock-free.
//!
//! A key belongs to one set of slots and may sit in any slot of it. Whoever finds its
//! bucket there changes it by one compare-and-swap: the word holds the key's tag, so a
//! slot that has changed hands in between is noticed.
//!
//! Bringing in a bucket that is not there is the hard part: two processes may do it at
//! once and must not end up with two buckets for one key. It takes two steps, after the
//! scheme of Purcell and Harris ("Non-blocking hashtables with open addressing", 2005):
//!
//! 1. **Claim**: replace the slot that is reused by a claim, which carries the tag and
//!    the level the bucket starts from.
//! 2. **Settle**: having seen the claim in place, look at all other slots of the set. If
//!    one holds the key settled, the claim is withdrawn; of two claims the one in the
//!    later slot is. The level it had taken over stays behind. If nothing else holds the
//!    key, replace the claim by the bucket.
//!
//! No two slots get settled for one key: to settle *a*, a process saw claim *a*, then
//! slot *b* without the key; to settle *b*, one saw claim *b*, then slot *a* without the
//! key. In the single order of all operations claim *a* came before the look at *b*,
//! which came before claim *b*, which came before the look at *a*, which came before
//! claim *a*: a circle. And a claim that was withdrawn cannot be settled, for its word
//! is gone; the same word comes back only if the key is claimed anew in the same slot at
//! the same level. `tests/slot_protocol.rs` lets a model checker try.
//!
//! Anyone who meets a claim settles it, so nobody waits for the one who made it, and a
//! process killed at any instruction leaves nothing behind but a full bucket's claim.
//!
//! **Reuse.** The slot that is as good as new for the longest goes, which loses nothing.
//! If all buckets of the set are in use, the one that owes least is evicted, and the newcomer
//! starts at its level, as in the Space-Saving algorithm (Metwally, Agrawal, El Abbadi, 2005).
//!
//! What the evicted owed stays in the set, in a slot without a key, the *tombstone*: it owes as much as
//! any bucket that was evicted since, and for as long. As long as it is in use, every newcomer
//! starts at its level, also where a slot is free. So an evicted client that comes back finds a
//! level no higher than it had, whatever happened to other keys in between: a newcomer that is
//! reset or gets tokens back changes its own slot, never the tombstone. A flood of new keys
//! cannot free a client from a bucket that denies it. The price is paid by newcomers, and only in a set
//! that is full or has just been: they start lower, and a slot fewer is left to them. A tombstone
//! lapses like any bucket, and by then all buckets that it stands for are as good as new.
//!
//! Two things are not kept of an evicted bucket, because they lie below empty: what `check` holds
//! against the client, and how far a reservation reached ahead. Until the client would have been
//! free of them it finds an empty bucket, and waits for one token; a reservation that is given
//! back then counts from empty.
//!
//! To evict takes three steps, each a compare-and-swap that may fail and be begun again: make the
//! tombstone of the first bucket that is evicted, or raise it to what the next one owes; claim that
//! one's slot; settle. After each of them the set is as strict as after the last.

use super::set::WAYS;
use super::slot::Slot;
use super::word::Word;
use crate::limit::{MAX_REFILL, State};

/// A change to a bucket.
///
/// A trait rather than a closure so that it can be inlined where a bucket is found.
pub trait Change {
    /// What the bucket's state becomes, or `None` if it stays. It may be asked several times;
    /// the last one counts.
    fn apply(&mut self, state: State) -> Option<State>;

    /// At what level a newcomer starts where an evicted bucket is full, or as good as new, at
    /// `expires_at`.
    fn inherited_state(&self, expires_at: u64) -> State;

    /// Whether it takes something, if that is there: a newcomer is to be remembered.
    fn takes(&self) -> bool;

    /// A bucket in use had to go.
    fn note_eviction(&mut self);
}

/// Applies `change` to the bucket of `tag` in `set`, as one atomic step.
///
/// `tag` is a key's, above zero: zero is the tag of a slot without a key.
#[inline(always)]
pub fn update<W: Word>(set: &[W], tag: u64, now: u64, change: &mut impl Change) {
    loop {
        if let Some((word, old)) = find_committed(set, tag) {
            let Some(state) = change.apply(old.state()) else { return };
            let new = Slot::committed(tag, state);
            if new == old || word.replace(old.0, new.0) {
                return;
            }
        } else if insert(set, tag, now, change) {
            return;
        }
    }
}

#[inline(always)]
fn find_committed<W: Word>(set: &[W], tag: u64) -> Option<(&W, Slot)> {
    set.iter()
        .map(|word| (word, Slot(word.load())))
        .find(|(_, slot)| slot.tag() == tag && !slot.is_claim())
}

/// One step towards a settled slot; whether the change is done.
#[cold]
#[inline(never)]
fn insert<W: Word>(set: &[W], tag: u64, now: u64, change: &mut impl Change) -> bool {
    // Looked at once: an eviction after that takes the slot that is chosen here first, which the
    // compare-and-swap below notices.
    let seen = snapshot(set);
    let seen = seen.get(..set.len()).unwrap_or_default();
    if let Some((at, slot)) = slots(seen).find(|(_, slot)| slot.tag() == tag) {
        // Another process has brought the bucket in meanwhile, or is about to.
        return slot.is_claim() && commit(set, at, tag, change);
    }
    let tombstone = tombstone(seen, now);
    let Some((at, reused)) = find_reusable(seen, now, tombstone) else { return true };
    let Some(word) = set.get(at) else { return true };
    let in_use = in_use(reused, now);
    let owed = match tombstone {
        Some((_, tombstone)) if in_use && !owes_at_least(tombstone, reused) => {
            Some(tombstone.raised_to(reused))
        }
        Some((_, tombstone)) => Some(tombstone),
        None => in_use.then_some(reused),
    };
    let floor = owed.map(Slot::owes_until);
    let start = floor.map_or(State::FULL, |floor| change.inherited_state(floor));
    // Nothing to remember: a newcomer that is denied at the level it starts at, a look,
    // something given to a full bucket. But one that starts empty has to get a place, where
    // time will fill its bucket.
    let starts_empty = floor.is_some_and(|floor| start.expires_at() < floor);
    if change.apply(start).unwrap_or(start).expires_at() <= start.expires_at()
        && !(starts_empty && change.takes())
    {
        return true;
    }
    let is_kept = match (tombstone, owed) {
        (None, Some(owed)) => {
            if word.replace(reused.0, owed.as_tombstone().0) {
                change.note_eviction();
            }
            false
        }
        (Some((at, tombstone)), Some(owed)) if tombstone != owed => {
            set.get(at).is_some_and(|place| place.replace(tombstone.0, owed.0))
        }
        _ => true,
    };
    if !is_kept {
        return false;
    }
    let claim = Slot::claim(tag, start.expires_at().max(now));
    if word.replace(reused.0, claim.0) && in_use {
        change.note_eviction();
    }
    false
}

/// All slots, read until no key has changed its slot meanwhile: else a tombstone that is made in a
/// slot already read, in the place of one in a slot still to be read, would be missed.
fn snapshot<W: Word>(set: &[W]) -> [Slot; WAYS] {
    let mut seen = [Slot::EMPTY; WAYS];
    loop {
        seen.iter_mut().zip(set).for_each(|(slot, word)| *slot = Slot(word.load()));
        if seen.iter().zip(set).all(|(slot, word)| slot.tag() == Slot(word.load()).tag()) {
            return seen;
        }
    }
}

/// Settles the claim in slot `at`, or withdraws what stands against a single bucket.
fn commit<W: Word>(set: &[W], at: usize, tag: u64, change: &mut impl Change) -> bool {
    let Some(word) = set.get(at) else { return false };
    let claim = Slot(word.load());
    if !is_claim_of(tag, claim) {
        return false;
    }
    for (i, other) in set.iter().enumerate().filter(|(i, _)| *i != at) {
        let slot = Slot(other.load());
        if slot.tag() != tag {
            continue;
        }
        if slot.is_claim() && i > at {
            other.replace(slot.0, slot.as_tombstone().0);
        } else {
            word.replace(claim.0, claim.as_tombstone().0);
        }
        return false;
    }
    let state = change.apply(claim.state()).unwrap_or_else(|| claim.state());
    word.replace(claim.0, Slot::committed(tag, state).0)
}

fn is_claim_of(tag: u64, slot: Slot) -> bool {
    slot.tag() == tag && slot.is_claim()
}

/// Whether there is something in the slot to lose. A bucket that would be full later than any
/// limit allows was left by a clock that has gone back, or is garbage.
fn in_use(slot: Slot, now: u64) -> bool {
    (now + 1..=now + 2 * MAX_REFILL).contains(&slot.expires_at())
}

/// Whether one owes as much as another, and for as long.
fn owes_at_least(slot: Slot, other: Slot) -> bool {
    slot.owes_until() >= other.owes_until() && slot.expires_at() >= other.expires_at()
}

/// The tombstone that owes most, if there is one.
fn tombstone(set: &[Slot], now: u64) -> Option<(usize, Slot)> {
    slots(set)
        .filter(|(_, slot)| slot.tag() == 0 && in_use(*slot, now))
        .max_by_key(|(_, slot)| slot.owes_until())
}

/// The slot to be reused first; not the tombstone.
fn find_reusable(
    set: &[Slot],
    now: u64,
    tombstone: Option<(usize, Slot)>,
) -> Option<(usize, Slot)> {
    slots(set)
        .filter(|(at, _)| tombstone.is_none_or(|(stays, _)| *at != stays))
        .min_by_key(|(_, slot)| (in_use(*slot, now), slot.owes_until()))
}

fn slots(set: &[Slot]) -> impl Iterator<Item = (usize, Slot)> {
    set.iter().copied().enumerate()
}

#[cfg(test)]
mod tests;
