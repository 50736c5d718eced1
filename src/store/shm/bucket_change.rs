//! An operation under a limit, as a change to a slot.

use super::slot::Slot;
use super::statistics::TableStatistics;
use super::table::Change;
use crate::clock::latest;
use crate::limit::{Decision, Kept, Op, State, WordAlgorithm};

/// An operation under a limit, and what is kept of the decision.
pub struct BucketChange<'a, L, R> {
    pub limit: &'a L,
    pub op: &'a Op,
    pub now: u64,
    /// The counters of the table.
    pub statistics: &'a TableStatistics,
    /// Whether this operation found too little room.
    pub lacked_room: bool,
    pub kept: Option<R>,
}

impl<L: WordAlgorithm, R: Kept> BucketChange<'_, L, R> {
    /// The bucket's next state, or `None` if it stays.
    #[inline(always)]
    fn apply_to(&mut self, state: State) -> Option<State> {
        // A process may lose its processor between reading the clock and the slot. By then another
        // may have written a state that is later than the reading. It is not from the future, and
        // must not be cut to that reading. Nor is it known when a bucket was reset.
        if self.limit.is_from_future(state, self.now) || state == State::FULL {
            self.now = latest(self.now);
        }
        let (kept, after): (R, State) = self.limit.apply(state, self.now, self.op);
        let is_accepted = kept.is_accepted();
        self.kept = Some(kept);
        // An accepted call almost always changes the state, so only that of a denied one is compared.
        (is_accepted || after != state).then_some(after)
    }
}

