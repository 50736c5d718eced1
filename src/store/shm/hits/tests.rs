//! Windows in a table that is large enough, and in one that is not.

use super::window::RECENT;
use super::*;
use crate::clock::at;
use crate::limit::SlidingWindow;
use crate::limit::{Span, State, TokenBucket};
use crate::mapped::set::{Places, Set, WAYS, locate};
use crate::store::shm::bucket_change::BucketChange;
use crate::store::shm::slot::Slot;
use crate::store::shm::statistics::TableStatistics;
use portable_atomic::AtomicU128;
use proptest::prelude::*;
use std::cell::Cell;
use std::collections::HashMap;

mod blocks;
mod edges;
mod late;
mod rivals;

const T: u64 = 1_000 * SECOND;
const INTERVAL: u64 = 100;
const MILLISECOND: u64 = SECOND / 1_000;
const HOUR: u64 = 3_600 * SECOND;
const TAKE: Op = Op::Take { cost: 1 };

/// A table with its counters.
struct Table<W = AtomicU128> {
    sets: Vec<Set<W>>,
    statistics: TableStatistics,
}

impl<W: Word> Table<W> {
    fn of_words(sets: usize, word: impl Fn() -> W) -> Self {
        let set = || Set(std::array::from_fn(|_| word()));
        Self { sets: (0..sets).map(|_| set()).collect(), statistics: TableStatistics::default() }
    }

