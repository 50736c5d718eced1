//! Hosts whose clocks differ, on one memcached.

use super::*;
use crate::limit::{CalendarWindow, Decision, FixedWindow, Limit, Op, SlidingWindow, TokenBucket};
use crate::store::swap::skew;
use crate::store::with_request;
use proptest::prelude::*;

const T0: u64 = 1_700_000_000 * SECOND;
const HOUR: u64 = 3_600 * SECOND;
const TAKE: Op = Op::Take { cost: 1 };

/// A memcached with one item, and the true time.
struct Server {
    now: u64,
    /// How long it was paused before this call: its timer has not run since.
    paused: u64,
    /// The client flags, the state, and the second in which it expires.
    item: Option<(u32, StoredState, u64)>,
    /// How often the item was new.
    lives: u64,
}

impl Server {
    const fn new() -> Self {
        Self { now: T0, paused: 0, item: None, lives: 0 }
    }

    /// The seconds that its clock counts: since its start, which is at no whole second.
    const fn ticks(&self) -> u64 {
        (self.now - T0 - self.paused + 700_000_000) / SECOND
    }

    /// Lets this much time pass; it sleeps through the end of it.
    fn pass(&mut self, time: u64, paused: u64) {
        self.now += time;
        self.paused = paused.min(time);
    }

    /// A call of a host whose clock shows this much more than T0 − 10 hours at T0.
    fn call(&mut self, limit: &Limit, ahead: u64, op: Op) -> Decision {
        self.call_by(limit, Clock { time: self.now - 10 * HOUR + ahead, is_test: false }, op)
    }

    fn call_by(&mut self, limit: &Limit, clock: Clock, op: Op) -> Decision {
        let ticks = self.ticks();
        let item = self.item.take().filter(|(_, _, until)| ticks < *until);
        let (at, state) = match &item {
            Some((flags, state, until)) => {
                let at = |stamp: Stamp| stamp.decide_at(clock, state, Some(until - ticks));
                (Stamp::from_flags(*flags).map_or(clock.time, at), state.clone())
            }
            None => (clock.time, StoredState::FULL),
        };
        let is_new = item.is_none();
        let (decision, after) = with_request(limit, op, |it| skew::decide(it, &state, at));
        self.item = item;
        if after != state {
            self.lives += u64::from(is_new);
            let stamp = Stamp::new(clock, at);
            let until = ticks + stamp.time_to_live(&after);
            let is_full = after == StoredState::FULL;
            self.item = (!is_full).then(|| (stamp.flags(), after.clone(), until));
        }
        decision
    }
}

fn bucket() -> Limit {
    TokenBucket::per_period(20, 30.0).unwrap().into()
}

fn is_accepted(decision: Decision) -> bool {
    decision.is_accepted()
}

