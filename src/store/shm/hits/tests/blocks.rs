//! Blocks: one slot each, at every moment of other calls, and in sets that are full of them.

use super::rivals::{against, at_step, contest, count_steps};
use super::*;
use crate::limit::MAX_BLOCK;
use portable_atomic::Ordering;

const BLOCK: Op = Op::Block { duration: HOUR };

impl Table {
    /// The slots in use.
    fn used(&self, now: u64) -> usize {
        let slots = self.sets.iter().flat_map(|set| &set.0);
        slots.filter(|word| Slot(word.load(Ordering::SeqCst)).expires_at() > now).count()
    }
}

#[test]
fn block_takes_one_slot_and_forgets_the_hits() {
    for (limit, taken) in [(1, 1), (5, 3), (1_024, 1_024)] {
        let (table, window) = (Table::new(512), hour(limit));
        assert!(table.decide(&window, hash(1), T, Op::Take { cost: taken }).is_accepted());
        let block = table.decide(&window, hash(1), T, Op::Block { duration: SECOND });
        assert!(block.is_accepted() && block.retry_at == T + SECOND);
        assert_eq!(table.used(T), 1, "a limit of {limit}");
        assert_eq!(table.left(&window, hash(1), T + SECOND), limit as u64);
    }
}

#[test]
fn blocks_of_the_largest_limit_leave_a_small_table_to_other_clients() {
    // As large as a file of 64 KiB.
    let (table, large) = (Table::new(480), hour(1_024));
    for blocked in 0..4 {
        table.decide(&large, hash(blocked), T, BLOCK);
    }
    for client in 100..300 {
        assert!(table.decide(&hour(5), hash(client), T, TAKE).is_accepted(), "client {client}");
    }
    for blocked in 0..4 {
        assert!(table.decide(&large, hash(blocked), T + HOUR - 1, TAKE).is_blocked());
    }
    assert_eq!(table.statistics.evictions() + table.statistics.denied_newcomers(), 0);
}

#[test]
fn every_limit_of_the_identifier_is_blocked() {
    for (blocks, calls) in [(1, 9), (9, 1)] {
        let table = Table::new(64);
        table.decide(&hour(blocks), hash(1), T, BLOCK);
        let denied = table.decide(&hour(calls), hash(1), T + HOUR - 1, TAKE);
        assert!(denied.is_blocked() && denied.retry_at == T + HOUR);
    }
}

#[test]
fn call_is_denied_if_a_rival_blocks_the_window_at_any_moment_before_its_last_step() {
    for cost in 1..=3 {
        // The first place is taken, so each call gets its hits elsewhere.
        let prepare = || {
            let (table, window) = (contest(), hour(4));
            table.make_slots(&window, hash(1), T);
            table.window(&window, hash(1), T, |it| assert!(it.change(0, TAKE).1));
            (table, window)
        };
        let op = Op::Take { cost };
        let accepts = |table: &Table<_>, window: &_| {
            table.window(window, hash(1), T, |it| decide::<_, bool>(it, op)).unwrap()
        };
        let (table, window) = prepare();
        let steps = count_steps(|| assert!(accepts(&table, &window)));
        for at in 0..steps {
            let (table, window) = prepare();
            let rival = table.clone();
            let blocks = move || assert!(rival.decide(&window, hash(1), T, BLOCK).is_accepted());
            let is_accepted = against(at_step(at, blocks), || accepts(&table, &window));
            assert!(!is_accepted, "{cost} hits, blocked before step {at} of {steps}");
            assert!(table.decide(&window, hash(1), T, op).is_blocked());
            let left = table.left(&window, hash(1), T + HOUR);
            assert_eq!(left, 4, "{cost} hits, blocked before step {at} of {steps}");
        }
    }
}

#[test]
fn hits_that_were_taken_after_a_block_was_lifted_are_not_forgotten_by_it() {
    let prepare = || {
        let (table, window) = (contest(), hour(3));
        table.decide(&window, hash(1), T, Op::Take { cost: 3 });
        (table, window)
    };
    let (table, window) = prepare();
    let steps = count_steps(|| table.decide(&window, hash(1), T + 1, BLOCK));
    let mut lifted = 0;
    for at in 0..steps {
        let (table, window) = prepare();
        let rival = table.clone();
        let lifts = move || {
            rival.decide(&window, hash(1), T + 2, Op::Reset);
            assert!(rival.decide(&window, hash(1), T + 2, Op::Take { cost: 3 }).is_accepted());
        };
        against(at_step(at, lifts), || table.decide(&window, hash(1), T + 1, BLOCK));
        if !table.decide(&window, hash(1), T + 2, Op::Peek { cost: 0 }).is_blocked() {
            lifted += 1;
            assert_eq!(table.left(&window, hash(1), T + 2), 0, "lifted before step {at}");
        }
    }
    assert!(lifted > 0, "no step came after the block was set");
}

