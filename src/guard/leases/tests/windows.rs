//! Leases of windows: their hits end with them.

use super::*;
use crate::limit::{CalendarWindow, FixedWindow, State, apply};

/// By how much the server's clock is ahead of this host's.
const AHEAD: u64 = 9_000_000 * SECOND;

/// A window of 100 hits in half a second.
fn window() -> Limit {
    FixedWindow::new(100, 0.5).unwrap().into()
}

/// The level of a window that ends at this time of this host's clock, with so many hits.
const fn ending(expires_at: u64, hits: u64) -> Level {
    // Each window has a name of its own.
    let name = (expires_at >> 26) as u32;
    Level { expires_at, window: AHEAD + expires_at, hits, name, counted: 0 }
}

/// A lease of a window that ends at `end`, which holds seven hits of a batch of eight.
fn seven_hits(set: &Set, end: u64) -> LeaseKey<'_> {
    let key = key(set, 7, 8);
    for i in 0.. {
        if let Step::Fetch(fetch) = key.take(1, T + i, LONGEST) {
            key.put(&fetch, fetch.batch - 1, ending(end, 20), false, T + i, T + i);
            if fetch.batch == 8 {
                break;
            }
        }
    }
    key
}

#[test]
fn hits_are_handed_out_until_their_window_ends() {
    let end = T + SECOND / 4;
    let set = set();
    let key = seven_hits(&set, end);
    assert_eq!(
        key.take(1, end - (2 << UNIT_BITS), LONGEST),
        Step::Taken(Taken { level: counted(ending(end, 20), 7), rest: 6 })
    );
    assert_eq!(key.available(end), None);
    assert_eq!(key.give_back(1, None, end, |_| 100), None);
    let fetched = fetch(key.take(1, end, LONGEST));
    assert_eq!(fetched.level, Some(counted(ending(end, 20), 7)));
    assert_eq!(fetched.return_left_over(end), None, "their window has ended");
}

#[test]
fn batch_that_arrives_after_its_window_is_not_handed_out() {
    let set = set();
    let key = key(&set, 7, 8);
    let fetched = fetch(key.take(1, T, LONGEST));
    key.put(&fetched, 5, ending(T + 50, 20), false, T, T + 50);
    assert_eq!(key.available(T + 1), None, "it is so short that no time is left of it");
    assert_eq!(fetch(key.take(1, T + 50, LONGEST)).left_over, 0);
}

#[test]
fn hits_of_a_long_window_that_no_call_has_used_go_back_to_it() {
    let end = T + 3_600 * SECOND;
    let set = set();
    let key = seven_hits(&set, end);
    let later = T + LIFETIME + SECOND;
    let fetched = fetch(key.take(1, later, LONGEST));
    let op = Op::GiveBack { cost: 7, known: ending(end, 20).name };
    assert_eq!(fetched.return_left_over(later), Some(op));
    let unknown = Fetch { level: None, left_over: 7, number: 1, batch: 1, spent: 0 };
    assert_eq!(unknown.return_left_over(later), None);
    assert_eq!(Fetch { left_over: 0, ..fetched }.return_left_over(later), None);
}

#[test]
fn hits_of_an_earlier_window_are_not_added_to_those_of_the_next() {
    for (next, rest) in [(T + 2 * SECOND, 12), (T + 3 * SECOND, 5)] {
        let set = set();
        let key = LeaseKey { max: 16, ..seven_hits(&set, T + 2 * SECOND) };
        // A call for more than there is leaves what there is.
        let fetched = fetch(key.take(9, T + 100, LONGEST));
        key.put(&fetched, 5, ending(next, 30), false, T + 101, T + 102);
        assert_eq!(key.available(T + 103).unwrap().rest, rest);
    }
}

