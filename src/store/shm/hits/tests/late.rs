//! Calls whose process was suspended after it had read the clock.

use super::*;
use portable_atomic::Ordering;

/// A time at which a process can have read the clock that is suspended since.
fn suspended_at() -> u64 {
    boot_time() - 60 * MILLISECOND
}

impl Table {
    /// The set of a place of key 1, and the place's tag.
    fn place(&self, number: u32) -> (&Set<AtomicU128>, u64) {
        Places::new(&self.sets, hash(1)).unwrap().get(number).unwrap()
    }

    fn put(&self, number: u32, way: usize, slot: impl FnOnce(u64) -> Slot) {
        let (set, tag) = self.place(number);
        set.0[way].store(slot(tag).0, Ordering::SeqCst);
    }

    /// When the places of key 1 that have a slot expire.
    fn ends(&self, places: u32) -> Vec<u64> {
        let end = |number| {
            let (set, tag) = self.place(number);
            table::find_committed(&set.0, tag).map(|(_, slot)| slot.expires_at())
        };
        (0..places).filter_map(end).collect()
    }
}

#[test]
fn hits_in_places_without_slots_leave_together_an_interval_after_the_clock_was_read_again() {
    for cost in 1..=3 {
        let (table, window) = (Table::new(8), hour(3));
        let op = Op::TakeUpTo { most: cost, least: cost, leave: 0 };
        table.running_window(&window, hash(1), suspended_at(), |it| {
            let before = boot_time();
            let decision = decide::<_, Decision>(it, op).unwrap();
            assert!((before..=boot_time()).contains(&decision.now));
            assert_eq!((decision.taken, decision.expires_at), (cost, decision.now + HOUR));
            let refund = decide::<_, Decision>(it, decision.settle(0)).unwrap();
            assert!(refund.is_accepted() && refund.available.count_hits() == 3, "{cost} hits");
        });
    }
}

#[test]
fn call_is_accepted_by_a_hit_that_it_has_though_others_left_meanwhile() {
    let (table, window, began) = (Table::new(8), hour(2), suspended_at());
    table.put(0, 0, |tag| hit(tag, began + MILLISECOND));
    table.put(1, 0, |tag| Slot::claim(tag, began + HOUR / 2, 0));
    table.running_window(&window, hash(1), began, |it| {
        let decision = decide::<_, Decision>(it, TAKE).unwrap();
        assert!(decision.is_accepted() && decision.expires_at > began + HOUR + MILLISECOND);
        assert_eq!(table.ends(2), [decision.expires_at, began + HOUR / 2]);
    });
}

#[test]
fn look_at_what_a_call_leaves_does_not_change_when_its_hits_leave() {
    let (table, window, began) = (Table::new(8), hour(2), suspended_at());
    let op = Op::TakeUpTo { most: 1, least: 1, leave: 1 };
    table.put(0, 0, |tag| hit(tag, began));
    table.running_window(&window, hash(1), began, |it| {
        let seen = look(it, op).unwrap();
        // Another process's claim, in a set that has a tombstone at this time.
        table.put(1, 0, |tag| Slot::claim(tag, began, 0));
        table.put(1, 1, |_| hit(0, began + MILLISECOND));
        assert!(take(it, &seen, 1, op));
        assert_eq!(table.ends(1), [it.now.get() + HOUR]);
    });
}

#[test]
fn start_of_a_place_keeps_a_hit_that_was_taken_since_the_call_began() {
    let (table, window, leaves_at) = (Table::new(8), hour(1), boot_time() + HOUR);
    table.put(0, 0, |tag| hit(tag, leaves_at));
    table.running_window(&window, hash(1), suspended_at(), |it| {
        it.change(0, Op::Start { missing: 0 });
    });
    assert_eq!(table.ends(1), [leaves_at]);
}

#[test]
fn refund_gives_back_a_hit_that_was_taken_since_the_call_began() {
    let (table, window) = (Table::new(8), hour(1));
    table.running_window(&window, hash(1), boot_time(), |it| {
        table.window(&window, hash(1), boot_time(), |rival| assert!(rival.change(0, TAKE).1));
        let refund = decide::<_, Decision>(it, Op::Refund { cost: 1, expiry: None });
        assert!(refund.unwrap().is_accepted());
    });
    assert_eq!(table.left(&window, hash(1), boot_time()), 1);
}

#[test]
fn refund_of_an_evicted_hit_is_denied() {
    let (table, window) = (Table::new(8), hour(1));
    // The tombstone that the hit has left.
    table.put(0, 0, |_| hit(0, T + HOUR));
    for expiry in [Some(T + HOUR), None] {
        table.decide(&window, hash(1), T, Op::Refund { cost: 1, expiry });
        assert_eq!(table.left(&window, hash(1), T), 0);
    }
    let refund = Op::Refund { cost: 1, expiry: Some(T + HOUR) };
    assert!(!table.decide(&window, hash(1), T, refund).is_accepted());
}

#[test]
fn refund_passes_a_place_whose_end_is_inherited_by_a_later_clock() {
    let (table, window) = (Table::new(8), hour(1));
    // A tombstone: a newcomer finds the place taken for an hour from when it looks.
    table.put(0, 0, |_| hit(0, boot_time() + 2 * HOUR));
    table.running_window(&window, hash(1), suspended_at(), |it| {
        let refund = decide::<_, Decision>(it, Op::Refund { cost: 1, expiry: None });
        assert_eq!(refund.map(|decision| decision.taken), Some(0));
    });
}

#[test]
fn block_of_a_process_that_was_suspended_ends_when_its_decision_says() {
    for has_slot in [false, true] {
        let (table, window, began) = (Table::new(8), hour(3), suspended_at());
        if has_slot {
            table.put(0, 0, |tag| hit(tag, began + HOUR / 2));
        }
        table.running_window(&window, hash(1), began, |it| {
            let decision = decide::<_, Decision>(it, Op::Block { duration: HOUR }).unwrap();
            assert!(decision.retry_at >= began + HOUR);
            assert_eq!(table.ends(3), [decision.retry_at], "it takes one place");
        });
    }
}
