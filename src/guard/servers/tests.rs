//! Records of servers: outages, their ends and what is forgotten.

use super::super::breakers::{Access, FailureMeaning};
use super::recent_time::MINUTE;
use super::*;

fn store(id: u64) -> StoreOnServers {
    StoreOnServers { id, breakers: 2, name: format!("Redis at {id}") }
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
    let (servers, breakers) = (Servers::default(), Breakers::default());
    assert_eq!(servers.note_answer(&store(7), &breakers, 5), None);
    assert_eq!(servers.list(&breakers, 6), status(false, 5, 0));
    for part in [0, 1] {
        assert_eq!(
            breakers.note_failure(Breakers::id(7, part), Access::Granted, 10, 10),
            FailureMeaning::OutageBegins
        );
        servers.note_down(&store(7), "Redis at 7: no answer", 10 + part);
    }
    assert_eq!(servers.list(&breakers, 12), status(true, 10, 1));
    breakers.note_success(Breakers::id(7, 0), Access::Probe, 5 * SECOND);
    assert_eq!(servers.note_answer(&store(7), &breakers, 7 * SECOND), None, "one is down");
    assert!(servers.list(&breakers, 7 * SECOND).iter().all(|server| server.is_down));
    breakers.note_success(Breakers::id(7, 1), Access::Probe, 8 * SECOND);
    assert_eq!(servers.list(&breakers, 8 * SECOND), status(false, 8 * SECOND, 1));
    assert_eq!(servers.note_answer(&store(7), &breakers, 9 * SECOND - 1), None, "too early");
    assert_eq!(servers.note_answer(&store(7), &breakers, 9 * SECOND), Some(8 * SECOND - 10));
    assert_eq!(servers.note_answer(&store(7), &breakers, 9 * SECOND), None);
    assert_eq!(servers.list(&breakers, 9 * SECOND), status(false, 8 * SECOND, 1));
}

#[test]
fn outages_that_begin_at_once_are_all_noted() {
    for _ in 0..200 {
        let (servers, barrier) = (Servers::default(), std::sync::Barrier::new(COUNT));
        std::thread::scope(|scope| {
            for id in 1..=COUNT as u64 {
                let (servers, barrier) = (&servers, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    servers.note_down(&store(id), "Redis at 7: no answer", 10);
                });
            }
        });
        let listed = servers.list(&Breakers::default(), 11);
        let outages: Vec<_> = listed.iter().map(|server| server.outages).collect();
        assert_eq!(outages, [1; COUNT]);
    }
}

#[test]
fn store_that_is_not_called_for_an_hour_is_not_listed() {
    let (servers, breakers) = (Servers::default(), Breakers::default());
    servers.note_down(&store(7), "Redis at 7: no answer", 5);
    assert_eq!(servers.list(&breakers, 5 + FORGOTTEN - 1).len(), 1);
    assert_eq!(servers.list(&breakers, 5 + FORGOTTEN), []);
    servers.note_answer(&store(7), &breakers, FORGOTTEN + 9);
    assert_eq!(servers.list(&breakers, FORGOTTEN + 10).len(), 1);
}

#[test]
fn store_that_is_down_is_listed_while_processes_call_it_and_for_five_minutes() {
    let (servers, breakers) = (Servers::default(), Breakers::default());
    let store = StoreOnServers { breakers: 1, ..store(7) };
    breakers.note_failure(Breakers::id(7, 0), Access::Granted, 10, 10);
    servers.note_down(&store, "Redis at 7: no answer", 10);
    let called_at = 600 * SECOND;
    servers.note_call(8, called_at);
    assert_eq!(servers.list(&breakers, 10 + FORGOTTEN_DOWN - 1), status(true, 10, 1));
    assert_eq!(servers.list(&breakers, 10 + FORGOTTEN_DOWN), [], "no process calls it");
    servers.note_call(7, called_at);
    let until = called_at + FORGOTTEN_DOWN;
    assert_eq!(servers.list(&breakers, until - 1), status(true, 10, 1), "the same outage");
    assert_eq!(servers.list(&breakers, until), []);
}

#[test]
fn store_that_no_process_can_ask_is_down_until_one_is_answered() {
    let (servers, breakers) = (Servers::default(), Breakers::default());
    let is_down = |now| servers.list(&breakers, now).iter().any(|server| server.is_down);
    servers.note_answer(&store(7), &breakers, SECOND);
    servers.note_unable(&store(7), "Redis at 7: no right", 2 * SECOND);
    assert!(!is_down(2 * SECOND), "others were answered a moment ago");
    servers.note_unable(&store(7), "Redis at 7: no right", 4 * SECOND);
    let listed = servers.list(&breakers, 4 * SECOND);
    assert_eq!(
        listed.iter().map(|it| (it.is_down, it.since)).collect::<Vec<_>>(),
        [(true, SECOND)]
    );
    servers.note_answer(&store(7), &breakers, 5 * SECOND);
    assert!(!is_down(5 * SECOND));
}

