//! Finding, claiming and reusing slots, lock-free.
//!
//! A key belongs to one set of slots and may be in any slot of it. A process that finds the key's
//! bucket there changes it by one compare-and-swap. The word holds the key's tag, so the swap fails
//! if the slot has changed hands in between.
//!
//! # Claim and commit
//!
//! Inserting a bucket is the hard part: two processes may insert the same key at once and must not
//! end up with two buckets for it. It takes two steps, after the scheme of Purcell and Harris
//! ("Non-blocking hashtables with open addressing", 2005):
//!
//! 1. **Claim.** Replace the slot that is reused by a claim, which carries the tag and the level at
//!    which the bucket starts.
//! 2. **Commit.** After reading the claim in place, look at all other slots of the set. If another
//!    slot has the key committed, withdraw the claim; of two claims withdraw the one in the later
//!    slot. A withdrawn claim leaves its level behind, as a tombstone. If no other slot has the key,
//!    replace the claim by the bucket.
//!
//! A process that meets a claim of its key commits it, whichever process made it. So no process waits for
//! another, and one that is killed at any instruction leaves at most a claim of a full bucket.
//!
//! **No key gets two committed slots.** Suppose slots *a* and *b* were both committed for one key:
//!
//! * To commit *a*, a process read claim *a*, and after that slot *b* without the key.
//! * To commit *b*, a process read claim *b*, and after that slot *a* without the key.
//!
//! All operations have a single order. In it claim *a* was written before *b* was read without the
//! key; that came before claim *b* was written; that before *a* was read without the key; and that
//! before claim *a* was written. Claim *a* would come before itself. And a claim that was withdrawn or
//! committed cannot be committed again, for its word is gone.
//!
//! So no claim may be the same word as an earlier one. A key may be claimed again in the same slot at the
//! same level while a process that read the first claim sleeps: a tombstone gives all newcomers one level.
//! The number in a claim tells the two apart (see [`claim_number`]). Two claims of one thread have the same
//! number only if it makes 2²⁴ claims in between, all during that sleep. Two claims of different threads have
//! the same number with odds of 1 in 2²⁴, and matter only if all of this happens while the process sleeps
//! between two instructions: the key is claimed, committed, reset and claimed again in that very slot, at
//! the same level, by a process whose view of the set is as old.
//!
//! `tests/slot_protocol.rs` has a model checker search for counter-examples.
//!
//! # Reuse and eviction
//!
//! The slot that expired first is reused, which loses nothing. If every bucket of the set is in use,
//! the one that owes least is **evicted**, and the newcomer starts at its level, as in the
//! Space-Saving algorithm (Metwally, Agrawal, El Abbadi, 2005).
//!
//! What evicted buckets owed stays in the set, in a slot without a key, the **tombstone**. It owes as
//! much as any bucket evicted since it was made, and for as long. While it is in use, every newcomer
//! starts at its level, even if a slot is free. So an evicted client that comes back finds no more
//! tokens than it had left, whatever happened to other keys: a reset or a refund of a newcomer
//! changes the newcomer's slot, never the tombstone. A flood of new keys cannot free a client that is
//! denied.
//!
//! Newcomers pay for that, in a set that is full or has just been: they start lower, and have one
//! slot less. A tombstone expires like any bucket, and by then all buckets that it stands for have
//! expired, too.
//!
//! Three things are not kept of an evicted bucket, since they lie below empty: the debt from `check`,
//! how far a reservation is ahead, and a block. Until the client would have been free of them, it finds
//! an empty bucket and waits for one token; a refund of such a reservation counts from empty. A block
//! owes more than any bucket that refills, so it is evicted after them.
//!
//! An eviction takes three steps, each of them a compare-and-swap that may fail and be repeated:
//!
//! 1. Turn the first evicted bucket into the tombstone, or raise the tombstone to what the next one
//!    owes.
//! 2. Claim the slot of that next one.
//! 3. Commit.
//!
//! After each step the set is at least as strict as before it.

use super::claim_number;
use super::slot::Slot;
use crate::limit::{MAX_REFILL, State};
use crate::mapped::set::WAYS;
use crate::mapped::word::Word;

