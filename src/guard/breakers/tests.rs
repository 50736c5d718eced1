//! Breakers: when they open, which process probes, and what closes them.

mod stalls;

use super::*;

/// Notes a failure of a call that was sent at the time of its failure. Returns whether an outage begins.
fn begins_outage(breakers: &Breakers, id: u64, now: u64) -> bool {
    breakers.note_failure(id, Access::Granted, now, now) == FailureMeaning::OutageBegins
}

/// A breaker for server 7, which is down since the time 5.
fn down() -> Breakers {
    let breakers = Breakers::default();
    breakers.note_failure(7, Access::Granted, 5, 5);
    breakers
}

/// The pause of about a second that begins at `now`.
fn second(now: u64) -> u64 {
    pause(MOST_FAILURES, 0, now)
}

/// Whether a failure at `now` of a call on server 7 that was sent at `sent` may concern this call alone.
fn fails_alone(breakers: &Breakers, sent: u64, now: u64) -> bool {
    breakers.note_failure(7, Access::Granted, sent, now) == FailureMeaning::CallAlone
}

#[test]
fn answers_are_noted_although_each_breaker_had_a_server_a_moment_ago() {
    let breakers = Breakers::default();
    let servers = || 1..=COUNT as u64;
    servers().for_each(|id| breakers.note_success(id, Access::Granted, SECOND));
    let (id, now) = (1_000, SECOND + LONG_SILENCE);
    breakers.note_success(id, Access::Granted, now);
    assert!(!begins_outage(&breakers, id, now + 1));
    assert_eq!(servers().filter(|id| breakers.find(*id).is_none()).count(), 1);
    breakers.note_success(2_000, Access::Granted, now);
    servers().skip(1).for_each(|id| breakers.note_success(id, Access::Granted, now));
    assert!(breakers.find(id).is_some(), "a server that has just answered keeps its breaker");
}

#[test]
fn one_call_notes_an_outage_and_one_call_probes() {
    let breakers = Breakers::default();
    assert_eq!(breakers.access(7, 5, 0), Access::Granted);
    assert!(begins_outage(&breakers, 7, 5));
    assert!(!begins_outage(&breakers, 7, 6), "the second failure is of the same outage");
    let Access::Denied { until } = breakers.access(7, 7, 0) else { panic!("the breaker is open") };
    assert_eq!(until, 5 + second(5));
    assert_eq!(
        breakers.access(8, 7, 0),
        Access::Granted,
        "another server has a breaker of its own"
    );
    assert_eq!(breakers.access(7, until, 0), Access::Probe);
    assert!(matches!(breakers.access(7, until, 0), Access::Denied { .. }));
    assert!(!begins_outage(&breakers, 7, until), "the same outage");
    breakers.note_success(7, Access::Probe, until);
    assert_eq!(breakers.access(7, until + 1, 0), Access::Granted);
    assert!(begins_outage(&breakers, 7, until + RELAPSE), "a new outage");
}

#[test]
fn first_failure_opens_the_breaker_after_a_second_without_an_answer_and_no_newcomers_before() {
    let (early, late) = (SECOND + 2 * SHORTEST_SILENCE, SECOND + LONG_SILENCE);
    for access in [Access::Newcomer, Access::Granted] {
        let breakers = Breakers::default();
        breakers.note_success(7, Access::Granted, SECOND);
        let fails = |sent, now| breakers.note_failure(7, access, sent, now);
        if access == Access::Newcomer {
            for now in (early..early + 9).chain([late - 1]) {
                assert_eq!(fails(SECOND, now), FailureMeaning::CallAlone);
            }
        }
        assert_eq!(fails(late, late), FailureMeaning::OutageBegins);
    }
}

#[test]
fn probe_lasts_as_long_as_its_call_may_take() {
    let breakers = down();
    let now = 2 * SECOND;
    assert_eq!(breakers.access(7, now, 2 * SECOND), Access::Probe);
    let later = now + 2 * SECOND - 1;
    breakers.note_failure(7, Access::Granted, now - 1, now + 1);
    assert!(matches!(breakers.access(7, later, 2 * SECOND), Access::Denied { .. }));
    breakers.note_success(7, Access::Probe, later);
    assert_eq!(breakers.access(7, later, 2 * SECOND), Access::Granted);
}

#[test]
fn probe_of_a_process_that_was_killed_keeps_others_for_three_seconds_at_most() {
    let breakers = down();
    let now = 2 * SECOND;
    assert_eq!(breakers.access(7, now, 60 * SECOND), Access::Probe);
    assert_eq!(breakers.access(7, now + LONGEST_PROBE, 60 * SECOND), Access::Probe);
}

