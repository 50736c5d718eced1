//! The conformance suite: every case runs on every store.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

#[macro_use]
mod support;

use proptest::prelude::*;
use std::cell::Cell;
use support::{Folder, with_context};
use token_bucket::clock::at;
use token_bucket::dsn::{Dsn, Target};
use token_bucket::guard::Stores;
use token_bucket::limit::{
    CalendarWindow, Charge, Decision, FixedWindow, Limit, Op, SECOND, SlidingWindow, StoredState,
    TokenBucket, apply,
};
use token_bucket::limiter::{
    DecidedBy, FirstAnswer, FlaggedDecision, Limiter, Limiters, Member, RecordHandle, Settled,
    Settlement, peek_all, peek_first, settle as settle_all, take_all, take_first,
};
use token_bucket::settings::{OnError, Settings};
use token_bucket::store::KeyHash;

const T0: u64 = 1_700_000_000 * SECOND;

/// A store for one case, and how to call it.
struct Bench {
    limiter: Limiter,
    stores: Stores,
    dsn: Dsn,
    settings: Settings,
    /// The number of random sequences to try.
    sequences: u32,
    _folder: Folder,
}

impl Bench {
    fn new(dsn: &str, case: &str) -> Self {
        let folder = Folder::new(case);
        // The table is large enough that no bucket is evicted. The time-out is long enough for a busy
        // machine, and a call that fails must fail the case, so no policy answers in its place.
        let timeout = std::time::Duration::from_secs(10);
        let settings = Settings {
            prefix: vec![],
            on_error: OnError::Throw,
            timeout_ms: timeout,
            connect_timeout_ms: timeout,
            warn_of_mistakes: false,
            shm_path: folder.0.clone(),
            shm_size: 16 << 20,
            ..Settings::default()
        };
        let sequences = support::sequences(dsn);
        let mut dsn = Dsn::parse(dsn).unwrap();
        dsn.overrides.prefix = Some(support::unused_prefix());
        let statistics = Limiters::default().statistics(&settings);
        let stores = Stores::default();
        let limiter = Limiter::new(&dsn, settings.clone(), &stores, statistics);
        // Another test's transaction may keep MySQL's table from being looked at.
        let prepared = (0..5).map(|_| limiter.prepare()).find(Result::is_ok);
        prepared.unwrap_or_else(|| limiter.prepare()).unwrap();
        Self { limiter, stores, dsn, settings, sequences, _folder: folder }
    }

    /// Settles a decision of this limiter.
    fn settle(
        &self,
        identifier: &[u8],
        limit: &Limit,
        flagged: &FlaggedDecision,
        cost: u64,
        now: u64,
    ) -> Settled {
        let FlaggedDecision { decision, flags } = flagged;
        let decided_by = flags.decided_by();
        let settlement = Settlement {
            limiter: &self.limiter,
            identifier,
            limit,
            in_force: None,
            decision,
            decided_by,
            cost,
            asked_for_nothing: false,
        };
        at(Some(now), || settle_all(&[settlement])).answer.unwrap()[0]
    }

    /// Whether a sliding window with other numbers finds the same hits. In shared memory a lower limit looks at fewer places, and
    /// does not see the hits in the others.
    fn mixes_sliding_windows(&self) -> bool {
        !matches!(self.dsn.target, Target::SharedMemory { .. })
    }

    /// Another limiter on the same store, with changed settings.
    fn limiter_with(&self, change: impl FnOnce(&mut Settings)) -> Limiter {
        let mut settings = self.settings.clone();
        change(&mut settings);
        let statistics = Limiters::default().statistics(&settings);
        Limiter::new(&self.dsn, settings, &self.stores, statistics)
    }

    /// Opens the server whose DSN is in the environment variable `server`; see scripts/servers.sh.
    fn for_server(server: &str, case: &str) -> Self {
        Self::new(&support::server_dsn(server), &format!("{server}-{case}"))
    }

    fn call(&self, name: &[u8], limit: &Limit, op: Op, now: u64) -> Decision {
        let answer = with_context(name, |context| {
            at(Some(now), || self.limiter.decide(&context, limit, &op))
        });
        let answer = answer.answer.unwrap();
        assert!(!answer.flags.is_degraded());
        answer.decision
    }

    fn admits(&self, name: &[u8], limit: &Limit, op: Op, now: Option<u64>) -> bool {
        at(now, || with_context(name, |context| self.limiter.admits(&context, limit, &op)))
            .answer
            .unwrap()
    }

    fn take(&self, name: &[u8], limit: &Limit, cost: u64, now: u64) -> Decision {
        self.call(name, limit, Op::Take { cost }, now)
    }
}

fn per_second(capacity: i64, rate: f64) -> Limit {
    TokenBucket::per_second(capacity, rate).unwrap().into()
}

fn calendar(hits: i64, ends: [u64; 3]) -> Limit {
    CalendarWindow::new(hits, ends).unwrap().into()
}

fn fixed(hits: i64, interval: f64) -> Limit {
    FixedWindow::new(hits, interval).unwrap().into()
}

fn sliding(hits: i64, interval: f64) -> Limit {
    SlidingWindow::new(hits, interval).unwrap().into()
}

fn per_period(limit: i64, period: f64) -> Limit {
    TokenBucket::per_period(limit, period).unwrap().into()
}

/// Declares a test for each case on each store.
macro_rules! on_every_store {
    ($($case:ident),* $(,)?) => {
        on_host_and_redis!($($case),*);
        on_server!(memcached TB_MEMCACHED: $($case),*);
        on_server!(memcached_unix TB_MEMCACHED_UNIX: $($case),*);
        on_server!(two_memcacheds TB_MEMCACHED_TWO: $($case),*);
        on_server!(mariadb TB_MARIADB: $($case),*);
        on_server!(mariadb_unix TB_MARIADB_UNIX: $($case),*);
        on_server!(mariadb_tls TB_MARIADB_TLS: $($case),*);
        on_server!(mysql TB_MYSQL: $($case),*);
        on_server!(mysql_unix TB_MYSQL_UNIX: $($case),*);
        on_server!(mysql_tls TB_MYSQL_TLS: $($case),*);
    };
}

on_every_store!(
    bucket_starts_full_and_refills,
    denied_call_changes_nothing,
    look_with_any_numbers_changes_nothing,
    check_charges_denied_calls_and_forgives_after_a_refill,
    reservations_are_served_in_order,
    refund_and_reset_give_tokens_back,
    changed_limit_takes_effect,
    different_identifiers_have_different_buckets,
    system_clock_counts_without_a_test,
    clock_that_went_back_denies_for_one_refill_at_most,
    clock_that_went_back_adds_to_a_block_what_had_passed_at_most,
    debt_is_as_many_refills_of_other_numbers_and_after_a_clock_went_back,
    any_sequence_with_leases_is_decided_as_by_apply,
    admits_agrees_with_decide,
    window_opens_ends_and_takes_refunds,
    windows_and_buckets_of_one_identifier_are_separate,
    any_sequence_on_a_bucket_is_decided_as_by_apply,
    any_sequence_on_a_window_is_decided_as_by_apply,
    any_sequence_on_a_calendar_window_is_decided_as_by_apply,
    calendar_window_ends_at_the_boundary,
    sliding_window_holds_no_more_hits_than_its_limit,
    sliding_window_of_many_hits_is_kept_whole,
    any_sequence_on_a_sliding_window_is_decided_as_by_apply,
    refunds_of_a_lowered_or_raised_sliding_window_are_done_as_by_apply,
    takes_what_is_there,
    block_denies_every_call_until_it_ends,
    decision_is_refunded_where_it_was_made,
    settlement_after_a_reset_or_a_block_is_false,
    call_is_charged_what_it_cost,
    several_limits_are_charged_or_none,
    dry_run_denies_no_compound,
    any_sequence_on_a_compound_is_decided_as_by_take_all,
    any_sequence_on_a_first_of_charges_the_first_that_accepts,
);