/// The limits of 20 in 30 seconds, or in an hour of the calendar, by a clock that shows `now`.
fn limits(now: u64) -> [Limit; 4] {
    let hour = now / HOUR * HOUR;
    [
        bucket(),
        FixedWindow::new(20, 30.0).unwrap().into(),
        SlidingWindow::new(20, 30.0).unwrap().into(),
        CalendarWindow::new(20, [hour, hour + HOUR, hour + 2 * HOUR]).unwrap().into(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Three hosts whose clocks differ by any time up to ten hours, and calls in any order: what is admitted beyond what one clock
    /// admits is one more limit, each time that the item is new.
    #[test]
    fn clocks_that_differ_add_one_limit_at_most(
        kind in 0..4usize,
        ahead in prop::array::uniform3(prop_oneof![Just(0u64), 0..10 * SECOND, 0..10 * HOUR]),
        calls in prop::collection::vec((0..3usize, prop_oneof![0..50u64, 0..3_000u64, 0..40_000u64], 0..=MAX_PAUSE), 1..400),
    ) {
        let mut server = Server::new();
        let mut accepted = 0u64;
        for (host, after_ms, paused) in calls {
            server.pass(after_ms * 1_000_000, paused * SECOND);
            let limit = limits(server.now - 10 * HOUR + ahead[host])[kind];
            accepted += u64::from(server.call(&limit, ahead[host], TAKE).is_accepted());
        }
        let seconds = (server.now - T0) / SECOND;
        let (interval, starts) = match kind {
            0 => (30, 1),
            3 => (3_600, 2),
            // The last window and the first one are not whole.
            _ => (30, 2),
        };
        // Each new item begins with a limit of which the calls before it may have taken a part by another clock.
        let most = 20 * seconds / interval + 1 + 20 * (starts + server.lives);
        prop_assert!(accepted <= most, "{} of {}", accepted, most);
    }

    #[test]
    fn flags_tell_the_stamp(since in 1..1_u64 << 31, by_test: bool) {
        let stamp = Stamp { seconds: FIRST + since, by_test };
        prop_assert_eq!(Stamp::from_flags(stamp.flags()), Some(stamp));
    }
}

#[test]
fn time_that_flags_cannot_tell_is_none_or_the_last() {
    for by_test in [false, true] {
        for seconds in [0, FIRST - 1, FIRST] {
            assert_eq!(Stamp::from_flags(Stamp { seconds, by_test }.flags()), None);
        }
        let last = Stamp { seconds: FIRST + (1 << 31) - 1, by_test };
        let later = Stamp { seconds: MAX_NOW / SECOND, by_test };
        assert_eq!(Stamp::from_flags(later.flags()), Some(last));
    }
}

#[test]
fn host_that_is_behind_forgives_nothing() {
    for (behind, kind) in [3, 3_600].into_iter().flat_map(|s| (0..4).map(move |kind| (s, kind))) {
        let mut server = Server::new();
        let mut accepted = 0;
        for call in 0..1_000 {
            server.now += 5_000_000;
            let ahead = if call % 2 == 0 { 2 * HOUR } else { 2 * HOUR - behind * SECOND };
            let limit = limits(server.now - 10 * HOUR + ahead)[kind];
            accepted += u32::from(server.call(&limit, ahead, TAKE).is_accepted());
        }
        // Within five seconds a bucket gets three tokens more, as with one clock.
        assert!(accepted <= 20 + 4 * u32::from(kind == 0), "{behind} s, {kind}: {accepted}");
    }
}

#[test]
fn clock_that_is_set_back_denies_for_seven_seconds_more_than_the_limit() {
    for ops in [[TAKE; 2], [Op::Check, Op::Peek { cost: 1 }]] {
        let mut server = Server::new();
        (0..20).for_each(|_| assert!(is_accepted(server.call(&bucket(), 2 * HOUR, TAKE))));
        // The clock is an hour back now. A call that is denied may write, so the item may stay.
        for _ in 0..2 {
            let _ = server.call(&bucket(), HOUR, ops[0]);
        }
        let refused_until = server.now + 8_500_000_000 * if ops[0] == TAKE { 1 } else { 2 };
        let accepted_at = (0..200).find_map(|_| {
            server.now += SECOND / 10;
            is_accepted(server.call(&bucket(), HOUR, ops[1])).then_some(server.now)
        });
        assert!(accepted_at.is_some_and(|at| at <= refused_until), "{ops:?}: {accepted_at:?}");
    }
}

#[test]
fn item_that_the_server_got_just_after_a_pause_is_kept_and_is_no_older_than_it_is() {
    // Either gives nothing back for three seconds.
    let limits: [Limit; 2] = [
        TokenBucket::per_period(20, 60.0).unwrap().into(),
        SlidingWindow::new(20, 3.0).unwrap().into(),
    ];
    for limit in limits {
        let mut server = Server::new();
        server.pass(10 * SECOND, MAX_PAUSE * SECOND);
        assert!((0..20).all(|_| is_accepted(server.call(&limit, 0, TAKE))));
        for _ in 0..29 {
            server.pass(SECOND / 10, 0);
            assert!(!is_accepted(server.call(&limit, 0, TAKE)));
        }
    }
}

#[test]
fn lowered_limit_is_corrected_by_the_first_decision_whatever_the_clock() {
    let long = Limit::from(TokenBucket::per_period(20, 3_600.0).unwrap());
    for ahead in [0, 2 * HOUR, 3 * HOUR] {
        let mut server = Server::new();
        (0..20).for_each(|_| assert!(is_accepted(server.call(&long, 2 * HOUR, TAKE))));
        let denied = server.call(&bucket(), ahead, TAKE);
        assert!(is_accepted(denied) == (ahead > 2 * HOUR) && denied.retry_after() <= 1.5);
        let after = server.call(&bucket(), ahead, Op::Peek { cost: 20 });
        assert!(after.retry_after() <= 30.0, "{ahead}: {}", after.retry_after());
    }
}

#[test]
fn clock_of_a_test_may_go_back_but_not_behind_a_real_one() {
    let (limit, test) = (bucket(), |time| Clock { time, is_test: true });
    let mut server = Server::new();
    (0..20).for_each(|_| assert!(is_accepted(server.call_by(&limit, test(T0 + HOUR), TAKE))));
    let denied = server.call_by(&limit, test(T0), TAKE);
    assert_eq!(denied.retry_after(), 1.5, "as much as the limit asks for");
    assert!(is_accepted(server.call_by(&limit, test(T0 + 2 * SECOND), TAKE)));

    let mut server = Server::new();
    (0..20).for_each(|_| assert!(is_accepted(server.call(&limit, 10 * HOUR, TAKE))));
    for _ in 0..3 {
        assert!(!is_accepted(server.call_by(&limit, test(T0 - HOUR), TAKE)));
        assert!(!is_accepted(server.call(&limit, 10 * HOUR, TAKE)));
    }
}