#[test]
fn process_that_is_connected_closes_what_others_that_cannot_connect_keep_open() {
    let breakers = down();
    let now = SECOND / 2;
    assert!(matches!(breakers.access(7, now, 0), Access::Denied { .. }));
    assert!(breakers.may_try_connection(7, now));
    breakers.note_failure(7, Access::Connected, now, now);
    assert!(!breakers.may_try_connection(7, now + BETWEEN_TRIES - 1));
    assert!(breakers.may_try_connection(7, now + BETWEEN_TRIES));
    assert_eq!(breakers.access(7, 2 * SECOND, 0), Access::Probe, "no pause is longer for it");
    assert!(breakers.may_try_connection(7, 2 * SECOND));
    breakers.note_success(7, Access::Connected, 2 * SECOND);
    assert_eq!(breakers.access(7, 2 * SECOND, 0), Access::Granted);
}

#[test]
fn answer_to_a_call_sent_before_the_outage_does_not_end_it() {
    let breakers = Breakers::default();
    let access = breakers.access(7, 4, 0);
    assert!(begins_outage(&breakers, 7, 5));
    breakers.note_success(7, access, 6);
    assert!(matches!(breakers.access(7, 7, 0), Access::Denied { .. }));
}

#[test]
fn probe_that_was_given_back_goes_to_the_next_call() {
    let breakers = down();
    let now = 2 * SECOND;
    let access = breakers.access(7, now, 0);
    assert_eq!(access, Access::Probe);
    breakers.give_back(7, access, now + 5);
    assert_eq!(breakers.access(7, now + 5, 0), Access::Probe);
    breakers.give_back(7, Access::Granted, now + 5);
    assert!(matches!(breakers.access(7, now + 6, 0), Access::Denied { .. }));
}

#[test]
fn failure_soon_after_a_success_is_the_same_outage() {
    let breakers = Breakers::default();
    assert!(begins_outage(&breakers, 7, 5));
    let mut now = 2 * SECOND;
    breakers.note_success(7, breakers.access(7, now, 0), now);
    assert_eq!(breakers.access(7, now, 0), Access::Granted);
    assert!(!begins_outage(&breakers, 7, now + RELAPSE - 1));
    now = 5 * SECOND;
    breakers.note_success(7, breakers.access(7, now, 0), now);
    assert!(begins_outage(&breakers, 7, now + RELAPSE), "another outage");
}

/// Breakers of a server that has just answered at the time returned.
fn answered() -> (Breakers, u64) {
    let (breakers, now) = (Breakers::default(), 100 * SECOND);
    breakers.note_success(7, Access::Granted, now);
    (breakers, now)
}

const TIMEOUT: u64 = 50_000_000;

#[test]
fn second_failure_without_an_answer_between_opens_the_breaker() {
    // A call that begins after the first has failed, and one that was on its way beside it.
    for later in [TIMEOUT, 1_000] {
        let (breakers, sent) = answered();
        let failed = sent + TIMEOUT;
        let fails = |sent, now| breakers.note_failure(7, Access::Granted, sent, now);
        assert_eq!(fails(sent, failed), FailureMeaning::CallAlone);
        assert_eq!(breakers.access(7, failed, 0), Access::Granted);
        assert_eq!(fails(sent + later, failed + later), FailureMeaning::Stall);
        assert_eq!(breakers.access(7, failed + later, 0), Access::Probe, "the next call probes");
        assert!(matches!(breakers.access(7, failed + later, 0), Access::Denied { .. }));
    }
}

#[test]
fn failure_between_answers_opens_nothing() {
    let (breakers, mut now) = answered();
    for _ in 0..1_000 {
        assert!(fails_alone(&breakers, now, now + TIMEOUT));
        now += TIMEOUT + 1;
        breakers.note_success(7, Access::Granted, now);
    }
    assert_eq!(breakers.access(7, now, 0), Access::Granted);
}

#[test]
fn processes_refused_at_one_moment_open_nothing() {
    let (breakers, mut now) = answered();
    for _ in 0..100 {
        for _ in 0..10 {
            now += 10_000;
            assert!(fails_alone(&breakers, now - 9_000, now));
        }
        breakers.note_success(7, Access::Granted, now + 1);
    }
}

#[test]
fn breaker_of_a_server_that_is_up_is_reused() {
    let breakers = Breakers::default();
    for id in 1..1_000 {
        assert!(begins_outage(&breakers, id, 1));
        breakers.note_success(id, Access::Probe, 1);
    }
    assert_eq!(breakers.count_open(1), 0);
    for id in 1..=COUNT as u64 {
        breakers.note_failure(id, Access::Granted, 1, 1);
    }
    assert_eq!(breakers.count_open(1), COUNT);
    assert!(
        begins_outage(&breakers, 9_999, 1),
        "without a breaker each call finds the server down"
    );
    assert_eq!(breakers.access(9_999, 2, 0), Access::Granted);
    // All but one are probed again; that one is replaced.
    let now = 2 * SECOND;
    for id in (1..=COUNT as u64).filter(|id| *id != 17) {
        assert_eq!(breakers.access(id, now, 0), Access::Probe);
    }
    assert!(begins_outage(&breakers, 9_999, now));
    assert!(!begins_outage(&breakers, 9_999, now), "noted once");
    assert!(matches!(breakers.access(9_999, now, 0), Access::Denied { .. }));
    assert_eq!(breakers.access(17, now, 0), Access::Granted);
}