    fn window<R>(
        &self,
        window: &SlidingWindow,
        hash: u64,
        now: u64,
        work: impl FnOnce(&WindowInTable<'_, W>) -> R,
    ) -> R {
        let window = WindowInTable {
            limit: window,
            places: Places::new(&self.sets, hash).unwrap(),
            now: Cell::new(now),
            statistics: &self.statistics,
            lacked_room: Cell::new(false),
        };
        at(Some(now), || work(&window))
    }

    /// A window by a running clock.
    fn running_window(
        &self,
        window: &SlidingWindow,
        hash: u64,
        now: u64,
        work: impl FnOnce(&WindowInTable<'_, W>),
    ) {
        self.window(window, hash, now, |it| at(None, || work(it)));
    }

    fn decide(&self, window: &SlidingWindow, hash: u64, now: u64, op: Op) -> Decision {
        self.window(window, hash, now, |it| decide::<_, Decision>(it, op)).unwrap()
    }

    /// Gives all places of a window slots, which are free at `now`.
    fn make_slots(&self, window: &SlidingWindow, hash: u64, now: u64) {
        let taken = self.decide(window, hash, now, Op::Take { cost: window.max_hits().into() });
        assert!(self.decide(window, hash, now, taken.settle(0)).is_accepted());
    }

    /// The hits that are left.
    fn left(&self, window: &SlidingWindow, hash: u64, now: u64) -> u64 {
        self.decide(window, hash, now, Op::Peek { cost: 0 }).available.count_hits()
    }
}

impl Table {
    fn new(sets: usize) -> Self {
        Self::of_words(sets, || AtomicU128::new(0))
    }

    /// Takes a token of a bucket, which needs a slot, too, and is full again after `refill` nanoseconds.
    fn take_from_bucket(&self, hash: u64, refill: u64, now: u64) {
        let limit = &TokenBucket::per_second(1, 1e9 / refill as f64).unwrap();
        let (set, tag) = locate(&self.sets, hash).unwrap();
        let op = &Op::Take { cost: 1 };
        let statistics = &self.statistics;
        let change: BucketChange<'_, _, bool> =
            BucketChange { limit, op, now, statistics, lacked_room: false, kept: None };
        at(Some(now), || table::update(&set.0, tag, now, change));
    }
}

/// A hash that the table spreads as a keyed hash does.
fn hash(client: u64) -> u64 {
    (client + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn window(limit: i64) -> SlidingWindow {
    SlidingWindow::new(limit, INTERVAL as f64 / 1e9).unwrap()
}

/// A window of so many hits in an hour.
fn hour(limit: i64) -> SlidingWindow {
    SlidingWindow::new(limit, 3_600.0).unwrap()
}

/// The slot of a place with a hit.
fn hit(tag: u64, leaves_at: u64) -> Slot {
    Slot::committed(tag, State::Filling { full_at: Span::from_ns(leaves_at) })
}

fn ops() -> impl Strategy<Value = Op> {
    prop_oneof![
        8 => Just(Op::Take { cost: 1 }),
        4 => (0u64..5).prop_map(|cost| Op::Take { cost }),
        1 => (0u64..5).prop_map(|cost| Op::Peek { cost }),
        1 => Just(Op::Check),
        1 => (0u64..3).prop_map(|cost| Op::Refund { cost, expiry: None }),
        1 => (0u64..9).prop_map(|cost| Op::Settle { cost, expiry: 0 }),
        1 => Just(Op::Reset),
        1 => (1u64..60).prop_map(|duration| Op::Block { duration }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn window_in_the_table_decides_as_the_pure_function_does(
        limit in 1i64..12, calls in prop::collection::vec((0u64..3, ops(), 0u64..40), 1..100),
    ) {
        let (table, window, mut now) = (Table::new(64), window(limit), T);
        let mut states: HashMap<u64, StoredState> = HashMap::new();
        for (client, op, pause) in calls {
            now += pause;
            let state = states.entry(client).or_insert(StoredState::FULL);
            let (expected, after) = window.apply(state, now, op);
            *state = after;
            let decision = table.decide(&window, hash(client), now, op);
            prop_assert_eq!(decision, expected, "{:?}", op);
            let refund = decision.settle(0);
            if decision.taken > 0 && now % 5 == 0 {
                let (expected, after) = window.apply(state, now, refund);
                *state = after;
                prop_assert_eq!(table.decide(&window, hash(client), now, refund), expected);
            }
            let is_admitted = |state: &StoredState| window.apply(state, now, Op::Peek { cost: 1 }).0;
            let peek = table.decide(&window, hash(client), now, Op::Peek { cost: 1 });
            prop_assert_eq!(peek, is_admitted(state));
        }
        prop_assert_eq!(table.statistics.evictions() + table.statistics.denied_newcomers(), 0);
    }

    #[test]
    fn flood_gives_no_window_more_hits_than_its_limit(
        limit in 1i64..5, sets in 1usize..4,
        calls in prop::collection::vec((0u64..12, 1u64..3, 0u64..9, 0u8..6), 50..400),
    ) {
        let (table, window, mut now) = (Table::new(sets), window(limit), T);
        let mut logs: HashMap<u64, Vec<u64>> = HashMap::new();
        for (client, cost, pause, kind) in calls {
            now += pause;
            if kind == 0 {
                table.take_from_bucket(hash(client + 100), 1, now);
                continue;
            }
            if table.decide(&window, hash(client), now, Op::Take { cost }).is_accepted() {
                let log = logs.entry(client).or_default();
                log.extend((0..cost).map(|_| now));
                let counted = log.iter().filter(|hit| **hit + INTERVAL > now).count();
                prop_assert!(counted <= limit as usize, "{} of {}", counted, limit);
            }
        }
    }

    #[test]
    fn whole_answer_and_short_one_agree(
        limit in 1i64..9, pauses in prop::collection::vec(0u64..40, 1..60),
    ) {
        let (table, window, mut now) = (Table::new(8), window(limit), T);
        for pause in pauses {
            now += pause;
            let whole = table.decide(&window, hash(1), now, Op::Take { cost: 1 }).is_accepted();
            let short = table.window(&window, hash(2), now, |it| decide(it, Op::Take { cost: 1 }));
            prop_assert_eq!(short, Some(whole));
        }
    }
}

#[test]
fn places_of_a_window_have_sets_and_tags_of_their_own() {
    let table = Table::new(9);
    let places = Places::new(&table.sets, hash(7)).unwrap();
    let listed: Vec<_> =
        places.iter().take(1_024).map(|(set, tag)| (set.0.as_ptr(), tag)).collect();
    for (i, place) in listed.iter().enumerate() {
        let (set, tag) = places.get(i as u32).unwrap();
        assert_eq!((set.0.as_ptr(), tag), *place);
        assert_eq!(place.0, listed[i % 9].0);
        assert!(i == 0 || listed[..i].iter().all(|(_, other)| *other != tag));
    }
    assert_eq!(
        Some(listed[0]),
        locate(&table.sets, hash(7)).map(|(set, tag)| (set.0.as_ptr(), tag))
    );
    assert!(Places::<AtomicU128>::new(&[], 1).is_none());
    assert_eq!(WAYS, 8);
}

#[test]
fn hits_of_one_call_leave_together_though_a_rival_was_faster() {
    let (table, window) = (Table::new(8), SlidingWindow::new(5, 3_600.0).unwrap());
    let now = crate::clock::boot_time();
    table.make_slots(&window, hash(1), now);
    table.running_window(&window, hash(1), now, |it| {
        let seen = look(it, Op::Take { cost: 3 }).unwrap();
        let (decision, _) = window.apply(&seen.state, now, Op::Take { cost: 3 });
        // The rival's clock reading is later.
        assert!(table.decide(&window, hash(1), now + 1, Op::Take { cost: 1 }).is_accepted());
        assert!(take(it, &seen, decision.taken, Op::Take { cost: 3 }));
        assert!(decide::<_, Decision>(it, decision.settle(0)).unwrap().is_accepted());
    });
    assert_eq!(table.left(&window, hash(1), crate::clock::boot_time()), 4);
}

#[test]
fn call_of_one_hit_keeps_it_though_a_rival_took_one_since_the_call_began() {
    let (table, window) = (Table::new(8), SlidingWindow::new(3, 3_600.0).unwrap());
    // This process was suspended for so long that a call that has to begin again takes another time.
    let began = crate::clock::boot_time() - 2 * RECENT;
    let take = Op::Take { cost: 1 };
    table.make_slots(&window, hash(1), began);
    table.window(&window, hash(1), began + RECENT, |rival| assert!(rival.change(1, take).1));
    table.running_window(&window, hash(1), began, |it| {
        let decision = decide::<_, Decision>(it, take).unwrap();
        assert!(decision.is_accepted());
        assert_eq!((decision.now, decision.available.count_hits()), (began, 1));
    });
}

#[test]
fn call_of_one_hit_corrects_one_from_before_the_clock_was_set_back() {
    let (table, window) = (Table::new(8), window(3));
    table.window(&window, hash(1), T + 9 * INTERVAL, |it| {
        assert!(it.change(1, Op::Take { cost: 1 }).1);
    });
    let decision = table.decide(&window, hash(1), T, Op::Take { cost: 1 });
    assert!(decision.is_accepted() && decision.available.count_hits() == 1);
    assert_eq!(table.left(&window, hash(1), T + INTERVAL), 3, "both have left after one interval");
}

#[test]
fn newcomer_among_longer_limits_waits_for_one_interval_whatever_its_cost() {
    for cost in 1..=3 {
        let (table, window) = (Table::new(4), window(3));
        // Buckets that need longer than an interval to fill evict each other in each set.
        for client in 0..200 {
            table.take_from_bucket(hash(client + 100), 10 * INTERVAL, T);
        }
        let (op, evicted) = (Op::Take { cost }, table.statistics.evictions());
        let (denied, lacked_room) = table.window(&window, hash(1), T, |it| {
            (decide::<_, Decision>(it, op).unwrap(), it.lacked_room.get())
        });
        assert!(!denied.is_accepted() && denied.retry_at <= T + INTERVAL);
        assert!(lacked_room && table.statistics.evictions() > evicted);
        assert!(table.decide(&window, hash(1), denied.retry_at, op).is_accepted(), "{cost} hits");
    }
}

#[test]
fn refund_gives_nothing_back_while_one_place_is_blocked() {
    let (table, window) = (Table::new(8), window(3));
    assert!(table.decide(&window, hash(1), T, Op::Take { cost: 1 }).is_accepted());
    // As while a block is set or lifted, or where an eviction took it from the first place.
    table.window(&window, hash(1), T, |it| it.change(1, Op::Block { duration: INTERVAL / 2 }));
    let refund = table.decide(&window, hash(1), T, Op::Refund { cost: 1, expiry: None });
    assert!(!refund.is_accepted() && refund.is_blocked());
    assert_eq!(table.left(&window, hash(1), T + INTERVAL / 2), 2, "the hit is still there");
}

#[test]
fn reset_and_block_of_a_smaller_limit_free_all_hits() {
    let (table, large, small) = (Table::new(64), window(10), window(1));
    let left = |now| table.left(&large, hash(1), now);
    table.decide(&large, hash(1), T, Op::Take { cost: 10 });
    table.decide(&small, hash(1), T, Op::Reset);
    assert_eq!(left(T), 10);
    table.decide(&large, hash(1), T, Op::Take { cost: 10 });
    table.decide(&small, hash(1), T, Op::Block { duration: 9 });
    assert!(table.decide(&large, hash(1), T + 8, Op::Take { cost: 1 }).is_blocked());
    assert_eq!(left(T + 9), 10);
}

#[test]
fn newcomer_among_shorter_limits_waits_for_them_and_is_counted() {
    let (table, window) = (Table::new(4), window(3));
    for client in 0..200 {
        table.take_from_bucket(hash(client + 100), INTERVAL / 2, T);
    }
    let denied = table.statistics.denied_newcomers();
    table.window(&window, hash(1), T, |it| {
        assert!(!decide::<_, Decision>(it, Op::Peek { cost: 1 }).unwrap().is_accepted());
        assert!(!it.lacked_room.get() && table.statistics.denied_newcomers() == denied);
        let decision = decide::<_, Decision>(it, Op::Take { cost: 1 }).unwrap();
        assert!(!decision.is_accepted() && it.lacked_room.get());
        assert_eq!(decision.retry_at, T + INTERVAL / 2);
    });
    assert!(table.statistics.denied_newcomers() > denied);
}