fn bucket_starts_full_and_refills(bench: &Bench) {
    let limit = per_second(3, 0.5);
    for left in [2, 1, 0] {
        let decision = bench.take(b"x", &limit, 1, T0);
        assert!(decision.is_accepted());
        assert_eq!(limit.remaining(&decision), left);
    }
    let denied = bench.take(b"x", &limit, 1, T0 + SECOND);
    assert!(!denied.is_accepted());
    assert_eq!((denied.retry_after(), denied.reset_after()), (1.0, 5.0));
    assert!(!bench.take(b"x", &limit, 1, T0 + 2 * SECOND - 1).is_accepted());
    assert!(bench.take(b"x", &limit, 1, T0 + 2 * SECOND).is_accepted());
    assert!(bench.take(b"x", &limit, 3, T0 + 60 * SECOND).is_accepted());
}

fn denied_call_changes_nothing(bench: &Bench) {
    let limit = per_second(2, 1.0);
    bench.take(b"x", &limit, 2, T0);
    for step in 0..9 {
        assert!(!bench.take(b"x", &limit, 1, T0 + step * SECOND / 10).is_accepted());
        assert!(
            !bench.call(b"x", &limit, Op::Peek { cost: 1 }, T0 + step * SECOND / 10).is_accepted()
        );
    }
    assert!(bench.take(b"x", &limit, 1, T0 + SECOND).is_accepted());
    assert_eq!(bench.take(b"x", &limit, 3, T0).retry_at, Decision::NEVER);
}

fn check_charges_denied_calls_and_forgives_after_a_refill(bench: &Bench) {
    let limit = per_period(2, 20.0);
    let check =
        |seconds: u64| bench.call(b"x", &limit, Op::Check, T0 + seconds * SECOND).is_accepted();
    let answers: Vec<bool> = (0..=60).map(check).collect();
    assert!(answers[..2].iter().all(|accepted| *accepted));
    assert!(answers[2..].iter().all(|accepted| !*accepted));
    assert!(!check(79));
    assert!(check(99));
}

fn reservations_are_served_in_order(bench: &Bench) {
    let limit = per_second(1, 1.0);
    let reserve = |max_wait| bench.call(b"x", &limit, Op::Reserve { cost: 1, max_wait }, T0);
    for wait in [0.0, 1.0, 2.0] {
        let decision = reserve(2 * SECOND);
        assert!(decision.is_accepted());
        assert_eq!(decision.wait(), wait);
    }
    let refused = reserve(2 * SECOND);
    assert!(!refused.is_accepted());
    assert_eq!(refused.retry_after(), 1.0);
    assert!(!bench.take(b"x", &limit, 1, T0 + 3 * SECOND - 1).is_accepted());
    assert!(bench.take(b"x", &limit, 1, T0 + 3 * SECOND).is_accepted());
}

fn refund_and_reset_give_tokens_back(bench: &Bench) {
    let limit = per_second(5, 1.0);
    bench.take(b"x", &limit, 5, T0);
    assert_eq!(
        limit.remaining(&bench.call(b"x", &limit, Op::Refund { cost: 2, expiry: None }, T0)),
        2
    );
    assert_eq!(
        limit.remaining(&bench.call(b"x", &limit, Op::Refund { cost: 9, expiry: None }, T0)),
        5
    );
    bench.take(b"x", &limit, 5, T0);
    assert_eq!(limit.remaining(&bench.call(b"x", &limit, Op::Reset, T0)), 5);
    assert!(bench.take(b"x", &limit, 5, T0).is_accepted());
    assert_eq!(
        limit.remaining(&bench.call(b"new", &limit, Op::Refund { cost: 2, expiry: None }, T0)),
        5
    );
}

fn changed_limit_takes_effect(bench: &Bench) {
    let (wide, narrow) = (per_second(10, 1.0), per_second(2, 1.0));
    bench.take(b"x", &wide, 5, T0);
    assert!(!bench.take(b"x", &narrow, 1, T0).is_accepted());
    assert_eq!(bench.take(b"x", &narrow, 1, T0).retry_after(), 1.0);
    bench.take(b"y", &narrow, 2, T0);
    assert_eq!(wide.remaining(&bench.call(b"y", &wide, Op::Peek { cost: 0 }, T0)), 8);
}

fn different_identifiers_have_different_buckets(bench: &Bench) {
    let limit = per_second(1, 0.001);
    let long = [b'a'; 4096];
    let mut names: Vec<Vec<u8>> = (0..1_000).map(|i: u32| i.to_string().into_bytes()).collect();
    names.extend(
        [&b"a"[..], b"a\0", b"\0a", b"\xff\xfe", b"tb:a", b"a b", &long, &long[1..]].map(Vec::from),
    );
    for name in &names {
        assert!(bench.take(name, &limit, 1, T0).is_accepted(), "{name:?}");
    }
    for name in &names {
        assert!(!bench.take(name, &limit, 1, T0).is_accepted(), "{name:?}");
    }
}

fn system_clock_counts_without_a_test(bench: &Bench) {
    let limit = per_second(1, 0.001);
    let take = || bench.admits(b"x", &limit, Op::Take { cost: 1 }, None);
    assert!(take());
    assert!(!take());
}

fn clock_that_went_back_denies_for_one_refill_at_most(bench: &Bench) {
    let limit = per_second(2, 1.0);
    bench.take(b"x", &limit, 2, T0);
    let back = T0 - 3_600 * SECOND;
    assert_eq!(bench.take(b"x", &limit, 1, back).retry_after(), 1.0);
    assert!(!bench.take(b"x", &limit, 1, back + SECOND - 1).is_accepted());
    assert!(bench.take(b"x", &limit, 2, back + 2 * SECOND).is_accepted());
}

fn clock_that_went_back_adds_to_a_block_what_had_passed_at_most(bench: &Bench) {
    let ends = [T0 - 100_000 * SECOND, T0 + 100_000 * SECOND, T0 + 200_000 * SECOND];
    let limits = [per_second(5, 1.0), fixed(5, 600.0), sliding(5, 600.0), calendar(5, ends)];
    for (limit, back) in limits.iter().flat_map(|limit| [1, 40, 9_000].map(|back| (limit, back))) {
        let name = format!("{back}").into_bytes();
        bench.call(&name, limit, Op::Block { duration: 60 * SECOND }, T0);
        // A look changes nothing, so the call after it, at a later time, begins the block anew.
        let left = (60 - 30 + back).min(60) * SECOND;
        let at = |seconds: u64| T0 + (30 + seconds) * SECOND - back * SECOND;
        let peek = Op::Peek { cost: 1 };
        assert_eq!(bench.call(&name, limit, peek, at(0)).retry_at, at(0) + left);
        let begun = bench.take(&name, limit, 1, at(5));
        let left = (60 - 35 + back).min(60) * SECOND;
        assert!(begun.is_blocked() && begun.retry_at == at(5) + left, "{limit:?} by {back} s");
        assert_eq!(bench.take(&name, limit, 1, at(9)).retry_at, at(5) + left);
        assert!(bench.take(&name, limit, 5, at(5) + left).is_accepted());
        bench.call(&name, limit, Op::Reset, T0);
    }
}