/// A breaker for each of so many servers, all of which are down since the time 1. Returns when each may be probed.
fn all_in_use() -> (Breakers, u64) {
    let breakers = Breakers::default();
    (1..=COUNT as u64).for_each(|id| _ = breakers.note_failure(id, Access::Granted, 1, 1));
    (breakers, 1 + second(1))
}

/// The server whose breaker another one takes.
const FURTHER: u64 = 9_999;

#[test]
fn breaker_of_a_server_that_is_down_is_not_given_away() {
    let (breakers, until) = all_in_use();
    breakers.note_success(FURTHER, Access::Granted, 2);
    breakers.note_success(FURTHER, Access::Granted, until + LONG_SILENCE - 1);
    assert!(breakers.find(FURTHER).is_none(), "its answers are not noted");
    assert!(begins_outage(&breakers, FURTHER, until));
    assert!(breakers.find(FURTHER).is_none(), "all may only just be probed");
    assert_eq!(breakers.count_open(until), COUNT);
    breakers.note_success(FURTHER, Access::Granted, until + LONG_SILENCE);
    assert!(breakers.find(FURTHER).is_some(), "no process has probed for a second");
}

/// Another server that prefers the breaker of server 7.
const NEIGHBOR: u64 = 7 + COUNT as u64;

#[test]
fn servers_get_breakers_that_were_never_used_while_there_are_any() {
    for now in [SECOND, 100 * SECOND] {
        let breakers = Breakers::default();
        breakers.note_success(7, Access::Granted, now);
        breakers.note_success(NEIGHBOR, Access::Granted, now + LONG_SILENCE);
        assert!([7, NEIGHBOR].iter().all(|id| breakers.find(*id).is_some()));
    }
}

#[test]
fn breaker_of_a_server_that_is_down_stays_its_own_although_it_last_answered_a_minute_ago() {
    let (breakers, answered_at) = answered();
    let now = answered_at + ABANDONED + 1;
    assert!(begins_outage(&breakers, 7, now));
    assert!(begins_outage(&breakers, NEIGHBOR, now));
    assert_eq!((breakers.state(7, now), breakers.count_open(now)), (ServerState::Down, 2));
}

#[test]
fn server_without_an_answer_for_more_than_a_minute_is_forgotten_first() {
    for (silence, is_forgotten) in [(ABANDONED, false), (ABANDONED + 1, true)] {
        let (breakers, _) = all_in_use();
        let (silent, now) = (COUNT as u64 / 2, 1_000 * SECOND);
        for id in 1..=COUNT as u64 {
            breakers.note_success(
                id,
                Access::Probe,
                if id == silent { now - silence } else { now - 2 * SECOND },
            );
        }
        breakers.note_success(FURTHER, Access::Granted, now);
        assert!(breakers.find(FURTHER).is_some());
        assert_eq!(breakers.find(silent).is_none(), is_forgotten);
    }
}

#[test]
fn server_that_no_process_asks_for_a_minute_is_not_known_to_be_down() {
    let breakers = down();
    let until = 5 + second(5);
    assert_eq!(breakers.state(7, until + ABANDONED - 1), ServerState::Down);
    assert_eq!(breakers.count_open(until + ABANDONED - 1), 1);
    assert_eq!(breakers.state(7, until + ABANDONED), ServerState::Unknown);
    assert_eq!(breakers.count_open(until + ABANDONED), 0);
}

#[test]
fn failed_probe_ends_although_its_call_might_have_taken_longer() {
    let breakers = down();
    let now = 2 * SECOND;
    assert_eq!(breakers.access(7, now, 3 * SECOND), Access::Probe);
    breakers.note_failure(7, Access::Probe, now, now + 1);
    assert_eq!(breakers.access(7, now + 1 + second(now + 1), 0), Access::Probe);
}

#[test]
fn late_failure_of_a_call_sent_before_the_outage_changes_no_pause() {
    let breakers = down();
    breakers.note_failure(7, Access::Granted, 4, SECOND / 2);
    assert_eq!(breakers.access(7, 5 + second(5), 0), Access::Probe);
}

#[test]
fn answer_a_moment_after_another_counts_if_a_call_failed_between() {
    let (breakers, now) = answered();
    assert!(fails_alone(&breakers, now, now + 1_000));
    breakers.note_success(7, Access::Granted, now + 2_000);
    assert!(fails_alone(&breakers, now + 3_000, now + 3_000 + TIMEOUT));
}

#[test]
fn pauses_are_spread_by_a_tenth() {
    for (failures, expected) in [(1, TIMEOUT), (2, 2 * TIMEOUT), (MOST_FAILURES, SECOND)] {
        let at = |i: u64| pause(failures, TIMEOUT, 1_000 * SECOND + i * 17_000_003);
        let pauses: Vec<_> = (0..100).map(at).collect();
        let (shortest, longest) = (*pauses.iter().min().unwrap(), *pauses.iter().max().unwrap());
        assert!(shortest >= expected * 9 / 10 && longest < expected * 11 / 10);
        assert!(longest - shortest > expected / 10);
    }
}
