//! Sliding windows: each place of a window is a slot of the table.
//!
//! A window of L hits has L places, each a key of its own: the window's key and a number. A hit is taken by one compare-and-swap, in
//! the first place that is free. A call that takes several hits first looks whether there are enough, then takes one after the
//! other, and gives them back if another process was faster. A call that leaves some looks again when it has its hits. So there are
//! never more hits than the limit allows; while hits are given back, others may find fewer for a moment.
//!
//! All hits of a call are stored with one time. The clock is read when the call begins, and again when a hit is taken in a place
//! without a slot: its last hit may have left, or been evicted, since then. If the call has other hits by then, it gives them back
//! and begins again. So does a call without a hit that meets one taken since its time, if its process was suspended for more than a
//! millisecond; otherwise that hit counts. A call that takes a place which was given back since its time stores its hit by its own
//! time all the same: the hit leaves too early by as long as the process was suspended. A process that is killed in between leaves
//! the hits that it took, for one interval.
//!
//! A place is a bucket of one: a newcomer that inherits a tombstone finds it taken.
//!
//! A block stands in all places, so it does not matter which of them a call looks at first, and which of them is evicted. A window
//! of a smaller limit has fewer places: it does not see the hits in the others. Only a refund, a reset and a block do.

mod place;

use super::set::Places;
use super::statistics::TableStatistics;
use super::table::{self, Look};
use super::word::Word;
use crate::clock::{boot_time, latest};
use crate::limit::{
    Decision, Hits, MAX_SLIDING_HITS, Op, Reply, SECOND, SlidingWindow, State, StoredState, Verdict,
};
use place::{PlaceChange, PlaceState, SeenPlaces};
use portable_atomic::AtomicU128;
use std::cell::Cell;

/// The most tries of a call.
const MAX_TRIES: u32 = 64;
/// The most tries of a call that another process keeps from taking its hits, or for which a set has no room.
const MAX_LOSSES: u32 = 8;
/// Hits that were taken so short a time ago may be given back by a call that does not get all it wants: a
/// denial that counts such a hit is decided once more.
const RECENT: u64 = SECOND / 1_000;
/// After this time a call may be tried again that other processes have kept from its hits.
const BUSY: u64 = SECOND / 1_000;

/// A window in the table.
pub struct WindowInTable<'a, W = AtomicU128> {
    /// The limit.
    pub window: &'a SlidingWindow,
    /// Where its hits are, of which it uses as many as the limit allows.
    pub places: Places<'a, W>,
    /// The time of the call.
    pub now: Cell<u64>,
    /// Whether `now` is the time of a test's clock, which stands still.
    pub is_frozen: bool,
    /// The counters of the table.
    pub statistics: &'a TableStatistics,
    /// Whether this call found too little room.
    pub lacked_room: Cell<bool>,
}

