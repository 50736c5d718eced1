//! Sliding windows: each place of a window is a slot of the table.
//!
//! A window of L hits has L places, each a key of its own: the window's key and a number. A hit is taken by one compare-and-swap, in
//! the first place that is free. A call that takes several hits first looks whether there are enough, then takes one after the
//! other, and gives them back if another process was faster. A call that leaves some looks again when it has its hits. So there are
//! never more hits than the limit allows; while hits are given back, others may find fewer for a moment.
//!
//! All hits of a call are stored with one time. The clock is read when the call begins. If the process is suspended after that:
//!
//! | Meanwhile | Then |
//! |---|---|
//! | a place lost its slot: its last hit left, or was evicted | the clock is read again when a hit is taken there; if the call has other hits by then, it gives them back and begins again |
//! | another process took a hit that the call meets | the hit counts; but after more than a millisecond a call that has no hit begins again, at a later time |
//! | a hit was given back in a place that the call takes | the call's own time counts: its hit leaves too early by as long as the process was suspended |
//! | the process is killed | the hits that it took stay for one interval |
//!
//! A place is a bucket of one: a newcomer that inherits a tombstone finds it taken.
//!
//! A window of a smaller limit has fewer places: it does not see the hits in the others. Only a refund, a reset and a block do. A block
//! stands in the first place, which windows of all limits have ([`block`]).

mod block;
mod place;
mod window;

use super::table::{self, Look};
use crate::clock::boot_time;
use crate::limit::{Decision, Hits, Kept, MAX_SLIDING_HITS, Op, SECOND, StoredState, Verdict};
use crate::mapped::word::Word;
use place::{PlaceState, SeenPlaces};

pub use window::WindowInTable;

/// The most tries of a call.
const MAX_TRIES: u32 = 64;
/// The most tries of a call that another process keeps from taking its hits, or for which a set has no room.
const MAX_LOSSES: u32 = 8;
/// After this time a call may be tried again that other processes have kept from its hits.
const BUSY: u64 = SECOND / 1_000;

/// Applies an operation. None if other processes were faster at every try.
#[inline(always)]
pub fn decide<W: Word, R: Kept>(window: &WindowInTable<'_, W>, op: Op) -> Option<R> {
    if let Op::Take { cost: 1 } | Op::Check = op
        && let Some(answer) = take_one(window)
    {
        return Some(answer);
    }
    decide_on_any(window, op).map(R::of)
}

/// Takes one hit: the usual case, with one look at each place. None if nothing was decided and nothing
/// taken: the window is blocked, or has to be looked at again.
#[inline(always)]
fn take_one<W: Word, R: Kept>(window: &WindowInTable<'_, W>) -> Option<R> {
    let needs_hits = R::from_acceptance(false).is_none();
    let (began, interval) = (window.now.get(), window.limit.interval());
    let (mut hits, mut latest, mut taken, mut first) = (Vec::new(), 0, None, None);
    for (number, (set, tag)) in (0..window.limit.max_hits()).zip(window.places.iter()) {
        let now = window.now.get();
        let mut found = match table::look(&set.0, tag, now) {
            Look::Known(word, slot) => {
                if number == 0 {
                    first = Some((word, slot));
                }
                PlaceState::of(&window.limit.place(), slot.state(), now)
            }
            Look::Free | Look::Unclear => PlaceState::Free,
        };
        if taken.is_none() && matches!(found, PlaceState::Free) {
            let (before, is_taken) = window.change(number, Op::Take { cost: 1 });
            match is_taken {
                // A block that was set meanwhile counts.
                true if number > 0 && block::is_blocked_since(window, first) => {
                    window.free(number, window.now.get() + interval);
                    return None;
                }
                true if !needs_hits => return R::from_acceptance(true),
                true => taken = Some(number),
                false => found = before,
            }
        }
        match found {
            PlaceState::Taken(leaves_at) => {
                latest = latest.max(leaves_at);
                if needs_hits {
                    hits.push(leaves_at);
                }
            }
            PlaceState::Free if taken.is_some() => {}
            // Another process took this hit after `now`. It counts, and this call keeps its own.
            PlaceState::Later(leaves_at)
                if taken.is_some() && window.fits_clock(boot_time(), leaves_at) =>
            {
                hits.push(leaves_at);
            }
            _ => {
                if let Some(number) = taken {
                    window.free(number, now + interval);
                }
                return None;
            }
        }
    }
    let now = window.now.get();
    // A hit that was counted at the first reading of the clock may have left by the second.
    let is_unsure = now > began || latest + window.recent() > now + interval;
    if taken.is_none() && is_unsure {
        return None;
    }
    if !needs_hits {
        return R::from_acceptance(false);
    }
    let state = StoredState::Hits(Hits::new(hits));
    Some(R::of(window.limit.apply(&state, now, Op::Take { cost: 1 }).0))
}

