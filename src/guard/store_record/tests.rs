//! Records of servers: outages, their ends and what is forgotten.

use super::super::breaker::{Access, FailureMeaning};
use super::super::recent_time::MINUTE;
use super::status::{FORGOTTEN, FORGOTTEN_DOWN};
use super::*;

const COUNT: usize = 32;

/// The records of a host.
#[derive(Default)]
struct Stores([Claimed<StoreRecord>; COUNT]);

impl Stores {
    /// The record of a store.
    fn of(&self, number: u64) -> &StoreRecord {
        self.named(number, &name(number), 0).unwrap()
    }

    fn named(&self, number: u64, name: &str, now: u64) -> Option<&StoreRecord> {
        let found = find_or_claim(&self.0, claimed::id(2 * number), name, now);
        found.map(|(_, record)| record)
    }

    fn list(&self, now: u64) -> Vec<ServerStatus> {
        list(&self.0, now)
    }

    fn forget(&self, name: &str) -> bool {
        forget(&self.0, name)
    }
}

fn name(number: u64) -> String {
    format!("Redis at {number}")
}

fn status(is_down: bool, since: u64, outages: u64) -> Vec<ServerStatus> {
    let last_failure = (outages > 0).then(|| "no answer".to_owned());
    vec![ServerStatus { last_failure, ..row("Redis at 7", is_down, since, outages) }]
}

fn row(name: &str, is_down: bool, since: u64, outages: u64) -> ServerStatus {
    let (name, last_failure, round_trip, clock_behind) = (name.to_owned(), None, None, None);
    ServerStatus { name, is_down, since, outages, last_failure, round_trip, clock_behind }
}

#[test]
fn outage_counts_once_and_its_end_is_reported_once_after_a_second() {
    let stores = Stores::default();
    assert_eq!(stores.of(7).note_answer(5), None);
    assert_eq!(stores.list(6), status(false, 5, 0));
    for part in [0, 1] {
        assert_eq!(
            stores.of(7).breaker(part).note_failure(Access::Granted, 10, 10),
            FailureMeaning::OutageBegins
        );
        stores.of(7).note_down("no answer", 10 + part);
    }
    assert_eq!(stores.list(12), status(true, 10, 1));
    stores.of(7).breaker(0).note_success(Access::Probe, 5 * SECOND);
    assert_eq!(stores.of(7).note_answer(7 * SECOND), None, "one is down");
    assert!(stores.list(7 * SECOND).iter().all(|server| server.is_down));
    stores.of(7).breaker(1).note_success(Access::Probe, 8 * SECOND);
    assert_eq!(stores.list(8 * SECOND), status(false, 8 * SECOND, 1));
    assert_eq!(stores.of(7).note_answer(9 * SECOND - 1), None, "too early");
    assert_eq!(stores.of(7).note_answer(9 * SECOND), Some(8 * SECOND - 10));
    assert_eq!(stores.of(7).note_answer(9 * SECOND), None);
    assert_eq!(stores.list(9 * SECOND), status(false, 8 * SECOND, 1));
}

#[test]
fn outages_that_begin_at_once_are_all_noted() {
    for _ in 0..200 {
        let (stores, barrier) = (Stores::default(), std::sync::Barrier::new(COUNT));
        std::thread::scope(|scope| {
            for number in 1..=COUNT as u64 {
                let (stores, barrier) = (&stores, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    stores.of(number).note_down("no answer", 10);
                });
            }
        });
        let listed = stores.list(11);
        let outages: Vec<_> = listed.iter().map(|server| server.outages).collect();
        assert_eq!(outages, [1; COUNT]);
    }
}

#[test]
fn store_that_is_not_called_for_an_hour_is_not_listed() {
    let stores = Stores::default();
    stores.of(7).note_down("no answer", 5);
    assert_eq!(stores.list(5 + FORGOTTEN - 1).len(), 1);
    assert_eq!(stores.list(5 + FORGOTTEN), []);
    stores.of(7).note_answer(FORGOTTEN + 9);
    assert_eq!(stores.list(FORGOTTEN + 10).len(), 1);
}

#[test]
fn store_that_is_down_is_listed_while_processes_call_it_and_for_five_minutes() {
    let stores = Stores::default();
    stores.of(7).breaker(0).note_failure(Access::Granted, 10, 10);
    stores.of(7).note_down("no answer", 10);
    let called_at = 600 * SECOND;
    stores.of(8).note_call(called_at);
    assert_eq!(stores.list(10 + FORGOTTEN_DOWN - 1), status(true, 10, 1));
    assert_eq!(stores.list(10 + FORGOTTEN_DOWN), [], "no process calls it");
    stores.of(7).note_call(called_at);
    let until = called_at + FORGOTTEN_DOWN;
    assert_eq!(stores.list(until - 1), status(true, 10, 1), "the same outage");
    assert_eq!(stores.list(until), []);
}