/// A bucket of four in 80 seconds owes some capacities. Each time that the clock goes back, and under a shorter interval, a call waits
/// for as many refills, and for what it takes itself.
fn debt_is_as_many_refills_of_other_numbers_and_after_a_clock_went_back(bench: &Bench) {
    let (limit, short) = (per_period(4, 80.0), per_period(4, 8.0));
    for (owed, (now_under, refill)) in
        (0..5u64).flat_map(|owed| [(&limit, 80), (&short, 8)].map(|under| (owed, under)))
    {
        let name = format!("{owed}-{refill}").into_bytes();
        let mut now = T0;
        bench.take(&name, &limit, 4, now);
        for reserved in 0..owed {
            let op = Op::Reserve { cost: 4, max_wait: 1_000 * SECOND };
            let wait = bench.call(&name, &limit, op, now).wait;
            assert_eq!(wait, (reserved + 1) * 80 * SECOND);
        }
        for _ in 0..3 {
            now -= if refill == 80 { 86_400 * SECOND } else { 0 };
            let all = bench.take(&name, now_under, 4, now);
            let wait = (owed + 1) * refill * SECOND;
            assert!(
                !all.is_accepted() && all.retry_at <= now + wait + 1_000,
                "{owed} of {refill} s"
            );
            // Nothing of it is forgiven.
            assert!(
                all.retry_at >= now + wait.min((owed + 1) * 80 * SECOND),
                "{owed} of {refill} s"
            );
        }
        let after = now + (owed + 1) * refill * SECOND + 1_000;
        assert!(bench.take(&name, now_under, 4, after).is_accepted());
    }
    // What a call cost beyond its estimate is one capacity, and stays that.
    let mut now = T0;
    let settle = Op::Settle { cost: 4, expiry: bench.take(b"settled", &limit, 4, now).expires_at };
    bench.call(b"settled", &limit, settle, now);
    for _ in 0..5 {
        now -= 86_400 * SECOND;
        let denied = bench.take(b"settled", &limit, 1, now);
        assert_eq!(denied.retry_at, now + 100 * SECOND);
    }
}

fn admits_agrees_with_decide(bench: &Bench) {
    let limit = per_second(3, 1.0);
    for i in 0..20 {
        let (op, now) = (Op::Take { cost: i % 3 }, T0 + i * SECOND / 2);
        let decision = bench.call(b"x", &limit, op, now);
        assert_eq!(bench.admits(b"y", &limit, op, Some(now)), decision.is_accepted());
    }
}

fn window_opens_ends_and_takes_refunds(bench: &Bench) {
    let window = fixed(3, 10.0);
    let hit = |now| bench.take(b"x", &window, 1, now);
    for left in [2, 1, 0] {
        assert_eq!(window.remaining(&hit(T0 + 2 * SECOND - left)), left);
    }
    let denied = hit(T0 + 9 * SECOND);
    assert!(!denied.is_accepted());
    assert!((denied.retry_after() - 3.0).abs() < 1e-6);
    assert_eq!(
        window.remaining(&bench.call(b"x", &window, Op::Peek { cost: 1 }, T0 + 9 * SECOND)),
        0
    );
    assert_eq!(
        window.remaining(&bench.call(
            b"x",
            &window,
            Op::Refund { cost: 2, expiry: None },
            T0 + 9 * SECOND
        )),
        2
    );
    assert!(bench.take(b"x", &window, 2, T0 + 10 * SECOND).is_accepted());
    assert!(!hit(T0 + 12 * SECOND - 3).is_accepted(), "its last moment");
    assert_eq!(window.remaining(&hit(T0 + 12 * SECOND)), 2);
    assert_eq!(bench.take(b"x", &window, 4, T0 + 13 * SECOND).retry_at, Decision::NEVER);
    assert_eq!(window.remaining(&bench.call(b"x", &window, Op::Reset, T0 + 13 * SECOND)), 3);
    assert!(bench.take(b"x", &window, 3, T0 + 13 * SECOND).is_accepted());
    // A clock that went back by an hour denies for one interval.
    assert!(!hit(T0 - 3_600 * SECOND).is_accepted());
    assert!(hit(T0 - 3_590 * SECOND).is_accepted());
}

fn windows_and_buckets_of_one_identifier_are_separate(bench: &Bench) {
    let (window, bucket, sliding) = (fixed(1, 10.0), per_second(1, 0.001), sliding(1, 10.0));
    let long = [b'a'; 300];
    for name in [&b"x"[..], b"x#w", b"#hx", b"a b", b"a b#w", b"x#s", &long] {
        for limit in [&window, &bucket, &sliding] {
            assert!(bench.take(name, limit, 1, T0).is_accepted());
        }
        for limit in [&window, &bucket, &sliding] {
            assert!(!bench.take(name, limit, 1, T0).is_accepted());
        }
    }
}

/// No expiry, or that of a decision made earlier in the sequence: of a window that the first call opened, or
/// of any bucket.
fn expiry() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![
        Just(None),
        prop::sample::select(vec![2_500_000_000, 333_333_333, 7 * SECOND])
            .prop_map(|interval| Some(T0 + interval)),
        (0..20 * SECOND).prop_map(|after| Some(T0 + after)),
    ]
}

fn takes_what_is_there(bench: &Bench) {
    for (name, limit) in [
        (&b"bucket"[..], per_second(5, 0.1)),
        (b"window", fixed(5, 60.0)),
        (b"sliding", sliding(5, 60.0)),
    ] {
        let take =
            |most, least| bench.call(name, &limit, Op::TakeUpTo { most, least, leave: 0 }, T0);
        assert_eq!(take(3, 1).taken, 3);
        let denied = take(9, 3);
        assert_eq!((denied.is_accepted(), denied.taken, limit.remaining(&denied)), (false, 0, 2));
        let rest = take(9, 1);
        assert_eq!((rest.is_accepted(), rest.taken, limit.remaining(&rest)), (true, 2, 0));
        assert!(!take(1, 1).is_accepted());
        assert_eq!(take(9, 6).retry_at, Decision::NEVER);
    }
}

fn block_denies_every_call_until_it_ends(bench: &Bench) {
    for (name, limit) in [
        (&b"bucket"[..], per_second(5, 1.0)),
        (b"window", fixed(5, 60.0)),
        (b"sliding", sliding(5, 60.0)),
    ] {
        let call = |op, seconds| bench.call(name, &limit, op, T0 + seconds * SECOND);
        let block = |seconds, at| call(Op::Block { duration: seconds * SECOND }, at);
        call(Op::Take { cost: 4 }, 0);
        block(60, 0);
        for op in [Op::Take { cost: 1 }, Op::Take { cost: 0 }, Op::Check, Op::Peek { cost: 1 }] {
            let denied = call(op, 20);
            assert!(!denied.is_accepted() && denied.is_blocked(), "{op:?}");
            assert_eq!((denied.retry_after(), limit.remaining(&denied)), (40.0, 0));
        }
        assert!(call(Op::Take { cost: 5 }, 60).is_accepted(), "it starts afresh");
        block(60, 70);
        block(10, 80);
        assert_eq!(call(Op::Take { cost: 1 }, 90).retry_after(), 40.0, "the later end counts");
        call(Op::Reset, 91);
        assert!(call(Op::Take { cost: 5 }, 91).is_accepted());
        assert!(!call(Op::Refund { cost: 1, expiry: Some(T0) }, 700).is_accepted());
    }
}

