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
//! If all buckets of the set are in use, the one nearest to full goes, and the newcomer
//! takes its level over, as in the Space-Saving algorithm (Metwally, Agrawal, El Abbadi,
//! 2005): a bucket that was pushed out finds a level no higher than it had when it comes
//! back. So a flood of new keys cannot free a client from a bucket that denies him. What `check`
//! holds against a client counts as if he had to pay it off: he goes late, and leaves an empty bucket. The
//! price is paid by newcomers, and only in a set that is full: they start lower.
//!
//! **Limits of different lengths.** Where the level taken over belongs to a much longer limit, the
//! newcomer starts empty and waits for one token: he owes less than was pushed out before him, and
//! his slot is marked *lowered*. A newcomer therefore starts at the set's [`floor`]: what the one that
//! owes least of the others owes, or if all are lowered, what the one that owes most owes. Nobody
//! who was pushed out ever owed more than that:
//!
//! * Who goes owes least of all. So he owes no more than any that stays; and the newcomer begins no
//!   higher than the floor, or is lowered.
//! * If by that the last slot that was not lowered goes, its level was the floor, and all that stay
//!   owe as much; one of them owes most.
//! * Levels only fall. (A refund or reset raises one: that is up to the application.) A floor
//!   that has passed has been paid off by all, and bounds nobody any more.

use super::slot::Slot;
use super::word::Word;
use crate::limit::{MAX_REFILL, State};

/// The slots of a set: two cache lines.
pub const WAYS: usize = 8;

/// A change to a bucket.
///
/// A trait rather than a closure so that it can be inlined where a bucket is found.
pub trait Change {
    /// What the bucket's state becomes, or `None` if it stays. It may be asked several times;
    /// the last one counts.
    fn apply(&mut self, state: State) -> Option<State>;

    /// At what level a newcomer starts in the place of a bucket in use that is as good as
    /// new at `new_again_at`.
    fn take_over(&self, new_again_at: u64) -> State;

    /// Whether it takes something, if that is there: a newcomer is to be remembered.
    fn takes(&self) -> bool;

    /// A bucket in use had to go.
    fn pushed_out(&mut self);
}

/// Applies `change` to the bucket of `tag` in `set`, as one atomic step.
///
/// `tag` is a key's, above zero: zero is the tag of a slot that belongs to nobody.
#[inline(always)]
pub fn update<W: Word>(set: &[W], tag: u64, now: u64, change: &mut impl Change) {
    loop {
        if let Some((word, old)) = find_settled(set, tag) {
            let Some(state) = change.apply(old.state()) else { return };
            let new = Slot::settled(tag, state).lowered(old.is_lowered());
            if new == old || word.replace(old.0, new.0) {
                return;
            }
        } else if bring_in(set, tag, now, change) {
            return;
        }
    }
}

#[inline(always)]
fn find_settled<W: Word>(set: &[W], tag: u64) -> Option<(&W, Slot)> {
    set.iter()
        .map(|word| (word, Slot(word.load())))
        .find(|(_, slot)| slot.tag() == tag && !slot.is_claim())
}

/// One step towards a settled slot; whether the change is done.
#[cold]
#[inline(never)]
fn bring_in<W: Word>(set: &[W], tag: u64, now: u64, change: &mut impl Change) -> bool {
    if let Some(at) = set.iter().position(|word| is_claim_of(tag, Slot(word.load()))) {
        return settle(set, at, tag, change);
    }
    let Some((word, reused)) = first_to_go(set, now) else { return true };
    let floor = floor(set, now);
    let start = match floor > now {
        true => change.take_over(floor),
        false => State::FULL,
    };
    let lowered = start.new_again_at() < floor && floor > now;
    // Nothing to remember: a newcomer that is denied at the level he took over, a look,
    // something given to a full bucket. But one who starts empty has to get a place, where
    // time will fill his bucket.
    if change.apply(start).unwrap_or(start).new_again_at() <= start.new_again_at()
        && !(lowered && change.takes())
    {
        return true;
    }
    let claim = Slot::claim(tag, start.new_again_at().max(now)).lowered(lowered);
    if word.replace(reused.0, claim.0) && in_use(reused, now) {
        change.pushed_out();
    }
    false
}

/// Settles the claim in slot `at`, or withdraws what stands against a single bucket.
fn settle<W: Word>(set: &[W], at: usize, tag: u64, change: &mut impl Change) -> bool {
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
            other.replace(slot.0, slot.withdrawn().0);
        } else {
            word.replace(claim.0, claim.withdrawn().0);
        }
        return false;
    }
    let state = change.apply(claim.state()).unwrap_or_else(|| claim.state());
    word.replace(claim.0, Slot::settled(tag, state).lowered(claim.is_lowered()).0)
}

fn is_claim_of(tag: u64, slot: Slot) -> bool {
    slot.tag() == tag && slot.is_claim()
}

/// Whether there is something in the slot to lose. A bucket that would be full later than any
/// limit allows was left by a clock that has gone back, or is garbage.
fn in_use(slot: Slot, now: u64) -> bool {
    (now + 1..=now + 2 * MAX_REFILL).contains(&slot.new_again_at())
}

/// Until when a bucket has to pay off what it owes; now, if it owes nothing.
fn owes_until(slot: Slot, now: u64) -> u64 {
    if in_use(slot, now) { slot.owes_until() } else { now }
}

/// How low a newcomer has to start, so that he is not who was pushed out with a higher level than
/// he had.
fn floor<W: Word>(set: &[W], now: u64) -> u64 {
    let (mut least, mut most) = (u64::MAX, now);
    for slot in set.iter().map(|word| Slot(word.load())) {
        let owes_until = owes_until(slot, now);
        most = most.max(owes_until);
        if !slot.is_lowered() {
            least = least.min(owes_until);
        }
    }
    least.min(most)
}

/// The slot to be reused first.
fn first_to_go<W: Word>(set: &[W], now: u64) -> Option<(&W, Slot)> {
    set.iter()
        .map(|word| (word, Slot(word.load())))
        .min_by_key(|(_, slot)| (in_use(*slot, now), slot.owes_until()))
}

#[cfg(test)]
mod tests;
