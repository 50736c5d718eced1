//! Sliding windows: each place of a window is a slot of the table.
//!
//! A window of L hits has L places, and each place is a key of its own: the window's key and a number. A hit
//! is taken by one compare-and-swap, in the first place that is free. A call that takes several hits first looks
//! whether there are enough, then takes one after the other, and gives them back if another process was faster.
//! So no window has more hits than it may; while hits are given back, others may find fewer for a moment.
//!
//! A block stands in the first place. It frees the others, and every call looks at the first place first.

use super::bucket_change::BucketChange;
use super::set::Places;
use super::table::{self, Look};
use super::word::Word;
use crate::limit::{Decision, Hits, Op, Place, SlidingWindow, State, StoredState};
use crate::store::FromDecision;
use portable_atomic::{AtomicU64, AtomicU128};
use std::cell::Cell;

/// The most tries of a call that takes hits which other processes want at the same time, or for which a set
/// has no room.
const MAX_TRIES: u32 = 8;

/// The places of one window.
pub struct WindowInTable<'a, W = AtomicU128> {
    /// The limit.
    pub window: &'a SlidingWindow,
    /// Where its hits are, of which it uses as many as the limit allows.
    pub places: Places<'a, W>,
    /// This host's clock, which a decision may read again.
    pub now: Cell<u64>,
    /// Whether `now` is the time of a test's clock, which stands still.
    pub is_frozen: bool,
    /// Counts the evictions of the table.
    pub evictions: &'a AtomicU64,
    /// Set if this call evicts a bucket.
    pub evicted: &'a Cell<bool>,
}

/// What was found in the places.
struct Seen {
    /// The block, or the hits.
    state: StoredState,
    /// The places that are free.
    free: Vec<u32>,
    /// The other places, and when the hit in each of them leaves.
    taken: Vec<(u32, u64)>,
}

