//! Breakers: when they open, which process probes, and what closes them.

mod stalls;

use super::*;

/// Notes a failure of a call that was sent at the time of its failure. Returns whether an outage begins.
fn begins_outage(breaker: &Breaker, now: u64) -> bool {
    breaker.note_failure(Access::Granted, now, now) == FailureMeaning::OutageBegins
}

/// A breaker for server 7, which is down since the time 5.
fn down() -> Breaker {
    let breaker = Breaker::default();
    breaker.note_failure(Access::Granted, 5, 5);
    breaker
}

/// The pause of about a second that begins at `now`.
fn second(now: u64) -> u64 {
    pause(MOST_FAILURES, 0, now)
}

/// Whether a failure at `now` of a call on server 7 that was sent at `sent` may concern this call alone.
fn fails_alone(breaker: &Breaker, sent: u64, now: u64) -> bool {
    breaker.note_failure(Access::Granted, sent, now) == FailureMeaning::CallAlone
}

#[test]
fn one_call_notes_an_outage_and_one_call_probes() {
    let breaker = Breaker::default();
    assert_eq!(breaker.access(5, 0), Access::Granted);
    assert!(begins_outage(&breaker, 5));
    assert!(!begins_outage(&breaker, 6), "the second failure is of the same outage");
    let Access::Denied { until } = breaker.access(7, 0) else { panic!("the breaker is open") };
    assert_eq!(until, 5 + second(5));
    assert_eq!(breaker.access(until, 0), Access::Probe);
    assert!(matches!(breaker.access(until, 0), Access::Denied { .. }));
    assert!(!begins_outage(&breaker, until), "the same outage");
    breaker.note_success(Access::Probe, until);
    assert_eq!(breaker.access(until + 1, 0), Access::Granted);
    assert!(begins_outage(&breaker, until + RELAPSE), "a new outage");
}