fn decision_is_refunded_where_it_was_made(bench: &Bench) {
    let refund = |limit: &Limit, flagged: &FlaggedDecision, now| {
        let settled = bench.settle(b"x", limit, flagged, 0, now);
        settled.is_done.unwrap()
    };
    let attempt = |limit: &Limit, cost, now| {
        let op = Op::Take { cost };
        with_context(b"x", |context| at(Some(now), || bench.limiter.decide(&context, limit, &op)))
            .answer
            .unwrap()
    };
    let bucket = per_second(5, 0.001);
    let taken = attempt(&bucket, 3, T0);
    let denied = attempt(&bucket, 3, T0);
    assert!(!refund(&bucket, &denied, T0), "it took nothing");
    assert!(refund(&bucket, &taken, T0));
    assert_eq!(bucket.remaining(&bench.call(b"x", &bucket, Op::Peek { cost: 0 }, T0)), 5);
    let window = fixed(5, 60.0);
    let first = attempt(&window, 3, T0);
    assert!(refund(&window, &first, T0 + 30 * SECOND));
    let second = attempt(&window, 4, T0 + 40 * SECOND);
    attempt(&window, 2, T0 + 61 * SECOND);
    assert!(!refund(&window, &second, T0 + 62 * SECOND), "its window has ended");
    let now = bench.call(b"x", &window, Op::Peek { cost: 0 }, T0 + 62 * SECOND);
    assert_eq!(window.remaining(&now), 3);
}

fn settlement_after_a_reset_or_a_block_is_false(bench: &Bench) {
    let hour = 3_600 * SECOND;
    let windows = [
        fixed(9, 7_200.0),
        sliding(9, 7_200.0),
        calendar(9, [T0 - hour, T0 + hour, T0 + 3 * hour]),
    ];
    // The state of a window is another one after each of these: it was reset, it was blocked, and a block was lifted.
    let ends: [&[Op]; 4] = [
        &[Op::Reset],
        &[Op::Block { duration: 3 * SECOND }],
        &[Op::Block { duration: hour }, Op::Reset],
        &[Op::Reset, Op::Block { duration: SECOND }, Op::Reset, Op::Reset],
    ];
    for (n, (window, ends)) in
        windows.iter().flat_map(|window| ends.map(|ends| (window, ends))).enumerate()
    {
        let name = n.to_string().into_bytes();
        let mut now = T0;
        let attempt = |cost, now| {
            let op = Op::Take { cost };
            let answer =
                with_context(&name, |it| at(Some(now), || bench.limiter.decide(&it, window, &op)));
            answer.answer.unwrap()
        };
        let mut charged = vec![attempt(4, now)];
        for _ in 0..3 {
            for op in ends {
                now += SECOND;
                bench.call(&name, window, *op, now);
            }
            now += 4 * SECOND;
            charged.push(attempt(5, now));
            let (last, before) = charged.split_last().unwrap();
            for cost in [0, 1, 8] {
                for decision in before {
                    let settled = bench.settle(&name, window, decision, cost, now);
                    // More hits than were estimated are charged to a sliding window as it is.
                    let is_more = matches!(window, Limit::SlidingWindow(_)) && cost > 5;
                    assert_eq!(
                        settled.is_done,
                        Some(is_more),
                        "{cost} of {window:?} after {ends:?}"
                    );
                }
            }
            let settled = bench.settle(&name, window, last, 3, now);
            assert_eq!(settled.is_done, Some(true), "{window:?} after {ends:?}");
        }
    }
}

fn sliding_window_holds_no_more_hits_than_its_limit(bench: &Bench) {
    let window = sliding(3, 10.0);
    let take = |cost, seconds: u64| bench.take(b"x", &window, cost, T0 + seconds * SECOND);
    for seconds in [0, 4, 4] {
        assert!(take(1, seconds).is_accepted());
    }
    let denied = take(1, 9);
    assert_eq!(
        (denied.is_accepted(), denied.retry_after(), denied.reset_after()),
        (false, 1.0, 5.0)
    );
    assert_eq!(take(2, 9).retry_after(), 5.0, "the second hit leaves later");
    assert!(!bench.take(b"x", &window, 1, T0 + 10 * SECOND - 1).is_accepted());
    let next = take(1, 10);
    assert_eq!((next.is_accepted(), window.remaining(&next), next.reset_after()), (true, 0, 10.0));
    assert!(!take(2, 13).is_accepted());
    assert_eq!(
        window.remaining(&bench.call(b"x", &window, Op::Peek { cost: 1 }, T0 + 14 * SECOND)),
        2
    );
    assert!(take(2, 14).is_accepted(), "as many as have left");
    let refund = Op::Refund { cost: 2, expiry: None };
    assert_eq!(window.remaining(&bench.call(b"x", &window, refund, T0 + 15 * SECOND)), 2);
    assert_eq!(take(1, 15).expires_at, T0 + 25 * SECOND);
    assert_eq!(take(4, 16).retry_at, Decision::NEVER);
    assert_eq!(window.remaining(&bench.call(b"x", &window, Op::Reset, T0 + 16 * SECOND)), 3);
    assert!(take(3, 16).is_accepted());
    // A clock that went back by an hour denies for one interval.
    let back = T0 - 3_600 * SECOND;
    assert_eq!(bench.take(b"x", &window, 1, back).retry_after(), 10.0);
    assert!(bench.take(b"x", &window, 3, back + 10 * SECOND).is_accepted());
}

fn sliding_window_of_many_hits_is_kept_whole(bench: &Bench) {
    let window = sliding(1_024, 60.0);
    for call in 0..128 {
        assert!(bench.take(b"x", &window, 8, T0 + call).is_accepted(), "{call}");
    }
    for early in [1, 8] {
        let denied = bench.take(b"x", &window, early, T0 + 60 * SECOND - 1);
        assert_eq!((denied.is_accepted(), denied.retry_at), (false, T0 + 60 * SECOND));
    }
    assert!(bench.take(b"x", &window, 80, T0 + 60 * SECOND + 9).is_accepted());
    let left = bench.call(b"x", &window, Op::Peek { cost: 1 }, T0 + 60 * SECOND + 9);
    assert_eq!((left.is_accepted(), left.retry_at), (false, T0 + 60 * SECOND + 10));
}

