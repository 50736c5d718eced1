//! Records of servers: outages, their ends and what is forgotten.

use super::super::breakers::{Access, FailureMeaning};
use super::*;

fn store(id: u64) -> StoreOnServers {
    StoreOnServers { id, breakers: 2, name: format!("Redis at {id}") }
}

fn status(is_down: bool, since: u64, outages: u64) -> Vec<ServerStatus> {
    let last_failure = (outages > 0).then(|| "no answer".to_owned());
    vec![ServerStatus { name: "Redis at 7".to_owned(), is_down, since, outages, last_failure }]
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
