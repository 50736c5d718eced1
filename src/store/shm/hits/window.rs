//! A sliding window in the table: what is in its places, and what changes in one.

use super::place::{PlaceChange, PlaceState};
use crate::clock::{frozen, latest};
use crate::limit::{Op, SECOND, SlidingWindow};
use crate::mapped::set::{Places, Set};
use crate::mapped::word::Word;
use crate::store::shm::statistics::TableStatistics;
use crate::store::shm::table::{self, Look};
use portable_atomic::AtomicU128;
use std::cell::Cell;

/// Hits that were taken so short a time ago may be given back by a call that does not get all it wants: a
/// denial that counts such a hit is decided once more.
pub(super) const RECENT: u64 = SECOND / 1_000;

/// A window in the table.
pub struct WindowInTable<'a, W = AtomicU128> {
    /// The limit.
    pub limit: &'a SlidingWindow,
    /// Where its hits are, of which it uses as many as the limit allows.
    pub places: Places<'a, W>,
    /// The time of the call.
    pub now: Cell<u64>,
    /// The counters of the table.
    pub statistics: &'a TableStatistics,
    /// Whether this call found too little room.
    pub lacked_room: Cell<bool>,
}

impl<W: Word> WindowInTable<'_, W> {
    /// What is in a place, for this operation.
    #[inline(always)]
    pub(super) fn find(&self, number: u32, (set, tag): (&Set<W>, u64), op: Op) -> PlaceState {
        let now = self.now.get();
        let ask = match op {
            // A call that takes hits makes the table remember a newcomer among longer limits: otherwise time
            // would not free its places.
            op if op.takes_hits() => Op::Start { missing: 0 },
            _ => Op::Peek { cost: 1 },
        };
        match table::look(&set.0, tag, now) {
            Look::Known(_, slot) => PlaceState::of(&self.limit.place(), slot.state(), now),
            Look::Free => PlaceState::Free,
            Look::Unclear => match (self.change(number, ask).0, op) {
                // What an evicted hit owes cannot be given back.
                (PlaceState::Taken(_) | PlaceState::Later(_), Op::Refund { .. }) => {
                    PlaceState::Free
                }
                (found, _) => found,
            },
        }
    }

    /// Applies an operation to one place. Returns what was there, and whether it was accepted. Where the clock is read again, that
    /// is the time of the call from then on.
    #[inline(always)]
    pub(super) fn change(&self, number: u32, op: Op) -> (PlaceState, bool) {
        let Self { statistics, lacked_room, .. } = self;
        let (place, now) = (self.limit.place(), self.now.get());
        let (found, accepted) = (PlaceState::Taken(now + self.limit.interval()), false);
        let mut change = PlaceChange {
            place,
            is_first: number == 0,
            op,
            now,
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

    /// Frees a place, if its hit still leaves at `leaves_at`.
    pub(super) fn free(&self, number: u32, leaves_at: u64) -> bool {
        self.change(number, Op::Refund { cost: 1, expiry: Some(leaves_at) }).1
    }

    /// How recent a hit is that may be given back. In a short interval all hits are young.
    pub(super) fn recent(&self) -> u64 {
        RECENT.min(self.limit.interval() / 64)
    }

    /// The time by the clock that `now` is from.
    pub(super) fn clock(&self) -> u64 {
        latest(self.now.get())
    }

    /// When a hit leaves that was taken later than `now`. None if this process was suspended since then, as `clock` shows. A
    /// hit from the future is brought down to one interval from now; for a peek in the answer alone.
    #[cold]
    pub(super) fn judge_later(
        &self,
        number: u32,
        leaves_at: u64,
        clock: u64,
        op: Op,
    ) -> Option<u64> {
        let (now, interval) = (self.now.get(), self.limit.interval());
        if clock > now + RECENT {
            self.now.set(clock);
            return None;
        }
        if self.fits_clock(clock, leaves_at) {
            return Some(leaves_at);
        }
        if !matches!(op, Op::Peek { .. }) {
            self.change(number, Op::Start { missing: 0 });
        }
        Some(now + interval)
    }

    /// Whether a hit that leaves at this time can have been taken by a running clock that shows `clock`. Processors may differ a
    /// little about the time.
    pub(super) fn fits_clock(&self, clock: u64, leaves_at: u64) -> bool {
        frozen().is_none() && leaves_at <= clock + self.limit.interval() + RECENT
    }
}