fn call_is_charged_what_it_cost(bench: &Bench) {
    let take = |limit: &Limit, cost, now| {
        with_context(b"x", |context| {
            at(Some(now), || bench.limiter.decide(&context, limit, &Op::Take { cost }))
        })
        .answer
        .unwrap()
    };
    let left = |limit: &Limit, settled: Settled| {
        (settled.is_done, settled.level.map(|level| limit.remaining(&level)))
    };
    let retry = |limit: &Limit, now| take(limit, 1, now).decision.retry_after();

    let bucket = per_second(10, 1.0);
    let less = take(&bucket, 6, T0);
    assert_eq!(left(&bucket, bench.settle(b"x", &bucket, &less, 2, T0)), (Some(true), Some(8)));
    let as_estimated = take(&bucket, 3, T0);
    let done = (Some(true), None);
    assert_eq!(left(&bucket, bench.settle(b"x", &bucket, &as_estimated, 3, T0)), done);
    let more = take(&bucket, 1, T0);
    assert_eq!(left(&bucket, bench.settle(b"x", &bucket, &more, 8, T0)), (Some(true), Some(0)));
    assert_eq!(retry(&bucket, T0), 4.0, "three below empty");
    let denied = take(&bucket, 1, T0);
    assert_eq!(left(&bucket, bench.settle(b"x", &bucket, &denied, 8, T0)), (Some(false), None));
    let one = take(&bucket, 1, T0 + 4 * SECOND);
    bench.settle(b"x", &bucket, &one, u64::MAX, T0 + 4 * SECOND);
    assert_eq!(retry(&bucket, T0 + 4 * SECOND), 11.0, "what is beyond one capacity is forgotten");
    // Most of what it did not need has come back by itself.
    let late = take(&bucket, 10, T0 + 60 * SECOND);
    bench.settle(b"x", &bucket, &late, 3, T0 + 68 * SECOND);
    assert_eq!(bucket.remaining(&take(&bucket, 0, T0 + 68 * SECOND).decision), 10);

    let window = fixed(10, 60.0);
    let more = take(&window, 9, T0);
    assert_eq!(left(&window, bench.settle(b"x", &window, &more, 14, T0)), (Some(true), Some(0)));
    bench.call(b"x", &window, Op::Refund { cost: 5, expiry: None }, T0);
    assert_eq!(window.remaining(&take(&window, 0, T0).decision), 1, "14 hits, less five");
    let next = take(&window, 1, T0 + 60 * SECOND);
    bench.settle(b"x", &window, &next, 99, T0 + 61 * SECOND);
    let back = bench.call(b"x", &window, Op::Refund { cost: 94, expiry: None }, T0 + 61 * SECOND);
    assert_eq!(window.remaining(&back), 5, "99 hits, less 94");
    let ended = take(&window, 4, T0 + 61 * SECOND);
    take(&window, 2, T0 + 130 * SECOND);
    for cost in [1, 6] {
        let late = bench.settle(b"x", &window, &ended, cost, T0 + 130 * SECOND);
        assert_eq!(left(&window, late), (Some(false), Some(8)), "{cost}: its window has ended");
    }

    let sliding = sliding(5, 60.0);
    let more = take(&sliding, 2, T0);
    assert_eq!(left(&sliding, bench.settle(b"x", &sliding, &more, 4, T0)), (Some(true), Some(1)));
    let full = take(&sliding, 1, T0 + SECOND);
    assert_eq!(
        left(&sliding, bench.settle(b"x", &sliding, &full, 9, T0 + SECOND)),
        (Some(true), Some(0))
    );
    let less = take(&sliding, 4, T0 + 60 * SECOND);
    assert_eq!(
        left(&sliding, bench.settle(b"x", &sliding, &less, 1, T0 + 60 * SECOND)),
        (Some(true), Some(3))
    );
}

/// The limiters of a compound: one identifier and one limit each.
struct Compound<'a> {
    limiters: Vec<&'a Limiter>,
    names: Vec<Vec<u8>>,
    limits: Vec<Limit>,
    caches: Vec<(Cell<KeyHash>, Cell<RecordHandle>)>,
}

impl<'a> Compound<'a> {
    fn new(limiters: Vec<&'a Limiter>, names: Vec<Vec<u8>>, limits: Vec<Limit>) -> Self {
        let caches = limits.iter().map(|_| Default::default()).collect();
        Self { limiters, names, limits, caches }
    }

    fn members(&self, costs: &[u64]) -> Vec<Member<'_>> {
        let member = |(i, cost): (usize, &u64)| Member {
            limiter: self.limiters[i],
            identifier: &self.names[i],
            name: None,
            key_hash: &self.caches[i].0,
            record: &self.caches[i].1,
            limit: &self.limits[i],
            cost: *cost,
            leave: 0,
            is_exempt: false,
        };
        costs.iter().enumerate().map(member).collect()
    }

    /// Settles the decisions of one call, each at a cost of its own.
    fn settle(&self, decisions: &[Decision], costs: &[u64], now: u64) -> Vec<Settled> {
        let decided_by = DecidedBy::Store;
        let settlement = |i: usize| Settlement {
            limiter: self.limiters[i],
            identifier: &self.names[i],
            limit: &self.limits[i],
            in_force: None,
            decision: &decisions[i],
            decided_by,
            cost: costs[i],
            asked_for_nothing: false,
        };
        let each: Vec<_> = (0..decisions.len()).map(settlement).collect();
        at(Some(now), || settle_all(&each)).answer.unwrap()
    }

    fn take(&self, costs: &[u64], now: u64) -> Vec<Decision> {
        let answers = at(Some(now), || take_all(&self.members(costs))).answer.unwrap();
        answers.into_iter().map(|answer| answer.unwrap().decision).collect()
    }
}

/// The place of the limit whose decision is that of a call on several, and whether the call goes on.
fn place_of(answer: &FirstAnswer) -> (usize, bool) {
    match answer {
        FirstAnswer::GoesOn { position, .. } => (*position, true),
        FirstAnswer::Denied { soonest, .. } => (*soonest, false),
    }
}