impl<W: Word> WindowInTable<'_, W> {
    /// Applies an operation. None if other processes were faster at every try.
    #[inline(always)]
    pub fn decide<A: FromDecision>(&self, op: Op) -> Option<A> {
        if let Op::Take { cost: 1 } | Op::Check = op
            && let Some(answer) = self.take_one()
        {
            return Some(answer);
        }
        self.decide_on_any(op).map(A::from)
    }

    /// Takes one hit: the usual case, with one look at each place. None if the window is blocked, or if the
    /// clock went on meanwhile.
    #[inline(always)]
    fn take_one<A: FromDecision>(&self) -> Option<A> {
        let needs_hits = A::from_acceptance(false).is_none();
        let (mut leave_at, mut earliest, mut is_taken) = (Vec::new(), u64::MAX, false);
        let interval = self.window.interval();
        for (place, (set, tag)) in
            self.places.iter().take(self.window.max_hits() as usize).enumerate()
        {
            let now = self.now.get();
            let found = match table::look(&set.0, tag, now) {
                Look::Known(State::Blocked { until }) if until > now => return None,
                Look::Known(state) => Place::leaves_at(state),
                Look::Free | Look::Unclear => 0,
            };
            let leaves_at = if found > now && (found <= now + interval || is_taken) {
                found.min(now + interval)
            } else if is_taken {
                continue;
            } else {
                let decision = self.change(place as u32, Op::Take { cost: 1 });
                if decision.accepted {
                    if let Some(answer) = A::from_acceptance(true) {
                        return Some(answer);
                    }
                    is_taken = true;
                    continue;
                }
                decision.retry_at
            };
            earliest = earliest.min(leaves_at);
            if needs_hits {
                leave_at.push(leaves_at);
            }
        }
        if !needs_hits {
            return if earliest > self.now.get() { A::from_acceptance(false) } else { None };
        }
        let state = StoredState::Hits(Hits::new(leave_at));
        let (decision, _) = self.window.apply(&state, self.now.get(), Op::Take { cost: 1 });
        (decision.accepted == is_taken).then(|| decision.into())
    }

    #[cold]
    #[inline(never)]
    fn decide_on_any(&self, op: Op) -> Option<Decision> {
        for _ in 0..MAX_TRIES {
            let seen = self.look(op);
            let (decision, after) = self.window.apply(&seen.state, self.now.get(), op);
            let is_done = match op {
                Op::Block { .. } => {
                    let blocked = self.change(0, op);
                    self.free_others();
                    return Some(blocked);
                }
                Op::Reset => {
                    // The block goes last: as long as it is there, no other call takes a hit.
                    self.free_others();
                    self.change(0, op);
                    true
                }
                Op::Refund { .. } if decision.accepted => self.give_back(&seen, &after),
                _ => self.take(&seen, decision.taken),
            };
            if is_done {
                return Some(decision);
            }
        }
        None
    }

    /// Looks at all places, or at the first one if it is blocked.
    fn look(&self, op: Op) -> Seen {
        let (mut free, mut taken) = (Vec::new(), Vec::new());
        // A call that takes hits corrects one that a clock left which has gone back since. It makes the table remember
        // a newcomer among longer limits, too: otherwise time would not free its places.
        let takes = self.window.takes(op);
        let ask = if takes { Op::Take { cost: 0 } } else { Op::Peek { cost: 1 } };
        for (place, (set, tag)) in (0..self.window.max_hits()).zip(self.places.iter()) {
            let now = self.now.get();
            let decision = match table::look(&set.0, tag, now) {
                Look::Known(state @ State::Blocked { until }) if until > now => {
                    return Seen { state: state.into(), free, taken };
                }
                Look::Known(state) if Place::leaves_at(state) > now + self.window.interval() => {
                    self.change(place, ask)
                }
                Look::Known(state) if Place::leaves_at(state) > now => {
                    taken.push((place, Place::leaves_at(state)));
                    continue;
                }
                Look::Known(_) | Look::Free => {
                    free.push(place);
                    continue;
                }
                Look::Unclear => self.change(place, ask),
            };
            match decision {
                Decision { accepted: true, .. } => free.push(place),
                denied => taken.push((place, denied.retry_at)),
            }
        }
        let hits = taken.iter().map(|(_, leaves_at)| *leaves_at).collect();
        Seen { state: StoredState::Hits(Hits::new(hits)), free, taken }
    }

    /// Takes this many hits in places that are free. Returns false, and takes none, if other processes were
    /// faster.
    fn take(&self, seen: &Seen, hits: u64) -> bool {
        let (mut taken, now) = (Vec::new(), self.now.get());
        for place in &seen.free {
            if taken.len() as u64 == hits || self.now.get() != now {
                break;
            }
            let decision = self.change(*place, Op::Take { cost: 1 });
            if decision.accepted {
                taken.push((*place, decision.expires_at));
            }
        }
        // A hit that another process took meanwhile may have shown a later time. The hits of one call all leave at
        // the time that its decision tells: a refund finds them by it.
        let is_done = taken.len() as u64 == hits && self.now.get() == now;
        if !is_done {
            for (place, expiry) in taken {
                self.free(place, expiry);
            }
        }
        is_done
    }

    /// Frees the places whose hits are no longer in the state `after`. Returns false if other processes have
    /// changed all of them.
    fn give_back(&self, seen: &Seen, after: &StoredState) -> bool {
        let mut kept = match after {
            StoredState::Hits(hits) => hits.as_slice().to_vec(),
            StoredState::Word(_) => Vec::new(),
        };
        let mut goes = Vec::new();
        for (place, leaves_at) in &seen.taken {
            match kept.iter().position(|time| time == leaves_at) {
                Some(at) => {
                    kept.swap_remove(at);
                }
                None => goes.push((*place, *leaves_at)),
            }
        }
        let freed = goes.iter().filter(|(place, leaves_at)| self.free(*place, *leaves_at)).count();
        goes.is_empty() || freed > 0
    }

    /// Frees a place, if its hit still leaves at `leaves_at`.
    fn free(&self, place: u32, leaves_at: u64) -> bool {
        self.change(place, Op::Refund { cost: 1, expiry: Some(leaves_at) }).accepted
    }

    /// Frees all places but the first.
    fn free_others(&self) {
        for place in 1..self.window.max_hits() {
            self.change(place, Op::Reset);
        }
    }

    /// Applies an operation to one place.
    fn change(&self, place: u32, op: Op) -> Decision {
        let (limit, now) = (&self.window.place(), self.now.get());
        let Self { is_frozen, evictions, evicted, .. } = *self;
        let mut change: BucketChange<'_, Place, Decision> =
            BucketChange { limit, op: &op, now, is_frozen, evictions, evicted, answer: None };
        if let Some((set, tag)) = self.places.get(place) {
            table::update(&set.0, tag, now, &mut change);
        }
        // A process that was suspended since it read the clock has read it again.
        self.now.set(change.now);
        // A set without any slot to use denies.
        change.answer.unwrap_or_else(|| self.window.full(now))
    }
}

#[cfg(test)]
mod tests;