#[test]
fn store_that_no_process_can_ask_is_down_until_one_is_answered() {
    let stores = Stores::default();
    let is_down = |now| stores.list(now).iter().any(|server| server.is_down);
    stores.of(7).note_answer(SECOND);
    stores.of(7).note_unable("no right", 2 * SECOND);
    assert!(!is_down(2 * SECOND), "others were answered a moment ago");
    stores.of(7).note_unable("no right", 4 * SECOND);
    let listed = stores.list(4 * SECOND);
    assert_eq!(
        listed.iter().map(|it| (it.is_down, it.since)).collect::<Vec<_>>(),
        [(true, SECOND)]
    );
    stores.of(7).note_answer(5 * SECOND);
    assert!(!is_down(5 * SECOND));
}

#[test]
fn store_that_is_forgotten_is_listed_again_after_a_call() {
    let stores = Stores::default();
    stores.of(7).note_answer(5);
    assert!(!stores.forget("Redis at 8"));
    assert!(stores.forget("Redis at 7"));
    assert_eq!(stores.list(6), []);
    assert!(!stores.forget("Redis at 7"), "it is forgotten already");
    stores.of(7).note_call(8);
    assert_eq!(stores.list(9), status(false, 5, 0));
}

#[test]
fn further_store_takes_the_record_not_called_for_longest_if_that_is_two_seconds() {
    let stores = Stores::default();
    for number in 1..=COUNT as u64 {
        stores.of(number).note_answer(100 + number);
        stores.of(number).breaker(0).note_failure(Access::Granted, 5, 5);
    }
    stores.of(1).note_call(900);
    let claim = |now| stores.named(99, "Redis at 99", now);
    assert!(claim(102 + IN_USE).is_none(), "each was called of late");
    claim(103 + IN_USE).unwrap().note_answer(103 + IN_USE);
    assert_eq!(stores.of(99).breaker(0).access(5, 5), Access::Granted);
    let listed = stores.list(104 + IN_USE);
    let has = |number| listed.iter().any(|server| server.name == name(number));
    assert_eq!((listed.len(), has(99), has(1), has(2)), (COUNT, true, true, false));
}

#[test]
fn store_that_was_only_called_is_not_listed() {
    let stores = Stores::default();
    stores.named(7, "Redis at 7", 5);
    stores.of(7).note_round_trip(Duration::from_millis(1), 5);
    assert_eq!(stores.list(6), []);
}

#[test]
fn stores_of_one_name_are_one() {
    let stores = Stores::default();
    let login = |number| stores.named(number, "Redis at 7", 0).unwrap();
    login(7).note_answer(5);
    login(8).breaker(0).note_failure(Access::Granted, 10, 10);
    login(8).note_down("no answer", 10);
    assert_eq!(stores.list(11), status(true, 10, 1));
}

#[test]
fn server_that_is_up_is_listed_for_an_hour_and_one_that_is_down_for_five_minutes() {
    const MINUTE: u64 = 60_000_000_000;
    let stores = Stores::default();
    stores.of(7).note_answer(MINUTE);
    assert_eq!(stores.list(61 * MINUTE - 1).len(), 1);
    assert_eq!(stores.list(61 * MINUTE), []);
    stores.of(7).breaker(0).note_failure(Access::Granted, MINUTE, MINUTE);
    assert_eq!(stores.list(6 * MINUTE - 1).len(), 1);
    assert_eq!(stores.list(6 * MINUTE), []);
}

#[test]
fn names_and_reasons_are_cut() {
    let stores = Stores::default();
    stores.named(7, &"n".repeat(300), 0).unwrap().note_down(&"r".repeat(300), 5);
    let [listed] = <[_; 1]>::try_from(stores.list(6)).unwrap();
    assert_eq!((listed.name, listed.last_failure), ("n".repeat(96), Some("r".repeat(240))));
}

#[test]
fn record_of_a_forgotten_store_is_kept_while_others_were_never_used() {
    let stores = Stores::default();
    stores.of(7).note_answer(5);
    assert!(stores.forget(&name(7)));
    stores.of(8).note_answer(6);
    stores.of(7).note_call(7);
    assert_eq!(stores.list(8).len(), 2);
}

#[test]
fn store_that_takes_the_record_of_another_begins_without_outages() {
    let stores = Stores::default();
    stores.of(1).note_answer(SECOND);
    stores.of(1).note_unable("no right", 9 * SECOND);
    stores.of(1).note_down("no answer", 9 * SECOND);
    stores.of(1).note_unwritable("a replica", 9 * SECOND);
    let now = 20 * SECOND;
    (2..=COUNT as u64 + 1)
        .for_each(|number| _ = stores.named(number, &name(number), now).unwrap().note_answer(now));
    let listed = stores.list(now);
    assert_eq!(listed.len(), COUNT);
    for server in listed {
        let name = server.name.clone();
        let begun = row(&name, false, now, 0);
        assert_eq!(server, begun);
    }
}