/// A change to a key's slot.
///
/// A trait rather than a closure so that it can be inlined where a slot is found.
pub trait Change {
    /// Whether a newcomer in a set without a free slot evicts a slot in use. If not, nothing is changed
    /// then, and the set has no tombstones.
    const EVICTS: bool = true;

    /// The key's next slot, of the same tag, or `None` if it stays. It may be called several times; the
    /// last call counts.
    fn apply(&mut self, slot: Slot) -> Option<Slot>;

    /// The state of a newcomer that takes the place of an evicted state which expires at
    /// `expires_at`.
    fn inherited_state(&self, expires_at: u64) -> State;

    /// A time not earlier than the writing of any slot that was read so far; `now` is the time of the call.
    fn latest(&self, now: u64) -> u64 {
        now
    }

    /// Whether the change takes tokens if enough of them are there: then a newcomer must be
    /// remembered.
    fn takes(&self) -> bool;

    /// Notes that a slot in use was evicted.
    fn note_eviction(&mut self);

    /// Notes that a newcomer that takes was denied because of the evicted state whose place it takes.
    fn note_denied_newcomer(&mut self) {}

    /// Notes that the newcomer found no free slot, if it [evicts](Self::EVICTS) none.
    fn note_full(&mut self) {}
}

/// What one step of an insertion came to.
enum InsertStep {
    /// The change is applied, or there is nothing to remember.
    Done,
    /// The set has changed; the caller looks for the key again.
    Repeat,
}

/// A slot and its place in the set, as they were read.
type SeenSlot = (usize, Slot);

/// Applies `change` to the slot of `tag` in `set`, as one atomic step, and returns it.
///
/// `tag` is that of a key, above zero: zero is the tag of a slot without a key.
///
/// The usual case, a slot that no other process changes meanwhile, has a path of its own, in which the change stays in
/// registers (`make bench`, `consume()`).
#[inline(always)]
pub fn update<W: Word, C: Change>(set: &[W], tag: u64, now: u64, mut change: C) -> C {
    let found = find_committed(set, tag);
    if let Some((word, old)) = found
        && is_applied(word, old, &mut change)
    {
        return change;
    }
    update_in_steps(set, tag, now, change, found.is_some())
}

/// Does what is left of an [`update`]: inserts the slot, or finds it again until no other process is faster.
#[cold]
#[inline(never)]
fn update_in_steps<W: Word, C: Change>(
    set: &[W],
    tag: u64,
    now: u64,
    mut change: C,
    mut is_known: bool,
) -> C {
    loop {
        if !is_known && matches!(insert(set, tag, now, &mut change), InsertStep::Done) {
            return change;
        }
        let found = find_committed(set, tag);
        if let Some((word, old)) = found
            && is_applied(word, old, &mut change)
        {
            return change;
        }
        is_known = found.is_some();
    }
}

/// Applies a change to a slot that was read. False if another process has changed it since.
#[inline(always)]
fn is_applied<W: Word>(word: &W, old: Slot, change: &mut impl Change) -> bool {
    change.apply(old).is_none_or(|new| new == old || word.replace(old.0, new.0))
}

/// The committed slot of `tag`, as it was read.
#[inline(always)]
pub fn find_committed<W: Word>(set: &[W], tag: u64) -> Option<(&W, Slot)> {
    set.iter()
        .map(|word| (word, Slot(word.load())))
        .find(|(_, slot)| slot.tag() == tag && !slot.is_claim())
}

/// What a look at the bucket of a key shows.
pub enum Look<'a, W> {
    /// The key has a slot, in this word, with this content.
    Known(&'a W, Slot),
    /// The key has no slot. It is a full bucket, and finds room.
    Free,
    /// Only a change can say: the key has no slot, and the set is full, or was.
    Unclear,
}

/// Looks at the bucket of `tag`, and changes nothing.
#[inline(always)]
pub fn look<W: Word>(set: &[W], tag: u64, now: u64) -> Look<'_, W> {
    let (mut has_room, mut has_tombstone) = (false, false);
    for word in set {
        let slot = Slot(word.load());
        if slot.tag() == tag && !slot.is_claim() {
            return Look::Known(word, slot);
        }
        match is_in_use(slot, now) {
            false => has_room = true,
            true => has_tombstone |= slot.tag() == 0,
        }
    }
    if has_room && !has_tombstone { Look::Free } else { Look::Unclear }
}