#[test]
fn store_that_is_forgotten_is_listed_again_after_a_call() {
    let (servers, breakers) = (Servers::default(), Breakers::default());
    servers.note_answer(&store(7), &breakers, 5);
    assert!(!servers.forget("Redis at 8"));
    assert!(servers.forget("Redis at 7"));
    assert_eq!(servers.list(&breakers, 6), []);
    assert!(!servers.forget("Redis at 7"), "it is forgotten already");
    servers.note_call(7, 8);
    assert_eq!(servers.list(&breakers, 9), status(false, 5, 0));
}

#[test]
fn further_store_takes_the_record_not_used_for_longest() {
    let (servers, breakers) = (Servers::default(), Breakers::default());
    for id in 1..=COUNT as u64 {
        servers.note_answer(&store(id), &breakers, 100 + id);
    }
    servers.note_answer(&store(1), &breakers, 900);
    servers.note_answer(&store(99), &breakers, 901);
    let listed = servers.list(&breakers, 902);
    let has = |id| listed.iter().any(|server| server.name == store(id).name);
    assert_eq!((listed.len(), has(99), has(1), has(2)), (COUNT, true, true, false));
}

#[test]
fn stores_of_one_name_are_one() {
    let (servers, breakers) = (Servers::default(), Breakers::default());
    let login = |id| StoreOnServers { id, ..store(7) };
    servers.note_answer(&login(7), &breakers, 5);
    breakers.note_failure(Breakers::id(8, 0), Access::Granted, 10, 10);
    servers.note_down(&login(8), "Redis at 7: no answer", 10);
    assert_eq!(servers.list(&breakers, 11), status(true, 10, 1));
}

#[test]
fn server_that_is_up_is_listed_for_an_hour_and_one_that_is_down_for_five_minutes() {
    const MINUTE: u64 = 60_000_000_000;
    let (servers, breakers) = (Servers::default(), Breakers::default());
    servers.note_answer(&store(7), &breakers, MINUTE);
    assert_eq!(servers.list(&breakers, 61 * MINUTE - 1).len(), 1);
    assert_eq!(servers.list(&breakers, 61 * MINUTE), []);
    breakers.note_failure(Breakers::id(7, 0), Access::Granted, MINUTE, MINUTE);
    assert_eq!(servers.list(&breakers, 6 * MINUTE - 1).len(), 1);
    assert_eq!(servers.list(&breakers, 6 * MINUTE), []);
}

#[test]
fn names_and_reasons_are_cut() {
    let (servers, breakers) = (Servers::default(), Breakers::default());
    let store = StoreOnServers { name: "n".repeat(300), ..store(7) };
    servers.note_down(&store, &"r".repeat(300), 5);
    let [listed] = <[_; 1]>::try_from(servers.list(&breakers, 6)).unwrap();
    assert_eq!((listed.name, listed.last_failure), ("n".repeat(96), Some("r".repeat(240))));
}

#[test]
fn record_of_a_forgotten_store_is_kept_while_others_were_never_used() {
    let (servers, breakers) = (Servers::default(), Breakers::default());
    servers.note_answer(&store(7), &breakers, 5);
    assert!(servers.forget(&store(7).name));
    servers.note_answer(&store(8), &breakers, 6);
    servers.note_call(7, 7);
    assert_eq!(servers.list(&breakers, 8).len(), 2);
}

#[test]
fn store_that_takes_the_record_of_another_begins_without_outages() {
    let (servers, breakers) = (Servers::default(), Breakers::default());
    servers.note_answer(&store(1), &breakers, SECOND);
    servers.note_unable(&store(1), "no right", 9 * SECOND);
    servers.note_down(&store(1), "no answer", 9 * SECOND);
    servers.note_unwritable(&store(1), "a replica", 9 * SECOND);
    let now = 10 * SECOND;
    (2..=COUNT as u64 + 1).for_each(|id| _ = servers.note_answer(&store(id), &breakers, now));
    let listed = servers.list(&breakers, now);
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
        let (servers, breakers) = (Servers::default(), Breakers::default());
        let [gone, other] = [0, 1].map(|node| Breakers::id(7, node));
        breakers.note_failure(gone, Access::Granted, SECOND, SECOND);
        servers.note_down(&store(7), "no answer", 10 * SECOND);
        if let Some(at) = recovers_at {
            breakers.note_failure(other, Access::Granted, SECOND, SECOND);
            breakers.note_success(other, Access::Probe, at);
        }
        let now = 100 * SECOND;
        let since = if is_down { 10 * SECOND } else { 20 * SECOND };
        let listed: Vec<_> =
            servers.list(&breakers, now).iter().map(|it| (it.is_down, it.since)).collect();
        assert_eq!(listed, [(is_down, since)]);
        let outage = servers.end_outage(&store(7), &breakers, now);
        assert_eq!(outage, (!is_down).then_some(10 * SECOND));
    }
}