#[test]
fn only_what_was_taken_from_the_same_window_goes_back_to_the_lease() {
    let end = T + SECOND;
    let set = set();
    let key = seven_hits(&set, end);
    assert!(matches!(key.take(3, T + 99, LONGEST), Step::Taken(_)));
    let give_back = |tokens, window| {
        let given = key.give_back(tokens, window, T + 100, |level| level.hits);
        given.map(|(taken, put)| (taken.rest, put))
    };
    assert_eq!(give_back(1, Some(AHEAD + end - 1)), None);
    assert_eq!(give_back(1, Some(AHEAD + end)), Some((5, 1)));
    assert_eq!(give_back(9, None), Some((7, 2)), "no more than the server counts");
    assert_eq!(give_back(1, None), None);
}

#[test]
fn refund_in_another_window_changes_no_lease() {
    let end = T + SECOND;
    let set = set();
    let key = seven_hits(&set, end);
    key.note_refund(&ending(end - SECOND, 0));
    key.note_refund(&ending(end + SECOND, 0));
    let level = |hits| counted(ending(end, hits), 7);
    assert_eq!(key.available(T + 99), Some(Taken { level: level(20), rest: 7 }));
    key.note_refund(&ending(end, 9));
    assert_eq!(key.available(T + 99), Some(Taken { level: level(9), rest: 7 }));
}

#[test]
fn batch_is_of_the_window_that_the_server_took_it_from_whatever_a_refund_was_told() {
    for refunded in [T + SECOND / 2, T + SECOND, T + 2 * SECOND] {
        let set = set();
        let key = LeaseKey { max: 16, ..seven_hits(&set, T + SECOND) };
        let fetched = fetch(key.take(9, T + 100, LONGEST));
        key.note_refund(&ending(refunded, 20));
        assert_eq!(key.put(&fetched, 5, ending(T + SECOND, 30), false, T + 101, T + 102), 12);
        let level = counted(ending(T + SECOND, 30), 12);
        assert_eq!(key.available(T + 103), Some(Taken { level, rest: 12 }));
    }
}

/// A process that fetches keeps seven hits of a window, and is killed or denied. Meanwhile another call opens the next window, and
/// gives hits back to it.
#[test]
fn hits_that_were_kept_go_back_to_no_later_window() {
    for is_killed in [true, false] {
        let set = set();
        let key = LeaseKey { max: 16, ..seven_hits(&set, T + SECOND) };
        let fetched = fetch(key.take(9, T + 100, LONGEST));
        key.note_refund(&ending(T + 2 * SECOND, 40));
        if !is_killed {
            key.give_up(&fetched, false, true);
        }
        let next = fetch(key.take(1, T + SECOND + LONGEST, LONGEST));
        assert_eq!(next.return_left_over(T + SECOND + LONGEST), None, "{is_killed}");
    }
}

#[test]
fn level_of_a_window_is_told_by_the_servers_clock() {
    let hour = 3_600 * SECOND;
    let ends = [1, 2, 3].map(|end| AHEAD + T + end * hour);
    for limit in [window(), CalendarWindow::new(100, ends).unwrap().into()] {
        let now = T + hour + 5;
        let took = apply(&limit, &State::FULL.into(), AHEAD + now, Op::Take { cost: 30 }).0;
        // The call was sent a little earlier than the server decided.
        let level = Level::new(&limit, &took, now - 3);
        assert_eq!(level.expires_at, took.expires_at - AHEAD - 3);
        assert_eq!((level.window, level.hits), (took.expires_at, 30));
        let decision = level.at(&limit, now + 7);
        assert_eq!(decision.now, AHEAD + now + 10);
        assert_eq!((decision.expires_at, limit.remaining(&decision)), (took.expires_at, 70));
        // A call that began before the one that opened the window, and took from the lease after it.
        assert_eq!(level.at(&limit, now - 9).expires_at, took.expires_at, "it names the window");
        let over = level.at(&limit, level.expires_at);
        assert_eq!((over.now, limit.remaining(&over)), (took.expires_at, 100));
    }
}