/// What an insertion does next.
enum Plan {
    /// Commits the claim in this slot.
    Commit(usize),
    /// Evicts the bucket in this slot, which stays there as the tombstone.
    MakeTombstone(SeenSlot),
    /// Claims the slot `reused` for a newcomer in the state `start`, once the tombstone owes what it has to.
    Claim { reused: SeenSlot, evicts: bool, start: State, raised: Option<(SeenSlot, Slot)> },
    /// Nothing: another process has inserted the key meanwhile.
    LookAgain,
    /// Nothing: there is nothing to remember, or no room.
    End,
}

/// Takes one step towards a committed slot for `tag`.
fn insert<W: Word, C: Change>(set: &[W], tag: u64, now: u64, change: &mut C) -> InsertStep {
    // The plan is made on one snapshot. If a slot has changed since, the compare-and-swap fails.
    let seen = snapshot(set);
    match plan(seen.get(..set.len()).unwrap_or_default(), tag, now, change) {
        Plan::Commit(at) => return commit(set, at, tag, change),
        Plan::End => return InsertStep::Done,
        Plan::MakeTombstone(evicted) => make_tombstone(set, evicted, change),
        Plan::Claim { reused, evicts, start, raised } => {
            let is_strict = raised.is_none_or(|(old, new)| replace(set, old, new));
            let claim = Slot::claim(tag, start.expires_at().max(now), claim_number::next());
            if is_strict && replace(set, reused, claim) && evicts {
                change.note_eviction();
            }
        }
        Plan::LookAgain => {}
    }
    InsertStep::Repeat
}

/// What an insertion has to do in a set that looks like this.
fn plan<C: Change>(set: &[Slot], tag: u64, now: u64, change: &mut C) -> Plan {
    if let Some((at, slot)) = slots(set).find(|(_, slot)| slot.tag() == tag) {
        return if slot.is_claim() { Plan::Commit(at) } else { Plan::LookAgain };
    }
    let (tombstone, now) =
        if C::EVICTS { current_tombstone(set, now, change) } else { (None, now) };
    let Some(reused) = find_reusable(set, now, tombstone) else { return Plan::End };
    if !C::EVICTS && is_in_use(reused.1, now) {
        change.note_full();
        return Plan::End;
    }
    let owed = find_owed(tombstone, reused, now);
    let floor = owed.map(Slot::owes_until);
    let start = floor.map_or(State::FULL, |floor| change.inherited_state(floor));
    if !apply_to_newcomer(change, Slot::committed(tag, start), floor) {
        if floor.is_some() && change.takes() {
            change.note_denied_newcomer();
        }
        return Plan::End;
    }
    if tombstone.is_none() && owed.is_some() {
        return Plan::MakeTombstone(reused);
    }
    let raised = tombstone.zip(owed).filter(|((_, tombstone), owed)| tombstone != owed);
    Plan::Claim { reused, evicts: is_in_use(reused.1, now), start, raised }
}

/// The tombstone of the set, and the time by which it is in use.
///
/// A claim of a full bucket that was withdrawn a moment ago is a tombstone that expired when it was made. To a process that
/// has read the clock before that it looks like one in use, so such a process reads the clock again.
fn current_tombstone(set: &[Slot], now: u64, change: &impl Change) -> (Option<SeenSlot>, u64) {
    match find_tombstone(set, now) {
        None => (None, now),
        Some(_) => {
            let now = change.latest(now);
            (find_tombstone(set, now), now)
        }
    }
}

/// What the tombstone of the set has to owe once the slot `reused` is reused; none if the set needs
/// no tombstone.
fn find_owed(tombstone: Option<SeenSlot>, (_, reused): SeenSlot, now: u64) -> Option<Slot> {
    let is_in_use = is_in_use(reused, now);
    match tombstone {
        Some((_, tombstone)) if is_in_use && !owes_at_least(tombstone, reused) => {
            Some(tombstone.raised_to(reused))
        }
        Some((_, tombstone)) => Some(tombstone),
        None => is_in_use.then_some(reused),
    }
}