#[cold]
#[inline(never)]
fn decide_on_any<W: Word>(window: &WindowInTable<'_, W>, op: Op) -> Option<Decision> {
    match op {
        Op::Block { duration } => return Some(block::block(window, duration)),
        Op::Reset => return Some(block::reset(window)),
        Op::Refund { cost, expiry } => return refund(window, cost, expiry),
        _ => {}
    }
    let mut losses = 0;
    for _ in 0..MAX_TRIES {
        let Some(seen) = look(window, op) else { continue };
        let (decision, _) = window.limit.apply(&seen.state, window.now.get(), op);
        let is_final = decision.is_accepted()
            || matches!(op, Op::Peek { .. })
            || losses > 0
            || !has_recent_hit(window, &seen);
        match decision.taken {
            0 if is_final => return Some(decision),
            0 => {}
            hits if take(window, &seen, hits, op) => {
                let (now, taken) = (window.now.get(), Op::Take { cost: hits });
                // One hit may have been taken later than was decided.
                return Some(match now == decision.now {
                    true => decision,
                    false => window.limit.apply(&seen.state, now, taken).0,
                });
            }
            _ => {}
        }
        losses += 1;
        // What is settled is taken in any case.
        if losses >= MAX_LOSSES && !matches!(op, Op::Settle { .. }) {
            return Some(busy(window, &seen));
        }
    }
    None
}

/// Looks at all places, for this operation. None if the process was suspended since `now`, which is a later
/// time after that.
fn look<W: Word>(window: &WindowInTable<'_, W>, op: Op) -> Option<SeenPlaces> {
    let (mut free, mut taken) = (Vec::new(), Vec::new());
    for (number, place) in (0..window.limit.max_hits()).zip(window.places.iter()) {
        match window.find(number, place, op) {
            PlaceState::Free => free.push(number),
            PlaceState::Taken(leaves_at) => taken.push((number, leaves_at)),
            PlaceState::Blocked(block) => {
                let (state, free, taken) = (block.into(), Vec::new(), Vec::new());
                let seen = SeenPlaces { state, free, taken };
                return (!block::is_set_later(window, block, op)).then_some(seen);
            }
            // Other numbers may have taken it, so an operation that settles a call brings no hit down.
            PlaceState::Later(leaves_at) if op.settles() => taken.push((number, leaves_at)),
            PlaceState::Later(leaves_at) => {
                let leaves_at = window.judge_later(number, leaves_at, window.clock(), op)?;
                taken.push((number, leaves_at));
            }
        }
    }
    if let Op::Refund { cost, expiry } = op {
        let is_meant = |at: &u64| expiry == Some(*at);
        let found = taken.iter().filter(|(_, leaves_at)| is_meant(leaves_at)).count() as u64;
        if expiry.is_none() || found < cost {
            taken.extend(hits_of_larger_limits(window));
        }
    }
    let hits = taken.iter().map(|(_, leaves_at)| *leaves_at).collect();
    Some(SeenPlaces { state: StoredState::Hits(Hits::new(hits)), free, taken })
}

/// Whether a hit was taken so recently that it may be given back.
fn has_recent_hit<W: Word>(window: &WindowInTable<'_, W>, seen: &SeenPlaces) -> bool {
    let latest = window.now.get() + window.limit.interval();
    seen.taken.iter().any(|(_, leaves_at)| leaves_at + window.recent() > latest)
}

