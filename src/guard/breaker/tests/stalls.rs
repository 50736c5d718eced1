//! Stalls: how soon a server that answered a moment ago is asked again, and how seldom one that stays silent.

use super::*;

const MS: u64 = 1_000_000;

/// Workers that call a server without a pause between their calls, as many as fit. The server is silent from the time zero on, and
/// answers all that waits when it is back.
struct Workers {
    breaker: Breaker,
    /// When each worker's call ends, how it asks, and when it was sent; none for a worker that makes its next call at that time.
    calls: Vec<(u64, Option<(Access, u64)>)>,
    waited: u32,
    by_policy: u32,
}

/// The time between two calls of a worker.
const BETWEEN: u64 = 10 * MS;

impl Workers {
    /// So many workers of a host, whose server answered them until now.
    fn new(breaker: Breaker, count: u64, now: u64) -> Self {
        breaker.note_success(Access::Granted, now);
        let calls = (0..count).map(|i| (now + i * BETWEEN / count, None)).collect();
        Self { breaker, calls, waited: 0, by_policy: 0 }
    }

    /// Lets time pass until `end`. The server answers from `back` on.
    fn run(&mut self, back: u64, end: u64) {
        while let Some((time, call)) = self.calls.iter_mut().min_by_key(|(time, _)| *time) {
            let now = *time;
            if now >= end {
                return;
            }
            match call.take() {
                Some((access, sent)) if now - sent < TIMEOUT => {
                    self.breaker.note_success(access, now);
                    *time = now + BETWEEN;
                }
                Some((access, sent)) => {
                    self.breaker.note_failure(access, sent, now);
                    self.waited += 1;
                    *time = now + BETWEEN;
                }
                None => match self.breaker.access(now, 3 * TIMEOUT) {
                    Access::Denied { .. } => {
                        self.by_policy += 1;
                        *time = now + BETWEEN;
                    }
                    access => {
                        *call = Some((access, now));
                        *time = (now + TIMEOUT).min(back.max(now + MS / 10));
                    }
                },
            }
        }
    }
}

/// Breakers of a server that answers, and has not failed before; and the time.
fn fresh() -> (Breaker, u64) {
    (Breaker::default(), 1_000 * SECOND)
}

#[test]
fn server_that_is_dead_costs_a_host_four_calls_more_than_those_on_their_way() {
    for workers in [1, 2, 20, 100] {
        let (breaker, now) = fresh();
        let mut host = Workers::new(breaker, workers, now);
        host.run(u64::MAX, now + SECOND);
        // A worker that is alone finds out by its second call.
        let on_their_way = workers.max(2) as u32;
        assert!(host.waited <= on_their_way + 4, "{} calls of {workers} workers", host.waited);
        assert!(host.by_policy > 20);
        let before = host.waited;
        host.run(u64::MAX, now + 11 * SECOND);
        assert!(host.waited - before <= 11, "one a second");
    }
}

#[test]
fn calls_flow_when_a_stall_is_over() {
    for stall in [60, 75, 100, 110, 150, 200] {
        let (breaker, now) = fresh();
        let mut host = Workers::new(breaker, 20, now);
        let back = now + stall * MS;
        host.run(back, back + TIMEOUT);
        let lost = host.waited + host.by_policy;
        host.run(back, back + SECOND);
        assert_eq!(host.waited + host.by_policy, lost, "a stall of {stall} ms");
    }
}

#[test]
fn first_probe_waits_for_the_end_of_a_stall() {
    for stall in [75, 100] {
        let (breaker, now) = fresh();
        let mut host = Workers::new(breaker, 20, now);
        let back = now + stall * MS;
        host.run(back, back + 15 * MS);
        let lost = host.waited + host.by_policy;
        host.run(back, back + SECOND);
        assert_eq!(host.waited + host.by_policy, lost, "a stall of {stall} ms");
    }
}

#[test]
fn stall_after_another_one_costs_each_worker_one_call_as_a_plain_client() {
    for stall in [60, 75, 100] {
        let (breaker, now) = fresh();
        let mut host = Workers::new(breaker, 20, now);
        host.run(now + stall * MS, now + SECOND);
        let mut now = now + SECOND;
        // More than one in a second, too, until the first one is forgotten.
        while now < 1_000 * SECOND + PATIENCE - SECOND {
            let lost = host.waited + host.by_policy;
            host.run(now + stall * MS, now + SECOND / 2);
            assert!(host.waited + host.by_policy - lost <= 20, "a stall of {stall} ms");
            now += SECOND / 2;
        }
        assert!(matches!(host.breaker.state(now), ServerState::Up { .. }));
    }
}