#[test]
fn outage_of_a_node_that_no_process_needs_any_more_ends_when_another_recovers() {
    for (recovers_at, is_down) in
        [(None, true), (Some(10 * SECOND), true), (Some(20 * SECOND), false)]
    {
        let stores = Stores::default();
        let [gone, other] = [0, 1].map(|node| stores.of(7).breaker(node));
        gone.note_failure(Access::Granted, SECOND, SECOND);
        stores.of(7).note_down("no answer", 10 * SECOND);
        if let Some(at) = recovers_at {
            other.note_failure(Access::Granted, SECOND, SECOND);
            other.note_success(Access::Probe, at);
        }
        let now = 100 * SECOND;
        let since = if is_down { 10 * SECOND } else { 20 * SECOND };
        let listed: Vec<_> = stores.list(now).iter().map(|it| (it.is_down, it.since)).collect();
        assert_eq!(listed, [(is_down, since)]);
        let outage = stores.of(7).end_outage(now);
        assert_eq!(outage, (!is_down).then_some(10 * SECOND));
    }
}

#[test]
fn outage_that_no_process_has_noted_begins_now() {
    let stores = Stores::default();
    stores.of(7).note_answer(5);
    stores.of(7).breaker(0).note_failure(Access::Granted, 10, 10);
    assert_eq!(stores.list(12), status(true, 12, 0));
}

#[test]
fn store_counts_as_down_for_five_minutes_after_a_process_could_not_ask_it() {
    // Answers are noted to about two seconds.
    for (later, is_down) in [(2 * SECOND, false), (2 * SECOND + 1, true)] {
        let stores = Stores::default();
        let unable_at = 5 * SECOND + later;
        stores.of(7).note_answer(5 * SECOND);
        stores.of(7).note_unable("no right", unable_at);
        let is_down_at = |now| stores.list(now).iter().any(|server| server.is_down);
        assert_eq!(is_down_at(unable_at), is_down);
        assert_eq!(is_down_at(unable_at + FORGOTTEN_DOWN - 1), is_down);
        assert!(!is_down_at(unable_at + FORGOTTEN_DOWN));
        assert_eq!(stores.list(unable_at + FORGOTTEN_DOWN).len(), 1);
    }
}

#[test]
fn server_that_must_not_be_written_to_is_an_outage_once_no_process_has_written_for_two_seconds() {
    let stores = Stores::default();
    stores.of(7).note_answer(5 * SECOND);
    stores.of(7).note_write(5 * SECOND);
    assert!(!stores.of(7).note_unwritable("no answer", 7 * SECOND));
    let is_down = |now| stores.list(now)[0].is_down;
    assert!(!is_down(7 * SECOND));
    let begins = 7 * SECOND + 1;
    assert!(stores.of(7).note_unwritable("no answer", begins));
    assert!(!stores.of(7).note_unwritable("no answer", begins + 1), "once");
    // A limited client is answered.
    assert_eq!(stores.of(7).note_answer(9 * SECOND), None);
    assert_eq!(stores.list(9 * SECOND), status(true, begins, 1));
    stores.of(7).note_write(10 * SECOND);
    assert!(!is_down(10 * SECOND));
    assert_eq!(stores.of(7).note_answer(10 * SECOND), Some(10 * SECOND - begins));
    assert_eq!(stores.list(11 * SECOND), status(false, 10 * SECOND, 1));
}

#[test]
fn server_that_no_process_writes_to_counts_as_up_a_minute_after_it_refused() {
    let stores = Stores::default();
    stores.of(7).note_unwritable("no answer", 5 * SECOND);
    let is_down = |now| stores.list(now)[0].is_down;
    assert!(is_down(65 * SECOND - 1));
    assert!(!is_down(65 * SECOND));
    assert_eq!(stores.of(7).note_answer(65 * SECOND), Some(60 * SECOND));
}

#[test]
fn shortest_round_trip_of_the_last_minute_is_listed() {
    let (stores, ms) = (Stores::default(), Duration::from_millis);
    let listed = |now| stores.list(now)[0].round_trip;
    stores.of(7).note_answer(1);
    assert_eq!(listed(2), None);
    for (now, took, shortest) in
        [(2, 41, 41), (3, 40, 40), (MINUTE - 1, 45, 40), (MINUTE, 45, 45), (2 * MINUTE, 9, 9)]
    {
        stores.of(7).note_round_trip(ms(took), now);
        assert_eq!(listed(now), Some(ms(shortest)));
    }
    assert_eq!(listed(50 * MINUTE), Some(ms(9)));
}

#[test]
fn clock_that_is_behind_is_news_once_an_hour_and_listed_for_ten_minutes() {
    let (stores, s) = (Stores::default(), Duration::from_secs);
    let listed = |now| stores.list(now)[0].clock_behind;
    let note = |behind, now| stores.of(7).note_clock_behind(s(behind), now);
    stores.of(7).note_answer(5);
    assert!(note(3, 5));
    assert!(!note(2, 6), "another process");
    assert_eq!(
        (listed(7), listed(11 * MINUTE - 1), listed(11 * MINUTE)),
        (Some(s(3)), Some(s(3)), None)
    );
    assert!(!note(4, 60 * MINUTE));
    assert_eq!(listed(60 * MINUTE), Some(s(4)));
    assert!(note(4, 121 * MINUTE));
}
