//! The edges of what a call finds: how young a hit is, how late a clock, and what other limits have left.

use super::*;
use portable_atomic::Ordering;

#[test]
fn hit_is_recent_for_a_millisecond_or_for_a_64th_of_a_short_interval() {
    let short = SlidingWindow::new(1, 6.4e-6).unwrap();
    for (window, recent) in [(hour(1), MILLISECOND), (short, 100)] {
        let table = Table::new(8);
        assert!(table.decide(&window, hash(1), T, TAKE).is_accepted());
        for (age, is_recent) in
            [(0, true), (recent - 1, true), (recent, false), (recent + 1, false)]
        {
            table.window(&window, hash(1), T + age, |it| {
                let seen = look(it, TAKE).unwrap();
                assert_eq!(has_recent_hit(it, &seen), is_recent, "{age}");
                let denied = take_one::<_, bool>(it);
                assert_eq!(denied, (!is_recent).then_some(false), "else it is decided once more");
                assert_eq!(take_one::<_, Decision>(it).is_none(), is_recent);
            });
        }
    }
}

#[test]
fn call_of_one_hit_is_decided_by_one_look_at_each_place() {
    for cost in 0..=3 {
        let (table, window) = (Table::new(8), window(3));
        let (_, state) = window.apply(&StoredState::FULL, T, Op::Take { cost });
        table.decide(&window, hash(1), T, Op::Take { cost });
        let now = T + INTERVAL / 2;
        let decision = table.window(&window, hash(1), now, take_one);
        assert_eq!(decision, Some(window.apply(&state, now, TAKE).0), "{cost} hits before");
    }
}

#[test]
fn call_begins_again_if_its_process_was_suspended_for_more_than_a_millisecond() {
    let (table, window, leaves_at) = (Table::new(8), hour(3), T + HOUR + 5);
    let take = Op::Take { cost: 2 };
    table.running_window(&window, hash(1), T, |it| {
        assert_eq!(it.judge_later(0, leaves_at, T + MILLISECOND, take), Some(leaves_at));
        assert_eq!(it.now.get(), T);
        assert_eq!(it.judge_later(0, leaves_at, T + MILLISECOND + 1, take), None);
        assert_eq!(it.now.get(), T + MILLISECOND + 1);
    });
}

#[test]
fn look_at_a_later_hit_ends_if_the_process_was_suspended() {
    let (table, window) = (Table::new(8), hour(3));
    let began = boot_time() - 2 * MILLISECOND;
    table.window(&window, hash(1), began + 1, |rival| assert!(rival.change(1, TAKE).1));
    table.running_window(&window, hash(1), began, |it| {
        assert!(look(it, TAKE).is_none());
        assert!(it.now.get() >= began + 2 * MILLISECOND);
    });
}

#[test]
fn hit_fits_a_running_clock_that_is_at_most_a_millisecond_behind_it() {
    let (table, window, latest) = (Table::new(8), hour(3), T + HOUR + MILLISECOND);
    table.running_window(&window, hash(1), T, |it| {
        assert!(it.fits_clock(T, latest) && !it.fits_clock(T, latest + 1));
    });
    table.window(&window, hash(1), T, |it| assert!(!it.fits_clock(T, latest)));
}

#[test]
fn look_brings_a_hit_from_the_future_down_to_one_interval_from_now() {
    let (table, window) = (Table::new(8), window(3));
    table.window(&window, hash(1), T + 9 * INTERVAL, |it| assert!(it.change(1, TAKE).1));
    let seen_by = |op, now| {
        let seen = table.window(&window, hash(1), now, |it| look(it, op)).unwrap();
        (seen.free, seen.taken)
    };
    // The peek changes nothing, so the next call finds the hit as it was; a call that takes corrects it.
    for (op, now, leaves_at) in [
        (Op::Peek { cost: 1 }, T, T + INTERVAL),
        (Op::Peek { cost: 1 }, T + 1, T + 1 + INTERVAL),
        (TAKE, T + 2, T + 2 + INTERVAL),
        (TAKE, T + 3, T + 2 + INTERVAL),
    ] {
        assert_eq!(seen_by(op, now), (vec![0, 2], vec![(1, leaves_at)]), "{op:?}");
    }
}