#[test]
fn stall_that_is_over_before_the_first_probe_fails_is_no_outage() {
    let (breaker, now) = answered();
    let fails = |access, sent, now| breaker.note_failure(access, sent, now);
    let granted = |sent| fails(Access::Granted, sent, sent + TIMEOUT);
    assert_eq!([now, now + 1].map(granted), [FailureMeaning::CallAlone, FailureMeaning::Stall]);
    assert!(matches!(breaker.state(now + TIMEOUT + 1), ServerState::Up { .. }));
    let probed_at = now + TIMEOUT + MS;
    assert_eq!(breaker.access(probed_at, 0), Access::Probe);
    assert_eq!(fails(Access::Probe, probed_at, probed_at + TIMEOUT), FailureMeaning::OutageBegins);
    let Access::Denied { until } = breaker.access(probed_at + TIMEOUT, 0) else {
        panic!("the breaker is open")
    };
    assert_eq!(breaker.access(until, 0), Access::Probe);
    assert_eq!(fails(Access::Probe, until, until + TIMEOUT), FailureMeaning::OutageContinues);
}

#[test]
fn pauses_grow_from_the_length_of_the_probe_to_a_second() {
    let length = |failures| pause(failures, TIMEOUT, 0) * 10 / 9 / MS;
    let lengths: Vec<_> = (0..8).map(length).collect();
    assert_eq!(lengths, [0, 50, 100, 200, 400, 800, 1_000, 1_000]);
    assert_eq!(pause(1, 0, 0), SHORTEST_SILENCE * 9 / 10, "a server that refuses");
    assert_eq!(pause(1, 5 * SECOND, 0), LONGEST_PAUSE * 9 / 10);
}

#[test]
fn server_that_fails_whenever_all_ask_it_is_asked_less_and_less_often() {
    let (breaker, mut now) = answered();
    let mut pauses = Vec::new();
    for _ in 0..7 {
        for sent in [now, now + 1, now + TIMEOUT + 1] {
            breaker.note_failure(Access::Granted, sent, sent + TIMEOUT);
        }
        now += 2 * TIMEOUT + 1;
        let mut access = breaker.access(now, 0);
        let begin = now;
        if let Access::Denied { until } = access {
            now = until;
            access = breaker.access(now, 0);
        }
        pauses.push((now - begin) / MS);
        breaker.note_success(access, now);
    }
    assert!(pauses.is_sorted() && pauses[0] == 0 && pauses[6] > 700, "{pauses:?}");
}

#[test]
fn answer_in_time_to_a_call_sent_before_the_outage_closes_the_breaker() {
    let (breaker, now) = answered();
    for sent in [now, now + 1] {
        breaker.note_failure(Access::Granted, sent, sent + TIMEOUT);
    }
    assert_eq!(breaker.access(now + TIMEOUT + 1, 0), Access::Probe);
    breaker.note_success(Access::Connected, now + TIMEOUT + 2);
    assert_eq!(breaker.access(now + TIMEOUT + 2, 0), Access::Granted);
}

#[test]
fn one_waiting_write_opens_nothing_and_the_second_in_a_row_lets_one_call_try() {
    let (breaker, now) = fresh();
    let waits = |access, sent| breaker.note_waiting_write(access, sent, sent + TIMEOUT);
    assert_eq!(waits(Access::Granted, now), FailureMeaning::CallAlone);
    assert_eq!(breaker.access(now + TIMEOUT, 0), Access::Granted);
    breaker.note_success(Access::Granted, now + TIMEOUT + MS);
    let now = now + 10 * SECOND;
    assert_eq!(waits(Access::Granted, now), FailureMeaning::CallAlone, "others were done since");
    let now = now + 3_600 * SECOND;
    assert_eq!(waits(Access::Granted, now), FailureMeaning::CallAlone, "the last was long ago");
    assert_eq!(breaker.access(now + TIMEOUT, 0), Access::Granted);
    assert_eq!(waits(Access::Granted, now + TIMEOUT), FailureMeaning::Stall);
    let now = now + 2 * TIMEOUT;
    assert_eq!(breaker.access(now, 0), Access::Probe);
    assert!(matches!(breaker.access(now, 0), Access::Denied { .. }));
    assert_eq!(waits(Access::Probe, now), FailureMeaning::OutageBegins);
    breaker.note_success(Access::Probe, now + SECOND);
    assert_eq!(breaker.access(now + SECOND, 0), Access::Granted);
}