impl<W: Word> WindowInTable<'_, W> {
    /// Applies an operation. None if other processes were faster at every try.
    #[inline(always)]
    pub fn decide<R: Reply>(&self, op: Op) -> Option<R> {
        if let Op::Take { cost: 1 } | Op::Check = op
            && let Some(answer) = self.take_one()
        {
            return Some(answer);
        }
        self.decide_on_any(op).map(R::of)
    }

    /// Takes one hit: the usual case, with one look at each place. None if nothing was decided and nothing
    /// taken: the window is blocked, or has to be looked at again.
    #[inline(always)]
    fn take_one<R: Reply>(&self) -> Option<R> {
        let needs_hits = R::from_acceptance(false).is_none();
        let (began, interval) = (self.now.get(), self.window.interval());
        let (mut hits, mut latest, mut taken) = (Vec::new(), 0, None);
        for (number, (set, tag)) in (0..self.window.max_hits()).zip(self.places.iter()) {
            let now = self.now.get();
            let mut found = match table::look(&set.0, tag, now) {
                Look::Known(state) => PlaceState::of(&self.window.place(), state, now),
                Look::Free | Look::Unclear => PlaceState::Free,
            };
            if taken.is_none() && matches!(found, PlaceState::Free) {
                let (before, is_taken) = self.change(number, Op::Take { cost: 1 });
                match is_taken {
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
                    if taken.is_some() && self.fits_clock(boot_time(), leaves_at) =>
                {
                    hits.push(leaves_at);
                }
                _ => {
                    if let Some(number) = taken {
                        self.free(number, now + interval);
                    }
                    return None;
                }
            }
        }
        let now = self.now.get();
        // A hit that was counted at the first reading of the clock may have left by the second.
        let is_unsure = now > began || latest + self.recent() > now + interval;
        if taken.is_none() && is_unsure {
            return None;
        }
        if !needs_hits {
            return R::from_acceptance(false);
        }
        let state = StoredState::Hits(Hits::new(hits));
        Some(R::of(self.window.apply(&state, now, Op::Take { cost: 1 }).0))
    }

    #[cold]
    #[inline(never)]
    fn decide_on_any(&self, op: Op) -> Option<Decision> {
        match op {
            Op::Block { .. } => return Some(self.block(op)),
            Op::Reset => {
                self.free_from(0);
                return Some(self.window.apply(&StoredState::FULL, self.now.get(), op).0);
            }
            Op::Refund { cost, expiry } => return self.refund(cost, expiry),
            _ => {}
        }
        let mut losses = 0;
        for _ in 0..MAX_TRIES {
            let Some(seen) = self.look(op) else { continue };
            let (decision, _) = self.window.apply(&seen.state, self.now.get(), op);
            let is_final = decision.is_accepted()
                || matches!(op, Op::Peek { .. })
                || losses > 0
                || !self.has_recent_hit(&seen);
            match decision.taken {
                0 if is_final => return Some(decision),
                0 => {}
                hits if self.take(&seen, hits, op) => {
                    let (now, taken) = (self.now.get(), Op::Take { cost: hits });
                    // One hit may have been taken later than was decided.
                    return Some(match now == decision.now {
                        true => decision,
                        false => self.window.apply(&seen.state, now, taken).0,
                    });
                }
                _ => {}
            }
            losses += 1;
            // What is settled is taken in any case.
            if losses >= MAX_LOSSES && !matches!(op, Op::Settle { .. }) {
                return Some(self.busy(&seen));
            }
        }
        None
    }

    /// Looks at all places, for this operation. None if the process was suspended since `now`, which is a later
    /// time after that.
    fn look(&self, op: Op) -> Option<SeenPlaces> {
        let (mut free, mut taken) = (Vec::new(), Vec::new());
        // A call that takes hits makes the table remember a newcomer among longer limits: otherwise time would
        // not free its places.
        let ask = match op.takes_hits() {
            true => Op::Start { missing: 0 },
            false => Op::Peek { cost: 1 },
        };
        for (number, (set, tag)) in (0..self.window.max_hits()).zip(self.places.iter()) {
            let now = self.now.get();
            let found = match table::look(&set.0, tag, now) {
                Look::Known(state) => PlaceState::of(&self.window.place(), state, now),
                Look::Free => PlaceState::Free,
                // What an evicted hit owes cannot be given back.
                Look::Unclear if matches!(op, Op::Refund { .. }) => PlaceState::Free,
                Look::Unclear => self.change(number, ask).0,
            };
            match found {
                PlaceState::Free => free.push(number),
                PlaceState::Taken(leaves_at) => taken.push((number, leaves_at)),
                // It stands in all places: what is in others is no hit.
                PlaceState::Blocked(until) => {
                    let (free, taken) = (Vec::new(), Vec::new());
                    return Some(SeenPlaces {
                        state: State::Blocked { until }.into(),
                        free,
                        taken,
                    });
                }
                PlaceState::Later(leaves_at) => {
                    taken.push((number, self.judge_later(number, leaves_at, self.clock())?))
                }
            }
        }
        if let Op::Refund { cost, expiry } = op {
            let is_meant = |at: &u64| expiry == Some(*at);
            let found = taken.iter().filter(|(_, leaves_at)| is_meant(leaves_at)).count() as u64;
            if expiry.is_none() || found < cost {
                taken.extend(self.hits_of_larger_limits());
            }
        }
        let hits = taken.iter().map(|(_, leaves_at)| *leaves_at).collect();
        Some(SeenPlaces { state: StoredState::Hits(Hits::new(hits)), free, taken })
    }

    /// How recent a hit is that may be given back. In a short interval all hits are young.
    fn recent(&self) -> u64 {
        RECENT.min(self.window.interval() / 64)
    }

    /// Whether a hit was taken so recently that it may be given back.
    fn has_recent_hit(&self, seen: &SeenPlaces) -> bool {
        let latest = self.now.get() + self.window.interval();
        seen.taken.iter().any(|(_, leaves_at)| leaves_at + self.recent() > latest)
    }

    /// The time by the clock that `now` is from.
    fn clock(&self) -> u64 {
        latest(self.now.get(), self.is_frozen)
    }

    /// When a hit leaves that was taken later than `now`. None if this process was suspended since then, as `clock` shows. A
    /// hit from the future is brought down to one interval from now.
    #[cold]
    fn judge_later(&self, number: u32, leaves_at: u64, clock: u64) -> Option<u64> {
        let (now, interval) = (self.now.get(), self.window.interval());
        if clock > now + RECENT {
            self.now.set(clock);
            return None;
        }
        if self.fits_clock(clock, leaves_at) {
            return Some(leaves_at);
        }
        self.change(number, Op::Start { missing: 0 });
        Some(now + interval)
    }

    /// Whether a hit that leaves at this time can have been taken by a running clock that shows `clock`. Processors may differ a
    /// little about the time.
    fn fits_clock(&self, clock: u64, leaves_at: u64) -> bool {
        !self.is_frozen && leaves_at <= clock + self.window.interval() + RECENT
    }

    /// Takes this many hits in places that are free. Returns false, and takes none, if other processes were
    /// faster, or if not all of them can leave together: the call decides anew then, at a later time.
    fn take(&self, seen: &SeenPlaces, hits: u64, op: Op) -> bool {
        let began = self.now.get();
        let mut taken = Vec::new();
        for number in &seen.free {
            if taken.len() as u64 == hits {
                break;
            }
            match self.change(*number, Op::Take { cost: 1 }) {
                (_, true) => taken.push((*number, self.now.get() + self.window.interval())),
                (PlaceState::Blocked(_), false) => break,
                _ => {}
            }
        }
        let taken_at = self.now.get();
        let leave_together = hits == 1 || taken_at == began;
        let is_done = taken.len() as u64 == hits && leave_together && self.leaves_enough(op);
        // The look may have read the clock again.
        self.now.set(taken_at);
        if !is_done {
            for (number, leaves_at) in taken {
                self.free(number, leaves_at);
            }
        }
        is_done
    }

    /// Whether as many places are free as the operation leaves, now that it has its hits. Of several calls that left
    /// enough when they looked, the one that takes its hits last sees those of all.
    fn leaves_enough(&self, op: Op) -> bool {
        let Op::TakeUpTo { leave: leave @ 1.., .. } = op else { return true };
        self.look(Op::Peek { cost: 1 }).is_some_and(|seen| seen.free.len() as u64 >= leave)
    }

    /// Frees a place, if its hit still leaves at `leaves_at`.
    fn free(&self, number: u32, leaves_at: u64) -> bool {
        self.change(number, Op::Refund { cost: 1, expiry: Some(leaves_at) }).1
    }

    /// Gives hits back: those that leave at `expiry`, or without it the latest ones. None if other processes were
    /// faster at every try.
    fn refund(&self, cost: u64, expiry: Option<u64>) -> Option<Decision> {
        let mut freed = 0;
        for _ in 0..MAX_TRIES {
            let Some(mut seen) = self.look(Op::Refund { cost, expiry }) else { continue };
            seen.taken.sort_by_key(|(_, leaves_at)| *leaves_at);
            let is_meant = |leaves_at| expiry.is_none_or(|expiry| leaves_at == expiry);
            let (mut has_lost, before) = (false, freed);
            for (number, leaves_at) in seen.taken.iter().rev().filter(|(_, at)| is_meant(*at)) {
                if freed == cost {
                    break;
                }
                match self.free(*number, *leaves_at) {
                    true => freed += 1,
                    false => has_lost = true,
                }
            }
            if freed == cost || !has_lost {
                let op = Op::Refund { cost: freed - before, expiry };
                let (decision, _) = self.window.apply(&seen.state, self.now.get(), op);
                let has_freed = freed > 0 && !decision.is_blocked();
                let verdict = if has_freed { Verdict::Accepted } else { decision.verdict };
                return Some(Decision { verdict, ..decision });
            }
            // A hit that was taken after `now` is not given back at `now`.
            self.now.set(self.clock());
        }
        None
    }

    /// Blocks all places, and frees those of larger limits.
    fn block(&self, op: Op) -> Decision {
        for number in 0..self.window.max_hits() {
            self.change(number, op);
        }
        self.free_from(self.window.max_hits());
        let state = match self.places.get(0).map(|(set, tag)| table::look(&set.0, tag, 0)) {
            Some(Look::Known(state)) => state,
            _ => State::FULL,
        };
        self.window.apply(&state.into(), self.now.get(), op).0
    }

    /// Frees all places from this one on, the last one first: as long as the first one is blocked, no other
    /// process takes a hit.
    fn free_from(&self, first: u32) {
        for number in (first..MAX_SLIDING_HITS).rev() {
            if let Some((set, tag)) = self.places.get(number)
                && let Look::Known(_) = table::look(&set.0, tag, self.now.get())
            {
                self.change(number, Op::Reset);
            }
        }
    }

    /// The hits in the places that this limit does not use, and when they leave.
    #[cold]
    fn hits_of_larger_limits(&self) -> impl Iterator<Item = (u32, u64)> {
        let unused = self.window.max_hits()..MAX_SLIDING_HITS;
        unused.filter_map(|number| {
            let (set, tag) = self.places.get(number)?;
            // A newcomer's place is no hit, though a full table may deny it.
            let Look::Known(state) = table::look(&set.0, tag, self.now.get()) else { return None };
            match PlaceState::of(&self.window.place(), state, self.now.get()) {
                PlaceState::Taken(leaves_at) => Some((number, leaves_at)),
                _ => None,
            }
        })
    }

    /// The denial of a call that other processes have kept from its hits.
    fn busy(&self, seen: &SeenPlaces) -> Decision {
        let now = self.now.get();
        let (decision, _) = self.window.apply(&seen.state, now, Op::Peek { cost: 0 });
        Decision { verdict: Verdict::Denied, retry_at: now + BUSY, ..decision }
    }

    /// Applies an operation to one place. Returns what was there, and whether it was accepted. Where the clock is read again, that
    /// is the time of the call from then on.
    #[inline(always)]
    fn change(&self, number: u32, op: Op) -> (PlaceState, bool) {
        let Self { statistics, lacked_room, is_frozen, .. } = self;
        let (place, now) = (self.window.place(), self.now.get());
        let (found, accepted) = (PlaceState::Taken(now + self.window.interval()), false);
        let mut change = PlaceChange {
            place,
            op,
            now,
            is_frozen: *is_frozen,
            statistics,
            lacked_room,
            found,
            accepted,
        };
        if let Some((set, tag)) = self.places.get(number) {
            change = table::update(&set.0, tag, now, change);
        }
        self.now.set(change.now);
        (change.found, change.accepted)
    }
}

#[cfg(test)]
mod tests;