/// Takes this many hits in places that are free. Returns false, and takes none, if other processes were
/// faster, or if not all of them can leave together: the call decides anew then, at a later time.
fn take<W: Word>(window: &WindowInTable<'_, W>, seen: &SeenPlaces, hits: u64, op: Op) -> bool {
    let began = window.now.get();
    let mut taken = Vec::new();
    for number in &seen.free {
        if taken.len() as u64 == hits {
            break;
        }
        match window.change(*number, Op::Take { cost: 1 }) {
            (_, true) => taken.push((*number, window.now.get() + window.limit.interval())),
            (PlaceState::Blocked(_), false) => break,
            _ => {}
        }
    }
    let taken_at = window.now.get();
    let leave_together = hits == 1 || taken_at == began;
    let is_done = taken.len() as u64 == hits
        && leave_together
        && !block::is_blocked_at(window, taken_at)
        && leaves_enough(window, op);
    // The look may have read the clock again.
    window.now.set(taken_at);
    if !is_done {
        for (number, leaves_at) in taken {
            window.free(number, leaves_at);
        }
    }
    is_done
}

/// Whether as many places are free as the operation leaves, now that it has its hits. Of several calls that left
/// enough when they looked, the one that takes its hits last sees those of all.
fn leaves_enough<W: Word>(window: &WindowInTable<'_, W>, op: Op) -> bool {
    let Op::TakeUpTo { leave: leave @ 1.., .. } = op else { return true };
    look(window, Op::Peek { cost: 1 }).is_some_and(|seen| seen.free.len() as u64 >= leave)
}

/// Gives hits back: those that leave at `expiry`, or without it the latest ones. None if other processes were
/// faster at every try.
fn refund<W: Word>(
    window: &WindowInTable<'_, W>,
    cost: u64,
    expiry: Option<u64>,
) -> Option<Decision> {
    let mut freed = 0;
    for _ in 0..MAX_TRIES {
        let Some(mut seen) = look(window, Op::Refund { cost, expiry }) else { continue };
        seen.taken.sort_by_key(|(_, leaves_at)| *leaves_at);
        let is_meant = |leaves_at| expiry.is_none_or(|expiry| leaves_at == expiry);
        let (mut has_lost, before) = (false, freed);
        for (number, leaves_at) in seen.taken.iter().rev().filter(|(_, at)| is_meant(*at)) {
            if freed == cost {
                break;
            }
            match window.free(*number, *leaves_at) {
                true => freed += 1,
                false => has_lost = true,
            }
        }
        if freed == cost || !has_lost {
            let op = Op::Refund { cost: freed - before, expiry };
            let (decision, _) = window.limit.apply(&seen.state, window.now.get(), op);
            let has_freed = freed > 0 && !decision.is_blocked();
            let verdict = if has_freed { Verdict::Accepted } else { decision.verdict };
            return Some(Decision { verdict, ..decision });
        }
        // A hit that was taken after `now` is not given back at `now`.
        window.now.set(window.clock());
    }
    None
}

/// The hits in the places that this limit does not use, and when they leave.
#[cold]
fn hits_of_larger_limits<W: Word>(
    window: &WindowInTable<'_, W>,
) -> impl Iterator<Item = (u32, u64)> {
    let unused = window.limit.max_hits()..MAX_SLIDING_HITS;
    unused.filter_map(|number| {
        let (set, tag) = window.places.get(number)?;
        // A newcomer's place is no hit, though a full table may deny it.
        let Look::Known(_, slot) = table::look(&set.0, tag, window.now.get()) else {
            return None;
        };
        match PlaceState::of(&window.limit.place(), slot.state(), window.now.get()) {
            PlaceState::Taken(leaves_at) => Some((number, leaves_at)),
            _ => None,
        }
    })
}

/// The denial of a call that other processes have kept from its hits.
fn busy<W: Word>(window: &WindowInTable<'_, W>, seen: &SeenPlaces) -> Decision {
    let now = window.now.get();
    let (decision, _) = window.limit.apply(&seen.state, now, Op::Peek { cost: 0 });
    Decision { verdict: Verdict::Denied, retry_at: now + BUSY, ..decision }
}

#[cfg(test)]
mod tests;