/// Applies the change to a newcomer that starts with the content `start`. Returns whether it needs a slot.
///
/// It needs none if the change leaves nothing to remember: it is denied, a peek, or a refund to a full
/// bucket; nor if it inherits a block, which stays in the set. It needs one if it is blocked by the change. A
/// newcomer whose level lies below empty does, too, once it takes tokens: time fills its bucket only in a slot.
fn apply_to_newcomer(change: &mut impl Change, start: Slot, floor: Option<u64>) -> bool {
    let after = change.apply(start).unwrap_or(start);
    let [starts_blocked, is_blocked] =
        [start, after].map(|slot| matches!(slot.state(), State::Blocked { .. }));
    let starts_empty = floor.is_some_and(|floor| start.expires_at() < floor);
    let has_more = after.expires_at() > start.expires_at();
    !starts_blocked && (is_blocked || has_more || starts_empty && change.takes())
}

/// Evicts the first bucket of a set: it stays as the tombstone, in its slot.
fn make_tombstone<W: Word>(set: &[W], evicted: SeenSlot, change: &mut impl Change) {
    if replace(set, evicted, evicted.1.as_tombstone()) {
        change.note_eviction();
    }
}

/// Replaces a slot, if it still is as it was read.
fn replace<W: Word>(set: &[W], (at, old): SeenSlot, new: Slot) -> bool {
    set.get(at).is_some_and(|word| word.replace(old.0, new.0))
}

/// Reads all slots, until no slot has changed its key meanwhile. Else a tombstone would be missed that
/// is made in a slot already read, while an earlier one disappears from a slot still to be read.
fn snapshot<W: Word>(set: &[W]) -> [Slot; WAYS] {
    let mut seen = [Slot::EMPTY; WAYS];
    loop {
        seen.iter_mut().zip(set).for_each(|(slot, word)| *slot = Slot(word.load()));
        if seen.iter().zip(set).all(|(slot, word)| slot.tag() == Slot(word.load()).tag()) {
            return seen;
        }
    }
}

/// Commits the claim in slot `at`, or withdraws one of two that stand against each other.
fn commit<W: Word>(set: &[W], at: usize, tag: u64, change: &mut impl Change) -> InsertStep {
    let Some(word) = set.get(at) else { return InsertStep::Repeat };
    let claim = Slot(word.load());
    if !is_claim_of(tag, claim) {
        return InsertStep::Repeat;
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
        return InsertStep::Repeat;
    }
    let after = change.apply(claim).unwrap_or_else(|| Slot::committed(tag, claim.state()));
    match word.replace(claim.0, after.0) {
        true => InsertStep::Done,
        false => InsertStep::Repeat,
    }
}

fn is_claim_of(tag: u64, slot: Slot) -> bool {
    slot.tag() == tag && slot.is_claim()
}

/// Whether reusing the slot would lose something: its state is not expired. A state that expires
/// later than any limit allows comes from a clock that went back, or is garbage.
pub fn is_in_use(slot: Slot, now: u64) -> bool {
    (now + 1..=now + 2 * MAX_REFILL).contains(&slot.expires_at())
}

/// Whether `slot` owes as much as `other`, and for as long.
fn owes_at_least(slot: Slot, other: Slot) -> bool {
    slot.owes_until() >= other.owes_until() && slot.expires_at() >= other.expires_at()
}

/// The tombstone that owes most, if the set has one in use.
fn find_tombstone(set: &[Slot], now: u64) -> Option<SeenSlot> {
    slots(set)
        .filter(|(_, slot)| slot.tag() == 0 && is_in_use(*slot, now))
        .max_by_key(|(_, slot)| slot.owes_until())
}

/// The slot to reuse: one that is expired, or else the one that owes least; never the tombstone.
fn find_reusable(set: &[Slot], now: u64, tombstone: Option<SeenSlot>) -> Option<SeenSlot> {
    slots(set)
        .filter(|(at, _)| tombstone.is_none_or(|(stays, _)| *at != stays))
        .min_by_key(|(_, slot)| (is_in_use(*slot, now), slot.owes_until()))
}

fn slots(set: &[Slot]) -> impl Iterator<Item = SeenSlot> {
    set.iter().copied().enumerate()
}

#[cfg(test)]
mod tests;