impl<L: WordAlgorithm, R: Kept> Change for BucketChange<'_, L, R> {
    #[inline(always)]
    fn apply(&mut self, slot: Slot) -> Option<Slot> {
        // The usual state has a path of its own, in which the compiler knows its kind.
        match slot.as_filling() {
            Some(state) => self.apply_to(state).map(|after| Slot::committed(slot.tag(), after)),
            None => {
                // Of a full bucket it expired when it was made, which may be after the clock was read here.
                if slot.is_claim() {
                    self.now = latest(self.now);
                }
                self.apply_to(slot.state()).map(|after| Slot::committed(slot.tag(), after))
            }
        }
    }

    fn inherited_state(&self, expires_at: u64) -> State {
        self.limit.inherited_state(expires_at, latest(self.now))
    }

    fn latest(&self, _now: u64) -> u64 {
        latest(self.now)
    }

    fn takes(&self) -> bool {
        self.limit.takes(*self.op)
    }

    fn note_eviction(&mut self) {
        self.statistics.note_eviction();
        self.lacked_room = true;
    }

    /// Counts in the statistics of the limit like an eviction, unless a full bucket would have been denied, too.
    fn note_denied_newcomer(&mut self) {
        let (fresh, _): (Decision, State) = self.limit.apply(State::FULL, self.now, self.op);
        if fresh.is_accepted() {
            self.statistics.note_denied_newcomer();
            self.lacked_room = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::{at, boot_time};
    use crate::limit::{FixedWindow, SECOND, Span, TokenBucket};
    use crate::store::shm::table::update;
    use portable_atomic::AtomicU128;

    const DAY: f64 = 86_400.0;

    /// A table of one set, with its counters.
    struct Table {
        set: [AtomicU128; 3],
        statistics: TableStatistics,
    }

    impl Table {
        fn new() -> Self {
            let set = std::array::from_fn(|_| AtomicU128::new(0));
            Self { set, statistics: TableStatistics::default() }
        }

        /// The evicted buckets and the denied newcomers.
        fn counted(&self) -> (u64, u64) {
            (self.statistics.evictions(), self.statistics.denied_newcomers())
        }

        /// Makes a call. Returns whether it was accepted, and whether it found too little room.
        fn call(&self, tag: u64, limit: &TokenBucket, op: Op) -> (bool, bool) {
            let change = change(limit, &op, SECOND, &self.statistics);
            let change = at(Some(SECOND), || update(&self.set, tag, SECOND, change));
            (change.kept.unwrap().is_accepted(), change.lacked_room)
        }
    }

    fn change<'a, L>(
        limit: &'a L,
        op: &'a Op,
        now: u64,
        statistics: &'a TableStatistics,
    ) -> BucketChange<'a, L, Decision> {
        BucketChange { limit, op, now, statistics, lacked_room: false, kept: None }
    }

    /// What a call that read the clock `late` ns ago makes of a state that was written just now.
    fn apply_late(limit: &impl WordAlgorithm, late: u64, state: State) -> Option<State> {
        let (op, now) = (&Op::Take { cost: 1 }, boot_time() - late);
        change(limit, op, now, &TableStatistics::default()).apply_to(state)
    }

    #[test]
    fn stale_clock_reading_does_not_shorten_a_debt() {
        let bucket = TokenBucket::per_second(10, 10.0).unwrap();
        let empty = State::Filling { full_at: Span::from_ns(boot_time() + SECOND) };
        let window = FixedWindow::new(5, 1.0).unwrap();
        let ends_at = boot_time() + SECOND;
        for late in [1, 60_000_000, 3 * SECOND] {
            assert_eq!(apply_late(&bucket, late, empty), None);
            let hit = apply_late(&window, late, State::Window { ends_at, hits: 1 });
            assert_eq!(hit, Some(State::Window { ends_at, hits: 2 }));
        }
    }

    #[test]
    fn call_that_began_before_a_reset_takes_nothing_before_it() {
        let bucket = TokenBucket::per_second(10, 10.0).unwrap();
        let window = FixedWindow::new(5, 1.0).unwrap();
        let reset_at = boot_time();
        let [taken, opened] = [
            apply_late(&bucket, 60_000_000, State::FULL),
            apply_late(&window, 60_000_000, State::FULL),
        ];
        assert!(taken.unwrap().expires_at() >= reset_at + SECOND / 10);
        assert!(opened.unwrap().expires_at() >= reset_at + SECOND);
    }

    #[test]
    fn claim_denies_no_call_whose_clock_reading_is_older() {
        let (window, now) = (FixedWindow::new(5, 1.0).unwrap(), boot_time() - 60_000_000);
        let claim = Slot::claim(1, now + 1_000_000, 0);
        // Another process's claim of the same key, and one of another key that was withdrawn.
        for (slot, tag) in [(claim, 1), (claim.as_tombstone(), 2)] {
            let set = [AtomicU128::new(slot.0), AtomicU128::new(0)];
            let (op, statistics) = (Op::Take { cost: 1 }, TableStatistics::default());
            let change = update(&set, tag, now, change(&window, &op, now, &statistics));
            assert!(change.kept.unwrap().is_accepted(), "{tag}");
        }
    }

    #[test]
    fn newcomer_in_a_full_set_evicts_the_tombstones_bucket_and_the_one_it_replaces() {
        let (table, limit) = (Table::new(), TokenBucket::per_period(9, DAY).unwrap());
        for tag in 1..=3 {
            assert_eq!(table.call(tag, &limit, Op::Take { cost: tag }), (true, false));
        }
        assert_eq!(table.counted(), (0, 0));
        assert_eq!(table.call(4, &limit, Op::Take { cost: 1 }), (true, true));
        assert_eq!(table.counted(), (2, 0));
    }

    #[test]
    fn newcomer_is_counted_as_denied_only_if_it_had_been_accepted_with_room() {
        let (table, limit) = (Table::new(), TokenBucket::per_period(2, DAY).unwrap());
        for tag in 1..=3 {
            table.call(tag, &limit, Op::Take { cost: 2 });
        }
        for denied in [Op::Peek { cost: 1 }, Op::Take { cost: 3 }] {
            assert_eq!(table.call(4, &limit, denied), (false, false), "{denied:?}");
        }
        assert_eq!(table.counted(), (0, 0));
        assert_eq!(table.call(4, &limit, Op::Take { cost: 1 }), (false, true));
        assert_eq!(table.counted(), (0, 1));
    }

    #[test]
    fn denied_check_is_remembered() {
        let (table, limit) = (Table::new(), TokenBucket::per_period(24, DAY).unwrap());
        assert!((0..24).all(|_| table.call(1, &limit, Op::Check).0));
        assert!(!table.call(1, &limit, Op::Check).0);
        // A token comes back in an hour, but the check has to be paid for first.
        let (op, now) = (Op::Take { cost: 1 }, SECOND + 3_600 * SECOND);
        let late = change(&limit, &op, now, &table.statistics);
        let late = at(Some(now), || update(&table.set, 1, now, late));
        assert!(!late.kept.unwrap().is_accepted());
    }
}