#[test]
fn block_that_ends_while_it_is_set_forgets_no_hit_from_after_its_end() {
    let (table, window) = (Table::new(8), hour(3));
    let began = boot_time() - 60 * MILLISECOND;
    for number in 0..3 {
        table.window(&window, hash(1), began, |it| assert!(it.change(number, TAKE).1));
    }
    // By the time at which this process frees the places, the block is over.
    table.running_window(&window, hash(1), began, |it| {
        decide::<_, Decision>(it, Op::Block { duration: MILLISECOND }).unwrap();
    });
    assert_eq!(table.left(&window, hash(1), boot_time()), 1);
}

#[test]
fn block_is_in_force_until_its_end_also_if_it_is_evicted() {
    // More blocks than slots, with different ends.
    let (table, window) = (Table::new(1), hour(3));
    let end = |client: u64| T + HOUR + client * SECOND;
    for client in 0..3 * WAYS as u64 {
        let duration = end(client) - T;
        let block = table.decide(&window, hash(client), T, Op::Block { duration });
        assert!(block.is_accepted() && block.retry_at == end(client), "client {client}");
    }
    assert!(table.statistics.evictions() > 0);
    for client in 0..3 * WAYS as u64 {
        for op in [TAKE, Op::Take { cost: 0 }, Op::Check, Op::Refund { cost: 1, expiry: None }] {
            let denied = table.decide(&window, hash(client), end(client) - 1, op);
            assert!(!denied.is_accepted() && denied.is_blocked(), "client {client}, {op:?}");
        }
    }
    let all_over = end(3 * WAYS as u64);
    assert!(table.decide(&window, hash(0), all_over, Op::Take { cost: 3 }).is_accepted());
}

#[test]
fn peeks_and_denied_calls_in_a_set_full_of_blocks_change_nothing() {
    let (table, window) = (Table::new(1), hour(1));
    for client in 0..WAYS as u64 {
        table.decide(&window, hash(client), T, BLOCK);
    }
    let words =
        || table.sets[0].0.iter().map(|word| word.load(Ordering::SeqCst)).collect::<Vec<_>>();
    let before = words();
    for op in [TAKE, Op::Peek { cost: 1 }, Op::Settle { cost: 1, expiry: 0 }, Op::Reset] {
        let decision = table.decide(&window, hash(99), T, op);
        assert_eq!(decision.is_accepted(), op == Op::Reset, "{op:?}");
        assert_eq!(words(), before, "{op:?}");
    }
}

#[test]
fn later_block_outlasts_an_evicted_one_and_a_shorter_one_does_not_replace_it() {
    for (duration, end) in [(2 * HOUR, T + 2 * HOUR), (SECOND, T + HOUR)] {
        let (table, window) = (Table::new(1), hour(1));
        for client in 0..2 * WAYS as u64 {
            table.decide(&window, hash(client), T, BLOCK);
        }
        let evicted = (0..2 * WAYS as u64).find(|client| {
            let (set, tag) = locate(&table.sets, hash(*client)).unwrap();
            table::find_committed(&set.0, tag).is_none()
        });
        let block = table.decide(&window, hash(evicted.unwrap()), T, Op::Block { duration });
        // What an evicted block owes is rounded up.
        assert!((end..end + 4 * MILLISECOND).contains(&block.retry_at));
        let denied = table.decide(&window, hash(evicted.unwrap()), end - 1, TAKE);
        assert!(denied.is_blocked());
    }
}

#[test]
fn block_from_before_the_clock_went_back_is_corrected_by_the_first_call() {
    let (table, window) = (Table::new(8), hour(1));
    table.decide(&window, hash(1), T + MAX_BLOCK, Op::Block { duration: 9 * SECOND });
    for later in [0, 5 * SECOND] {
        let denied = table.decide(&window, hash(1), T + later, TAKE);
        assert_eq!(denied.retry_at, T + 9 * SECOND);
    }
    assert!(table.decide(&window, hash(1), T + 9 * SECOND, TAKE).is_accepted());
}