/// The differential test of calls on several limits, of which the first one that accepts is charged.
fn any_sequence_on_a_first_of_charges_the_first_that_accepts(bench: &Bench) {
    let hour = 3_600 * SECOND;
    let ends = [T0 - hour, T0 + SECOND, T0 + hour];
    let limits = vec![calendar(4, ends), per_period(3, 7.0), fixed(5, 2.5), sliding(4, 3.0)];
    // Other numbers, whose states may seem from the future: a call that is denied corrects them.
    let long_window =
        if bench.mixes_sliding_windows() { sliding(9, 30.0) } else { sliding(4, 3.0) };
    let longer = [calendar(6, ends), per_period(9, 70.0), fixed(9, 25.0), long_window];
    let watched = bench.limiter_with(|policy| policy.enforce = false);
    let alone = prop_oneof![
        (1u64..4).prop_map(|cost| Op::Take { cost }),
        (1..SECOND).prop_map(|duration| Op::Block { duration }),
        Just(Op::Reset),
    ];
    let call = (
        0u64..1_000_000,
        prop_oneof![
            4 => (0u64..5, 0u64..4, prop::option::of(0u64..9)).prop_map(Ok),
            1 => (0usize..4, alone, any::<bool>()).prop_map(Err),
        ],
    );
    let config = ProptestConfig {
        cases: bench.sequences,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let sequence = Cell::new(0u32);
    proptest!(config, |(calls in prop::collection::vec(call, 1..30), enforced: [bool; 4])| {
        sequence.set(sequence.get() + 1);
        // One slot of a cluster in every other sequence.
        let tag = if sequence.get().is_multiple_of(2) { "{t}" } else { "" };
        let name = |i: usize| format!("f{tag}{}-{i}", sequence.get()).into_bytes();
        let limiters = enforced.map(|is_enforced| if is_enforced { &bench.limiter } else { &watched });
        let first_of = Compound::new(limiters.into(), (0..4).map(name).collect(), limits.clone());
        let (mut states, mut now) = ([StoredState::FULL; 4], T0);
        for (micros, call) in calls {
            now += micros * 1_000;
            let (cost, leave, real) = match call {
                Ok(call) => call,
                Err((i, op, is_longer)) => {
                    let limit = if is_longer { &longer[i] } else { &limits[i] };
                    states[i] = apply(limit, &states[i], now, op).1;
                    bench.call(&name(i), limit, op, now);
                    continue;
                }
            };
            let mut expected = Vec::new();
            for (limit, state) in limits.iter().zip(&mut states) {
                let decision;
                (decision, *state) = apply(limit, state, now, Op::take(cost, leave));
                expected.push(decision);
                if decision.is_accepted() {
                    break;
                }
            }
            let members = || first_of.members(&[cost; 4]).into_iter().map(|it| Member { leave, ..it });
            let seen = at(Some(now), || peek_first(members())).answer.unwrap();
            let taken = at(Some(now), || take_first(members())).answer.unwrap();
            // A call that takes nothing is not blocked by what it would leave.
            if cost > 0 {
                prop_assert_eq!(place_of(&seen), place_of(&taken));
            }
            let (place, decision) = match taken {
                FirstAnswer::Denied { each, soonest } => {
                    let each: Vec<_> = each.into_iter().map(|it| it.decision).collect();
                    prop_assert!(enforced.iter().all(|it| *it));
                    prop_assert_eq!(&each, &expected, "{} leaving {}", cost, leave);
                    let waits = || each.iter().map(|it| it.retry_after());
                    prop_assert!(waits().all(|wait| wait >= each[soonest].retry_after()));
                    continue;
                }
                FirstAnswer::GoesOn { position, decision } => (position, decision.decision),
            };
            prop_assert_eq!(&decision, &expected[place], "{} leaving {}", cost, leave);
            prop_assert!(decision.is_accepted() && place + 1 == expected.len() || !enforced[place]);
            if let (true, Some(real)) = (decision.is_accepted() && decision.taken > 0, real) {
                let i = place;
                let settlement = Settlement {
                    limiter: first_of.limiters[i], identifier: &first_of.names[i], limit: &limits[i], in_force: None,
                    decision: &decision, decided_by: DecidedBy::Store, cost: real, asked_for_nothing: false,
                };
                at(Some(now), || settlement.settle()).answer.unwrap();
                if real != cost {
                    states[i] = apply(&limits[i], &states[i], now, decision.settle(real)).1;
                }
            }
        }
    });
}

fn several_limits_are_charged_or_none(bench: &Bench) {
    let limits = vec![per_second(5, 0.001), per_second(2, 0.001), fixed(9, 60.0)];
    let names: Vec<Vec<u8>> = [b"a", b"b", b"c"].map(|name| name.to_vec()).into();
    let compound = Compound::new(vec![&bench.limiter; 3], names.clone(), limits.clone());
    let left = || -> Vec<u64> {
        let peek = Op::Peek { cost: 0 };
        let each = names.iter().zip(&limits);
        each.map(|(name, limit)| limit.remaining(&bench.call(name, limit, peek, T0))).collect()
    };
    let accepted = |decisions: &[Decision]| -> Vec<bool> {
        decisions.iter().map(|d| d.is_accepted()).collect()
    };
    assert_eq!(accepted(&compound.take(&[1, 1, 1], T0)), [true; 3]);
    assert_eq!(accepted(&compound.take(&[1, 2, 1], T0)), [true, false, true]);
    assert_eq!(left(), [4, 1, 8], "none was charged");
    assert_eq!(accepted(&compound.take(&[2, 1, 0], T0)), [true; 3]);
    assert_eq!(left(), [2, 0, 8]);
    let denied = compound.take(&[3, 1, 1], T0);
    assert_eq!(accepted(&denied), [false, false, true]);
    assert!(denied.iter().all(|decision| decision.taken == 0));
    let seen = at(Some(T0), || peek_all(&compound.members(&[1, 1, 9]))).answer.unwrap();
    let seen: Vec<_> = seen.into_iter().map(|answer| answer.unwrap().decision).collect();
    assert_eq!(accepted(&seen), [true, false, false]);
    assert_eq!(left(), [2, 0, 8]);
    bench.call(b"b", &limits[1], Op::Reset, T0);
    bench.call(b"c", &limits[2], Op::Block { duration: SECOND }, T0);
    assert_eq!(accepted(&compound.take(&[1, 1, 0], T0)), [true, true, false]);
    assert_eq!(accepted(&compound.take(&[1, 1, 9], T0 + SECOND)), [true; 3]);
}

fn dry_run_denies_no_compound(bench: &Bench) {
    let watched = bench.limiter_with(|policy| policy.enforce = false);
    let limits = vec![per_second(5, 0.001), per_second(1, 0.001)];
    let names = vec![b"a".to_vec(), b"b".to_vec()];
    let compound = Compound::new(vec![&bench.limiter, &watched], names, limits);
    let accepted = |costs: &[u64]| -> Vec<bool> {
        compound.take(costs, T0).iter().map(|decision| decision.is_accepted()).collect()
    };
    assert_eq!(accepted(&[1, 1]), [true, true]);
    assert_eq!(accepted(&[3, 1]), [true, false], "the first is charged all the same");
    assert_eq!(accepted(&[2, 1]), [false, false]);
    assert_eq!(accepted(&[1, 0]), [true, true]);
}

/// Costs beyond an estimate, now and then far beyond what any limit counts.
fn settle() -> impl Strategy<Value = Op> {
    let cost = prop_oneof![4 => 0u64..9, 1 => Just(u64::MAX >> 1)];
    (cost, expiry()).prop_map(|(cost, expiry)| Op::Settle { cost, expiry: expiry.unwrap_or(T0) })
}

/// Calls for a number of tokens or hits that is not fixed, or that leave some.
fn take_up_to() -> impl Strategy<Value = Op> {
    let up_to = |(more, least, leave)| Op::TakeUpTo { most: least + more, least, leave };
    prop_oneof![
        (0u64..6, 1u64..4, 0u64..5).prop_map(up_to),
        (0u64..4, 1u64..5).prop_map(|(cost, leave)| Op::take(cost, leave)),
    ]
}

/// Calls for a batch, and calls that give back what is left of one. Names are few, so that many are known.
fn lease() -> impl Strategy<Value = Op> {
    let lease = (0u64..4, 1u64..3, 0u32..4, 1u32..4, 0u64..5);
    prop_oneof![
        3 => lease.prop_map(|(more, least, known, fresh, spent)| {
            Op::Lease { most: least + more, least, known, fresh, spent }
        }),
        1 => (1u64..5, 0u32..4).prop_map(|(cost, known)| Op::GiveBack { cost, known }),
    ]
}

/// The differential test of states of which hosts hold something.
fn any_sequence_with_leases_is_decided_as_by_apply(bench: &Bench) {
    if !bench.limiter.is_remote() {
        return;
    }
    let ends = [T0 - 3_590 * SECOND, T0 + 10 * SECOND, T0 + 3_610 * SECOND];
    let buckets = [per_second(9, 2.0), per_second(7, 1.0 / 3.0), per_period(8, 7.0)];
    let windows = [fixed(9, 2.5), fixed(7, 1.0 / 3.0), fixed(8, 7.0)];
    let calendars = [9, 7, 8].map(|hits| calendar(hits, ends));
    for (kind, limits) in [("lb", buckets), ("lw", windows), ("ld", calendars)] {
        let op = prop_oneof![
            6 => lease(),
            2 => (0u64..5).prop_map(|cost| Op::Take { cost }),
            1 => Just(Op::Check),
            1 => (0u64..4).prop_map(|cost| Op::Reserve { cost, max_wait: 5 * SECOND }),
            1 => (0u64..9).prop_map(|cost| Op::Peek { cost }),
            3 => (0u64..20, expiry()).prop_map(|(cost, expiry)| Op::Refund { cost, expiry }),
            1 => settle(),
            1 => take_up_to(),
            1 => Just(Op::Reset),
            1 => (1..SECOND).prop_map(|duration| Op::Block { duration }),
        ];
        check_sequences(bench, kind, &limits, op.boxed(), true);
    }
}

/// The differential test of calls on several limits.
fn any_sequence_on_a_compound_is_decided_as_by_take_all(bench: &Bench) {
    let limits = vec![per_second(5, 2.0), per_period(3, 7.0), fixed(5, 2.5), sliding(4, 3.0)];
    // Other numbers, whose states may seem from the future: a call that is denied corrects them.
    let long_window =
        if bench.mixes_sliding_windows() { sliding(9, 30.0) } else { sliding(4, 3.0) };
    let longer = [per_second(9, 0.2), per_period(9, 70.0), fixed(9, 25.0), long_window];
    let watched = bench.limiter_with(|policy| policy.enforce = false);
    let alone = prop_oneof![
        3 => lease(),
        8 => prop_oneof![
        Just(Op::Check),
        take_up_to(),
        (0u64..9, expiry()).prop_map(|(cost, expiry)| Op::Refund { cost, expiry }),
        settle(),
        (0u64..4).prop_map(|cost| Op::Take { cost }),
        (0u64..4).prop_map(|cost| Op::Reserve { cost, max_wait: 5 * SECOND }),
        (1..SECOND).prop_map(|duration| Op::Block { duration }),
        Just(Op::Reset),
        ],
    ];
    let call = (
        0u64..2_000_000,
        prop_oneof![
            3 => prop::array::uniform4((0u64..4, 0u64..7)).prop_map(Ok),
            1 => (0usize..4, alone, any::<bool>()).prop_map(Err),
        ],
    );
    let config = ProptestConfig {
        cases: bench.sequences,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let sequence = Cell::new(0u32);
    proptest!(config, |(calls in prop::collection::vec(call, 1..30), enforced: [bool; 4])| {
        sequence.set(sequence.get() + 1);
        // One slot of a cluster in every other sequence.
        let tag = if sequence.get().is_multiple_of(2) { "{t}" } else { "" };
        let name = |i: usize| format!("c{tag}{}-{i}", sequence.get()).into_bytes();
        let limiters = enforced.map(|is_enforced| if is_enforced { &bench.limiter } else { &watched });
        let compound = Compound::new(limiters.into(), (0..4).map(name).collect(), limits.clone());
        let (mut states, mut now) = ([StoredState::FULL; 4], T0);
        for (micros, call) in calls {
            now += micros * 1_000;
            match call {
                Err((i, op, is_longer)) => {
                    let is_lease = matches!(op, Op::Lease { .. } | Op::GiveBack { .. });
                    // The last is a sliding window.
                    if is_lease && (i == 3 || !bench.limiter.is_remote()) {
                        continue;
                    }
                    let limit = if is_longer { &longer[i] } else { &limits[i] };
                    let (expected, state) = apply(limit, &states[i], now, op);
                    states[i] = state;
                    prop_assert_eq!(bench.call(&name(i), limit, op, now), expected);
                }
                Ok(call) => {
                    let (costs, real) = (call.map(|(cost, _)| cost), call.map(|(_, real)| real));
                    let charge = |i: usize| {
                        Charge { limit: &limits[i], state: states[i].clone(), op: Op::Take { cost: costs[i] }, is_enforced: enforced[i] }
                    };
                    let charges: Vec<_> = (0..4).map(charge).collect();
                    let expected = token_bucket::limit::take_all(&charges, now);
                    for (state, (_, after)) in states.iter_mut().zip(&expected.each) {
                        state.clone_from(after);
                    }
                    let decisions = compound.take(&costs, now);
                    prop_assert_eq!(&decisions, &expected.decisions(), "{:?}", costs);
                    let settled = compound.settle(&decisions, &real, now);
                    for i in 0..4 {
                        let (is_done, level) = match decisions[i].settle(real[i]) {
                            _ if decisions[i].taken == 0 => (false, None),
                            Op::Settle { cost: 0, .. } => (true, None),
                            op => {
                                let (decision, after) = apply(&limits[i], &states[i], now, op);
                                states[i] = after;
                                (decision.is_accepted(), Some(decision))
                            }
                        };
                        prop_assert_eq!(settled[i], Settled { is_done: Some(is_done), level });
                    }
                }
            }
        }
    });
}

fn any_sequence_on_a_window_is_decided_as_by_apply(bench: &Bench) {
    let limits =
        [(5, 2.5), (7, 1.0 / 3.0), (3, 7.0)].map(|(limit, interval)| fixed(limit, interval));
    let op = prop_oneof![
        4 => (0u64..5).prop_map(|cost| Op::Take { cost }),
        1 => (0u64..9).prop_map(|cost| Op::Peek { cost }),
        1 => (0u64..9, expiry()).prop_map(|(cost, expiry)| Op::Refund { cost, expiry }),
        1 => settle(),
        1 => take_up_to(),
        1 => Just(Op::Reset),
        1 => (1..SECOND).prop_map(|duration| Op::Block { duration }),
    ];
    check_sequences(bench, "w", &limits, op.boxed(), true);
}

/// Three limits by the same calendar, of which one knows the boundary less exactly. The sequences cross it.
fn any_sequence_on_a_calendar_window_is_decided_as_by_apply(bench: &Bench) {
    let limits = [(5, 0), (7, 2), (3, 0)].map(|(hits, late): (i64, u64)| {
        let ends = [T0 - 3_590 * SECOND, T0 + 10 * SECOND, T0 + 3_610 * SECOND];
        calendar(hits, ends.map(|end| end + late * SECOND))
    });
    // Of a window, of one after resets, or of one after a block.
    let number = prop_oneof![2 => Just(0), 2 => 1u64..3, 1 => 500u64..520];
    let expiry = || {
        let own = number.clone().prop_map(|number| Some(T0 + 10 * SECOND + number * 1_000));
        prop_oneof![1 => expiry(), 3 => own]
    };
    let op = prop_oneof![
        4 => (0u64..5).prop_map(|cost| Op::Take { cost }),
        1 => (0u64..9).prop_map(|cost| Op::Peek { cost }),
        2 => (0u64..9, expiry()).prop_map(|(cost, expiry)| Op::Refund { cost, expiry }),
        1 => (0u64..9, expiry())
            .prop_map(|(cost, expiry)| Op::Settle { cost, expiry: expiry.unwrap_or(T0) }),
        1 => take_up_to(),
        1 => Just(Op::Reset),
        1 => (1..SECOND).prop_map(|duration| Op::Block { duration }),
    ];
    check_sequences(bench, "d", &limits, op.boxed(), true);
}

fn calendar_window_ends_at_the_boundary(bench: &Bench) {
    let hour = 3_600 * SECOND;
    let window = calendar(2, [T0, T0 + 23 * hour, T0 + 48 * hour]);
    let take = |cost, hours| bench.take(b"x", &window, cost, T0 + hours * hour);
    assert_eq!((take(1, 20).expires_at, take(1, 22).is_accepted()), (T0 + 23 * hour, true));
    assert_eq!(take(1, 22).retry_at, T0 + 23 * hour);
    assert_eq!(take(3, 22).retry_at, Decision::NEVER);
    assert_eq!(take(2, 23).expires_at, T0 + 48 * hour);
    assert!(!take(1, 47).is_accepted());
    // Long after the caller looked at a calendar.
    assert_eq!((take(2, 99).is_accepted(), take(1, 100).retry_at), (true, T0 + 123 * hour));
    // Its state is its own.
    assert!(bench.take(b"x", &fixed(2, 60.0), 2, T0 + 100 * hour).is_accepted());
}

fn any_sequence_on_a_sliding_window_is_decided_as_by_apply(bench: &Bench) {
    let limits =
        [(5, 2.5), (7, 1.0 / 3.0), (3, 7.0)].map(|(hits, interval)| sliding(hits, interval));
    let op = prop_oneof![
        4 => (0u64..5).prop_map(|cost| Op::Take { cost }),
        1 => (0u64..9).prop_map(|cost| Op::Peek { cost }),
        1 => (0u64..9, expiry()).prop_map(|(cost, expiry)| Op::Refund { cost, expiry }),
        1 => settle(),
        1 => take_up_to(),
        1 => Just(Op::Check),
        1 => Just(Op::Reset),
        1 => (1..SECOND).prop_map(|duration| Op::Block { duration }),
    ];
    check_sequences(bench, "s", &limits, op.boxed(), bench.mixes_sliding_windows());
}

/// A refund under another limit than the one that the hits were taken under, also in shared memory.
fn refunds_of_a_lowered_or_raised_sliding_window_are_done_as_by_apply(bench: &Bench) {
    let (own, others) = (sliding(5, 2.5), [sliding(2, 2.5), sliding(5, 2.5), sliding(9, 2.5)]);
    let call = prop_oneof![
        (0u64..5).prop_map(|cost| (1, Op::Take { cost })),
        (0usize..3, 0u64..9, expiry())
            .prop_map(|(limit, cost, expiry)| (limit, Op::Refund { cost, expiry })),
    ];
    let config = ProptestConfig {
        cases: bench.sequences / 10,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let sequence = Cell::new(0u32);
    proptest!(config, |(calls in prop::collection::vec((call, 0u64..500_000), 1..20))| {
        sequence.set(sequence.get() + 1);
        let name = format!("r{}", sequence.get());
        let (mut state, mut now) = (StoredState::FULL, T0);
        for ((limit, op), micros) in calls {
            now += micros * 1_000;
            let (expected, after) = apply(&others[limit], &state, now, op);
            state = after;
            let found = bench.call(name.as_bytes(), &others[limit], op, now);
            prop_assert_eq!(found.is_accepted(), expected.is_accepted(), "{:?} of {:?}", op, others[limit]);
            let peek = Op::Peek { cost: 1 };
            let (expected, _) = apply(&own, &state, now, peek);
            prop_assert_eq!(bench.call(name.as_bytes(), &own, peek, now), expected, "after {:?}", op);
        }
    });
}

/// The differential test: compares the store with the pure function on random sequences of calls.
///
/// Time only goes forwards: a store may forget an expired state, and then a clock that goes back finds a
/// full bucket.
fn any_sequence_on_a_bucket_is_decided_as_by_apply(bench: &Bench) {
    let limits = [per_second(5, 2.0), per_second(7, 1.0 / 3.0), per_period(3, 7.0)];
    let op = prop_oneof![
        4 => (0u64..4).prop_map(|cost| Op::Take { cost }),
        1 => (0u64..9).prop_map(|cost| Op::Peek { cost }),
        2 => Just(Op::Check),
        1 => (0u64..4, 0u64..9).prop_map(|(cost, s)| Op::Reserve { cost, max_wait: s * SECOND }),
        1 => (0u64..9, expiry()).prop_map(|(cost, expiry)| Op::Refund { cost, expiry }),
        1 => settle(),
        1 => take_up_to(),
        1 => Just(Op::Reset),
        // The first bucket is empty at 2.5 seconds.
        1 => (0..5 * SECOND).prop_map(|missing| Op::Start { missing }),
        1 => (1..SECOND).prop_map(|duration| Op::Block { duration }),
    ];
    check_sequences(bench, "b", &limits, op.boxed(), true);
}

/// Two keys have the same calls, and one of them is also looked at, under other numbers too: the decisions on both stay the same.
fn look_with_any_numbers_changes_nothing(bench: &Bench) {
    let of_day = |hits, after: u64| calendar(hits, [T0, T0 + after * SECOND, T0 + 9_000 * SECOND]);
    let kinds = [
        [per_second(5, 2.0), per_second(7, 200.0), per_period(3, 7.0)],
        [fixed(5, 2.5), fixed(7, 0.1), fixed(3, 7.0)],
        [of_day(5, 9), of_day(7, 700), of_day(3, 7_000)],
        [sliding(5, 2.5), sliding(7, 0.1), sliding(3, 7.0)],
    ];
    let op = prop_oneof![
        4 => (0u64..5).prop_map(|cost| Op::Take { cost }),
        1 => Just(Op::Check),
        1 => (0u64..4).prop_map(|cost| Op::Reserve { cost, max_wait: 5 * SECOND }),
        1 => (0u64..9, expiry()).prop_map(|(cost, expiry)| Op::Refund { cost, expiry }),
        1 => settle(),
        1 => take_up_to(),
        1 => Just(Op::Reset),
        1 => (1..9 * SECOND).prop_map(|duration| Op::Block { duration }),
    ];
    let call = (0usize..3, op, prop::collection::vec((0usize..3, 0u64..9), 0..3), 0u64..2_000_000);
    let config = ProptestConfig {
        cases: bench.sequences / 10,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let sequence = Cell::new(0u32);
    proptest!(config, |(calls in prop::collection::vec(call, 1..20), kind in 0usize..4)| {
        sequence.set(sequence.get() + 1);
        let name = |which| format!("look{}-{which}", sequence.get()).into_bytes();
        let mut now = T0;
        for (limit, op, looks, micros) in calls {
            now += micros * 1_000;
            for (limit, cost) in looks {
                bench.call(&name("seen"), &kinds[kind][limit], Op::Peek { cost }, now);
            }
            let decided = ["seen", "unseen"].map(|which| bench.call(&name(which), &kinds[kind][limit], op, now));
            prop_assert_eq!(decided[0], decided[1], "{:?} of {:?}", op, kinds[kind][limit]);
        }
    });
}

/// Plays sequences on three keys, under three limits in turn, or each under one of its own.
fn check_sequences(
    bench: &Bench,
    kind: &str,
    limits: &[Limit; 3],
    op: BoxedStrategy<Op>,
    mixes_limits: bool,
) {
    let call = (0usize..3, 0usize..3, op, 0u64..2_000_000);
    let config = ProptestConfig {
        cases: bench.sequences,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let sequence = Cell::new(0u32);
    proptest!(config, |(calls in prop::collection::vec(call, 1..30))| {
        sequence.set(sequence.get() + 1);
        let mut states = [StoredState::FULL; 3];
        let mut now = T0;
        for (key, limit, op, micros) in calls {
            let limit = if mixes_limits { limit } else { key };
            now += micros * 1_000;
            let name = format!("{kind}{}-{key}", sequence.get());
            let (mut expected, mut state) = apply(&limits[limit], &states[key], now, op);
            let found = bench.call(name.as_bytes(), &limits[limit], op, now);
            if states[key].expires_at() <= now && found != expected {
                // The store has forgotten a state that has ended: a block, with the number of the calendar window that begins
                // after it, or a window that is still open by the expiry of the call that is settled.
                (expected, state) = apply(&limits[limit], &StoredState::FULL, now, op);
            }
            states[key] = state;
            prop_assert_eq!(found, expected, "{:?} of {:?} at {}", op, limits[limit], now);
        }
    });
}