#[test]
fn first_failure_opens_the_breaker_after_a_second_without_an_answer_and_no_newcomers_before() {
    let (early, late) = (SECOND + 2 * SHORTEST_SILENCE, SECOND + LONG_SILENCE);
    for access in [Access::Newcomer, Access::Granted] {
        let breaker = Breaker::default();
        breaker.note_success(Access::Granted, SECOND);
        let fails = |sent, now| breaker.note_failure(access, sent, now);
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
    let breaker = down();
    let now = 2 * SECOND;
    assert_eq!(breaker.access(now, 2 * SECOND), Access::Probe);
    let later = now + 2 * SECOND - 1;
    breaker.note_failure(Access::Granted, now - 1, now + 1);
    assert!(matches!(breaker.access(later, 2 * SECOND), Access::Denied { .. }));
    breaker.note_success(Access::Probe, later);
    assert_eq!(breaker.access(later, 2 * SECOND), Access::Granted);
}

#[test]
fn probe_of_a_process_that_was_killed_keeps_others_for_three_seconds_at_most() {
    let breaker = down();
    let now = 2 * SECOND;
    assert_eq!(breaker.access(now, 60 * SECOND), Access::Probe);
    assert_eq!(breaker.access(now + LONGEST_PROBE, 60 * SECOND), Access::Probe);
}

#[test]
fn process_that_is_connected_closes_what_others_that_cannot_connect_keep_open() {
    let breaker = down();
    let now = SECOND / 2;
    assert!(matches!(breaker.access(now, 0), Access::Denied { .. }));
    assert!(breaker.may_try_connection(now));
    breaker.note_failure(Access::Connected, now, now);
    assert!(!breaker.may_try_connection(now + BETWEEN_TRIES - 1));
    assert!(breaker.may_try_connection(now + BETWEEN_TRIES));
    assert_eq!(breaker.access(2 * SECOND, 0), Access::Probe, "no pause is longer for it");
    assert!(breaker.may_try_connection(2 * SECOND));
    breaker.note_success(Access::Connected, 2 * SECOND);
    assert_eq!(breaker.access(2 * SECOND, 0), Access::Granted);
}

#[test]
fn answer_to_a_call_sent_before_the_outage_does_not_end_it() {
    let breaker = Breaker::default();
    let access = breaker.access(4, 0);
    assert!(begins_outage(&breaker, 5));
    breaker.note_success(access, 6);
    assert!(matches!(breaker.access(7, 0), Access::Denied { .. }));
}

#[test]
fn probe_that_was_given_back_goes_to_the_next_call() {
    let breaker = down();
    let now = 2 * SECOND;
    let access = breaker.access(now, 0);
    assert_eq!(access, Access::Probe);
    breaker.give_back(access, now + 5);
    assert_eq!(breaker.access(now + 5, 0), Access::Probe);
    breaker.give_back(Access::Granted, now + 5);
    assert!(matches!(breaker.access(now + 6, 0), Access::Denied { .. }));
}

#[test]
fn failure_soon_after_a_success_is_the_same_outage() {
    let breaker = Breaker::default();
    assert!(begins_outage(&breaker, 5));
    let mut now = 2 * SECOND;
    breaker.note_success(breaker.access(now, 0), now);
    assert_eq!(breaker.access(now, 0), Access::Granted);
    assert!(!begins_outage(&breaker, now + RELAPSE - 1));
    now = 5 * SECOND;
    breaker.note_success(breaker.access(now, 0), now);
    assert!(begins_outage(&breaker, now + RELAPSE), "another outage");
}

/// Breakers of a server that has just answered at the time returned.
fn answered() -> (Breaker, u64) {
    let (breaker, now) = (Breaker::default(), 100 * SECOND);
    breaker.note_success(Access::Granted, now);
    (breaker, now)
}

const TIMEOUT: u64 = 50_000_000;

#[test]
fn second_failure_without_an_answer_between_opens_the_breaker() {
    // A call that begins after the first has failed, and one that was on its way beside it.
    for later in [TIMEOUT, 1_000] {
        let (breaker, sent) = answered();
        let failed = sent + TIMEOUT;
        let fails = |sent, now| breaker.note_failure(Access::Granted, sent, now);
        assert_eq!(fails(sent, failed), FailureMeaning::CallAlone);
        assert_eq!(breaker.access(failed, 0), Access::Granted);
        assert_eq!(fails(sent + later, failed + later), FailureMeaning::Stall);
        assert_eq!(breaker.access(failed + later, 0), Access::Probe, "the next call probes");
        assert!(matches!(breaker.access(failed + later, 0), Access::Denied { .. }));
    }
}

#[test]
fn failure_between_answers_opens_nothing() {
    let (breaker, mut now) = answered();
    for _ in 0..1_000 {
        assert!(fails_alone(&breaker, now, now + TIMEOUT));
        now += TIMEOUT + 1;
        breaker.note_success(Access::Granted, now);
    }
    assert_eq!(breaker.access(now, 0), Access::Granted);
}

#[test]
fn processes_refused_at_one_moment_open_nothing() {
    let (breaker, mut now) = answered();
    for _ in 0..100 {
        for _ in 0..10 {
            now += 10_000;
            assert!(fails_alone(&breaker, now - 9_000, now));
        }
        breaker.note_success(Access::Granted, now + 1);
    }
}

#[test]
fn server_that_no_process_asks_for_a_minute_is_not_known_to_be_down() {
    let breaker = down();
    let until = 5 + second(5);
    assert_eq!(breaker.state(until + ABANDONED - 1), ServerState::Down);
    assert_eq!(breaker.state(until + ABANDONED), ServerState::Unknown);
}

#[test]
fn failed_probe_ends_although_its_call_might_have_taken_longer() {
    let breaker = down();
    let now = 2 * SECOND;
    assert_eq!(breaker.access(now, 3 * SECOND), Access::Probe);
    breaker.note_failure(Access::Probe, now, now + 1);
    assert_eq!(breaker.access(now + 1 + second(now + 1), 0), Access::Probe);
}

#[test]
fn late_failure_of_a_call_sent_before_the_outage_changes_no_pause() {
    let breaker = down();
    breaker.note_failure(Access::Granted, 4, SECOND / 2);
    assert_eq!(breaker.access(5 + second(5), 0), Access::Probe);
}

#[test]
fn answer_a_moment_after_another_counts_if_a_call_failed_between() {
    let (breaker, now) = answered();
    assert!(fails_alone(&breaker, now, now + 1_000));
    breaker.note_success(Access::Granted, now + 2_000);
    assert!(fails_alone(&breaker, now + 3_000, now + 3_000 + TIMEOUT));
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