#[test]
fn refund_frees_hits_of_larger_limits_only_if_its_own_are_too_few() {
    let (large, small, expiry) = (window(10), window(2), Some(T + INTERVAL));
    for (cost, expiry, left) in
        [(2, expiry, [7, 2]), (3, expiry, [8, 0]), (3, None, [8, 0]), (1, Some(T + 1), [5, 0])]
    {
        let table = Table::new(64);
        table.decide(&large, hash(1), T, Op::Take { cost: 5 });
        let refund = table.decide(&small, hash(1), T, Op::Refund { cost, expiry });
        assert_eq!(refund.is_accepted(), left != [5, 0]);
        assert_eq!([large, small].map(|it| table.left(&it, hash(1), T)), left, "{cost} {expiry:?}");
    }
}

#[test]
fn call_that_leaves_some_gives_its_hits_back_if_a_rival_took_what_it_leaves() {
    let op = Op::TakeUpTo { most: 2, least: 2, leave: 1 };
    for (rivals, left) in [(0, 1), (1, 2)] {
        let (table, window) = (Table::new(8), window(3));
        table.window(&window, hash(1), T, |it| {
            let seen = look(it, op).unwrap();
            for _ in 0..rivals {
                table.decide(&window, hash(1), T, TAKE);
            }
            assert_eq!(take(it, &seen, 2, op), rivals == 0);
        });
        assert_eq!(table.left(&window, hash(1), T), left);
    }
}

#[test]
fn call_takes_no_hit_once_it_meets_a_block() {
    let (table, window) = (Table::new(8), window(3));
    table.window(&window, hash(1), T, |it| {
        let seen = look(it, Op::Take { cost: 2 }).unwrap();
        // As while a rival is setting it.
        it.change(0, Op::Block { duration: INTERVAL });
        assert!(!take(it, &seen, 2, Op::Take { cost: 2 }));
    });
}

#[test]
fn claim_denies_no_call_whose_clock_reading_is_older() {
    let (window, now) = (hour(1), boot_time() - 60 * MILLISECOND);
    let places = Table::new(1);
    let (_, tag) = locate(&places.sets, hash(1)).unwrap();
    let claim = |tag| Slot::claim(tag, now + MILLISECOND, 0);
    // Another process's claim of the same place, and one of another key that was withdrawn.
    for slot in [claim(tag), claim(tag + 1).as_tombstone()] {
        let table = Table::new(1);
        table.sets[0].0[0].store(slot.0, Ordering::SeqCst);
        for (other, word) in table.sets[0].0[1..].iter().enumerate() {
            word.store(hit(tag + 2 + other as u64, now + HOUR).0, Ordering::SeqCst);
        }
        table.running_window(&window, hash(1), now, |it| {
            let decision = decide::<_, Decision>(it, TAKE).unwrap();
            assert!(decision.is_accepted() && !it.lacked_room.get(), "{slot:?}");
            // Later than the claim expired: what the place had before may have left by then.
            assert!(decision.now > now + 2 * MILLISECOND, "{slot:?}");
            assert_eq!(decision.expires_at, decision.now + HOUR);
        });
        assert!(!table.decide(&window, hash(1), boot_time(), TAKE).is_accepted(), "the hit counts");
    }
}

#[test]
fn suspended_process_frees_no_evicted_hit_early() {
    let two_hours = SlidingWindow::new(1, 7_200.0).unwrap();
    let ops = [TAKE, Op::Settle { cost: 1, expiry: 0 }];
    for (op, others) in ops.into_iter().flat_map(|op| [(op, hour(1)), (op, two_hours)]) {
        let (table, window, taken_at) = (Table::new(1), hour(1), boot_time());
        for key in 2..2 + WAYS as u64 {
            table.decide(&others, hash(key), taken_at, TAKE);
        }
        table.running_window(&window, hash(1), taken_at - SECOND, |it| {
            decide::<_, Decision>(it, op);
        });
        let last = taken_at + HOUR - 1;
        assert!(!table.decide(&window, hash(1), last, TAKE).is_accepted(), "{op:?} {others:?}");
    }
}
