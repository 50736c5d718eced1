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
//!    later slot is. If nothing else holds the key, replace the claim by the bucket.
//!
//! No two slots get settled for one key: to settle *a*, a process saw claim *a*, then
//! slot *b* without the key; to settle *b*, one saw claim *b*, then slot *a* without the
//! key. In the single order of all operations claim *a* came before the look at *b*,
//! which came before claim *b*, which came before the look at *a*, which came before
//! claim *a*: a circle. And a claim that was withdrawn cannot be settled, for its word
//! is gone. `tests/slot_protocol.rs` lets a model checker try.
//!
//! Anyone who meets a claim settles it, so nobody waits for the one who made it, and a
//! process killed at any instruction leaves nothing behind but a full bucket's claim.
//!
//! **Reuse.** The slot that is as good as new for the longest goes, which loses nothing.
//! If all buckets of the set are in use, the one nearest to full goes, and the newcomer
//! takes its level over, as in the Space-Saving algorithm (Metwally, Agrawal, El Abbadi,
//! 2005): a bucket that is pushed out and comes back finds a level no higher than it had.
//! So no flood of new keys can empty a set of what it knows, nor free a client from a
//! bucket that denies him; it can only make newcomers of that set start lower.

use super::slot::Slot;
use super::word::Word;
use crate::limit::State;

/// The slots of a set: two cache lines.
pub const WAYS: usize = 8;

/// What [`update`] did, besides its result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pushed {
    /// Buckets in use that had to go.
    pub out: u32,
}

/// Applies `change` to the bucket of `tag` in `set`, as one atomic step.
///
/// `tag` is a key's, above zero: zero is the tag of a slot that belongs to nobody.
///
/// `change` gets the bucket's state, tells a result and the state that is to be
/// remembered; it may be called several times, and only the last call counts. `inherit`
/// tells at what level a newcomer starts in the place of a bucket in use that is as good
/// as new at the time given.
#[inline]
pub fn update<W: Word, R>(
    set: &[W],
    tag: u64,
    now: u64,
    pushed: &mut Pushed,
    inherit: impl Fn(u64) -> State,
    mut change: impl FnMut(State) -> (R, State),
) -> R {
    loop {
        let Some((word, old)) = find_settled(set, tag) else {
            match bring_in(set, tag, now, pushed, &inherit, &mut change) {
                Some(result) => return result,
                None => continue,
            }
        };
        let (result, state) = change(old.state());
        let new = Slot::settled(tag, state);
        if new == old || word.replace(old.0, new.0) {
            return result;
        }
    }
}

#[inline]
fn find_settled<W: Word>(set: &[W], tag: u64) -> Option<(&W, Slot)> {
    set.iter()
        .map(|word| (word, Slot(word.load())))
        .find(|(_, slot)| slot.tag() == tag && !slot.is_claim())
}

/// One step towards a settled slot; the result, once there is one.
#[cold]
#[inline(never)]
fn bring_in<W: Word, R>(
    set: &[W],
    tag: u64,
    now: u64,
    pushed: &mut Pushed,
    inherit: &impl Fn(u64) -> State,
    change: &mut impl FnMut(State) -> (R, State),
) -> Option<R> {
    let claimed = set.iter().position(|word| is_claim_of(tag, Slot(word.load())));
    if let Some(at) = claimed {
        return settle(set, at, tag, change);
    }
    let (word, reused) = nearest_to_full(set)?;
    let in_use = reused.new_again_at() > now;
    let start = if in_use { inherit(reused.new_again_at()) } else { State::FULL };
    let (result, state) = change(start);
    if state.new_again_at() <= start.new_again_at() {
        // Nothing to remember: a denied newcomer, a look, something given to a full bucket.
        return Some(result);
    }
    let claim = Slot::claim(tag, start.new_again_at().max(now));
    if word.replace(reused.0, claim.0) && in_use {
        pushed.out += 1;
    }
    None
}

/// Settles the claim in slot `at`, or withdraws what stands against a single bucket.
fn settle<W: Word, R>(
    set: &[W],
    at: usize,
    tag: u64,
    change: &mut impl FnMut(State) -> (R, State),
) -> Option<R> {
    let word = set.get(at)?;
    let claim = Slot(word.load());
    if !is_claim_of(tag, claim) {
        return None;
    }
    for (i, other) in set.iter().enumerate().filter(|(i, _)| *i != at) {
        let slot = Slot(other.load());
        if slot.tag() != tag {
            continue;
        }
        if slot.is_claim() && i > at {
            other.replace(slot.0, Slot::EMPTY.0);
        } else {
            word.replace(claim.0, Slot::EMPTY.0);
        }
        return None;
    }
    let (result, state) = change(claim.state());
    word.replace(claim.0, Slot::settled(tag, state).0).then_some(result)
}

fn is_claim_of(tag: u64, slot: Slot) -> bool {
    slot.tag() == tag && slot.is_claim()
}

/// The slot that is, or will be first, as good as new.
fn nearest_to_full<W: Word>(set: &[W]) -> Option<(&W, Slot)> {
    set.iter().map(|word| (word, Slot(word.load()))).min_by_key(|(_, slot)| slot.new_again_at())
}