#[test]
fn outage_that_no_process_has_noted_begins_now() {
    let (servers, breakers) = (Servers::default(), Breakers::default());
    servers.note_answer(&store(7), &breakers, 5);
    breakers.note_failure(Breakers::id(7, 0), Access::Granted, 10, 10);
    assert_eq!(servers.list(&breakers, 12), status(true, 12, 0));
}

#[test]
fn store_counts_as_down_for_five_minutes_after_a_process_could_not_ask_it() {
    // Answers are noted to about two seconds.
    for (later, is_down) in [(2 * SECOND, false), (2 * SECOND + 1, true)] {
        let (servers, breakers) = (Servers::default(), Breakers::default());
        let unable_at = 5 * SECOND + later;
        servers.note_answer(&store(7), &breakers, 5 * SECOND);
        servers.note_unable(&store(7), "no right", unable_at);
        let is_down_at = |now| servers.list(&breakers, now).iter().any(|server| server.is_down);
        assert_eq!(is_down_at(unable_at), is_down);
        assert_eq!(is_down_at(unable_at + FORGOTTEN_DOWN - 1), is_down);
        assert!(!is_down_at(unable_at + FORGOTTEN_DOWN));
        assert_eq!(servers.list(&breakers, unable_at + FORGOTTEN_DOWN).len(), 1);
    }
}

#[test]
fn server_that_must_not_be_written_to_is_an_outage_once_no_process_has_written_for_two_seconds() {
    let (servers, breakers) = (Servers::default(), Breakers::default());
    servers.note_answer(&store(7), &breakers, 5 * SECOND);
    servers.note_write(&store(7), 5 * SECOND);
    assert!(!servers.note_unwritable(&store(7), "Redis at 7: no answer", 7 * SECOND));
    let is_down = |now| servers.list(&breakers, now)[0].is_down;
    assert!(!is_down(7 * SECOND));
    let begins = 7 * SECOND + 1;
    assert!(servers.note_unwritable(&store(7), "Redis at 7: no answer", begins));
    assert!(!servers.note_unwritable(&store(7), "Redis at 7: no answer", begins + 1), "once");
    // A limited client is answered.
    assert_eq!(servers.note_answer(&store(7), &breakers, 9 * SECOND), None);
    assert_eq!(servers.list(&breakers, 9 * SECOND), status(true, begins, 1));
    servers.note_write(&store(7), 10 * SECOND);
    assert!(!is_down(10 * SECOND));
    assert_eq!(servers.note_answer(&store(7), &breakers, 10 * SECOND), Some(10 * SECOND - begins));
    assert_eq!(servers.list(&breakers, 11 * SECOND), status(false, 10 * SECOND, 1));
}

#[test]
fn server_that_no_process_writes_to_counts_as_up_a_minute_after_it_refused() {
    let (servers, breakers) = (Servers::default(), Breakers::default());
    servers.note_unwritable(&store(7), "no answer", 5 * SECOND);
    let is_down = |now| servers.list(&breakers, now)[0].is_down;
    assert!(is_down(65 * SECOND - 1));
    assert!(!is_down(65 * SECOND));
    assert_eq!(servers.note_answer(&store(7), &breakers, 65 * SECOND), Some(60 * SECOND));
}

#[test]
fn shortest_round_trip_of_the_last_minute_is_listed() {
    let (servers, breakers, ms) = (Servers::default(), Breakers::default(), Duration::from_millis);
    let listed = |now| servers.list(&breakers, now)[0].round_trip;
    servers.note_answer(&store(7), &breakers, 1);
    assert_eq!(listed(2), None);
    for (now, took, shortest) in
        [(2, 41, 41), (3, 40, 40), (MINUTE - 1, 45, 40), (MINUTE, 45, 45), (2 * MINUTE, 9, 9)]
    {
        servers.note_round_trip(&store(7), ms(took), now);
        assert_eq!(listed(now), Some(ms(shortest)));
    }
    assert_eq!(listed(50 * MINUTE), Some(ms(9)));
}

#[test]
fn clock_that_is_behind_is_news_once_an_hour_and_listed_for_ten_minutes() {
    let (servers, breakers, s) = (Servers::default(), Breakers::default(), Duration::from_secs);
    let listed = |now| servers.list(&breakers, now)[0].clock_behind;
    let note = |behind, now| servers.note_clock_behind(&store(7), s(behind), now);
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
