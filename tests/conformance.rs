//! The conformance suite: every case runs on every store.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod support;

use proptest::prelude::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicU32, Ordering};
use support::Folder;
use token_bucket::dsn::{Dsn, OnError};
use token_bucket::limit::{Decision, FixedWindow, Limit, Op, SECOND, State, TokenBucket, apply};
use token_bucket::limiter::{
    CallContext, CounterHandle, Identifier, Limiter, Limiters, Policy, Settings, StoreSettings,
};
use token_bucket::store::{FileSettings, KeyHash, Stores, Timeouts};

const T0: u64 = 1_700_000_000 * SECOND;

/// A store for one case, and how to call it.
struct Bench {
    limiter: Limiter,
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
            store: StoreSettings {
                files: FileSettings { path: folder.0.clone(), size: 16 << 20 },
                timeouts: Timeouts { call: timeout, connect: timeout },
            },
            policy: Policy {
                on_error: OnError::Throw,
                deny_cache: true,
                enforce: true,
                track_identifiers: true,
            },
        };
        // Servers outlive a case, so each case has a prefix of its own.
        static CASES: AtomicU32 = AtomicU32::new(0);
        let prefix = format!("{}-{}:", std::process::id(), CASES.fetch_add(1, Ordering::Relaxed));
        // Redis has a server-side implementation, and shared memory packs a state most tightly. The others call the
        // pure function on the state as it is, and Redis's other transports run the same scripts.
        let is_differential =
            ["shm:", "array:", "redis+unix:"].iter().any(|scheme| dsn.starts_with(scheme));
        let sequences = if is_differential { 10_000 } else { 500 };
        let mut dsn = Dsn::parse(dsn).unwrap();
        dsn.options.prefix = Some(prefix.into_bytes());
        let statistics = Limiters::default().statistics(b"", &settings);
        let limiter = Limiter::new(&dsn, b"", &settings, &Stores::default(), statistics);
        limiter.prepare().unwrap();
        Self { limiter, sequences, _folder: folder }
    }

    /// Opens the server whose DSN is in the environment variable `server`; see scripts/servers.sh.
    fn for_server(server: &str, case: &str) -> Self {
        let dsn = std::env::var(server).unwrap_or_else(|_| {
            panic!("{server} is not set: run scripts/servers.sh cargo test, or make test")
        });
        Self::new(&dsn, &format!("{server}-{case}"))
    }

    fn call(&self, name: &[u8], limit: &Limit, op: Op, now: u64) -> Decision {
        let answer =
            with_context(name, |context| self.limiter.decide(&context, limit, &op, Some(now)));
        let answer = answer.unwrap();
        assert!(!answer.flags.is_degraded());
        answer.decision
    }

    fn admits(&self, name: &[u8], limit: &Limit, op: Op, now: Option<u64>) -> bool {
        with_context(name, |context| self.limiter.admits(&context, limit, &op, now)).unwrap()
    }

    fn take(&self, name: &[u8], limit: &Limit, cost: u64, now: u64) -> Decision {
        self.call(name, limit, Op::Take { cost }, now)
    }
}

fn with_context<R>(name: &[u8], call: impl FnOnce(CallContext<'_>) -> R) -> R {
    let (key_hash, counter) = (Cell::new(KeyHash::default()), Cell::new(CounterHandle::default()));
    let identifier = Identifier::Plain(name);
    call(CallContext { identifier, name: None, key_hash: &key_hash, counter: &counter })
}

fn per_second(capacity: i64, rate: f64) -> Limit {
    TokenBucket::per_second(capacity, rate).unwrap().into()
}

fn per_window(limit: i64, window: i64) -> Limit {
    TokenBucket::per_window(limit, window).unwrap().into()
}

/// Declares a module with a test for each case on one server.
macro_rules! on_server {
    ($store:ident $variable:ident: $($case:ident),*) => {
        mod $store {
            $(#[test] fn $case() {
                super::$case(&super::Bench::for_server(stringify!($variable), stringify!($case)));
            })*
        }
    };
}

/// Declares a test for each case on each store.
macro_rules! on_every_store {
    ($($case:ident),* $(,)?) => {
        mod shared_memory {
            $(#[test] fn $case() {
                super::$case(&super::Bench::new("shm:", concat!("shm-", stringify!($case))));
            })*
        }
        mod array {
            $(#[test] fn $case() {
                super::$case(&super::Bench::new("array:", concat!("array-", stringify!($case))));
            })*
        }
        on_server!(redis TB_REDIS: $($case),*);
        on_server!(redis_unix TB_REDIS_UNIX: $($case),*);
        on_server!(redis_tls TB_REDIS_TLS: $($case),*);
        on_server!(redis_cluster TB_REDIS_CLUSTER: $($case),*);
        on_server!(redis_sentinel TB_REDIS_SENTINEL: $($case),*);
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
    check_charges_denied_calls_and_forgives_after_a_refill,
    reservations_are_served_in_order,
    refund_and_reset_give_tokens_back,
    changed_limit_takes_effect,
    different_identifiers_have_different_buckets,
    system_clock_counts_without_a_test,
    clock_that_went_back_denies_for_one_refill_at_most,
    admits_agrees_with_decide,
    window_opens_ends_and_takes_refunds,
    windows_and_buckets_of_one_identifier_are_separate,
    any_sequence_on_a_bucket_is_decided_as_by_apply,
    any_sequence_on_a_window_is_decided_as_by_apply,
);

fn bucket_starts_full_and_refills(bench: &Bench) {
    let limit = per_second(3, 0.5);
    for left in [2, 1, 0] {
        let decision = bench.take(b"x", &limit, 1, T0);
        assert!(decision.accepted);
        assert_eq!(limit.remaining(&decision), left);
    }
    let denied = bench.take(b"x", &limit, 1, T0 + SECOND);
    assert!(!denied.accepted);
    assert_eq!((denied.retry_after(), denied.reset_after()), (1.0, 5.0));
    assert!(!bench.take(b"x", &limit, 1, T0 + 2 * SECOND - 1).accepted);
    assert!(bench.take(b"x", &limit, 1, T0 + 2 * SECOND).accepted);
    assert!(bench.take(b"x", &limit, 3, T0 + 60 * SECOND).accepted);
}

fn denied_call_changes_nothing(bench: &Bench) {
    let limit = per_second(2, 1.0);
    bench.take(b"x", &limit, 2, T0);
    for step in 0..9 {
        assert!(!bench.take(b"x", &limit, 1, T0 + step * SECOND / 10).accepted);
        assert!(!bench.call(b"x", &limit, Op::Peek { cost: 1 }, T0 + step * SECOND / 10).accepted);
    }
    assert!(bench.take(b"x", &limit, 1, T0 + SECOND).accepted);
    assert_eq!(bench.take(b"x", &limit, 3, T0).retry_at, Decision::NEVER);
}

fn check_charges_denied_calls_and_forgives_after_a_refill(bench: &Bench) {
    let limit = per_window(2, 20);
    let check = |seconds: u64| bench.call(b"x", &limit, Op::Check, T0 + seconds * SECOND).accepted;
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
        assert!(decision.accepted);
        assert_eq!(decision.wait(), wait);
    }
    let refused = reserve(2 * SECOND);
    assert!(!refused.accepted);
    assert_eq!(refused.retry_after(), 1.0);
    assert!(!bench.take(b"x", &limit, 1, T0 + 3 * SECOND - 1).accepted);
    assert!(bench.take(b"x", &limit, 1, T0 + 3 * SECOND).accepted);
}

fn refund_and_reset_give_tokens_back(bench: &Bench) {
    let limit = per_second(5, 1.0);
    bench.take(b"x", &limit, 5, T0);
    assert_eq!(limit.remaining(&bench.call(b"x", &limit, Op::Refund { cost: 2, window: None }, T0)), 2);
    assert_eq!(limit.remaining(&bench.call(b"x", &limit, Op::Refund { cost: 9, window: None }, T0)), 5);
    bench.take(b"x", &limit, 5, T0);
    assert_eq!(limit.remaining(&bench.call(b"x", &limit, Op::Reset, T0)), 5);
    assert!(bench.take(b"x", &limit, 5, T0).accepted);
    assert_eq!(limit.remaining(&bench.call(b"new", &limit, Op::Refund { cost: 2, window: None }, T0)), 5);
}

fn changed_limit_takes_effect(bench: &Bench) {
    let (wide, narrow) = (per_second(10, 1.0), per_second(2, 1.0));
    bench.take(b"x", &wide, 5, T0);
    assert!(!bench.take(b"x", &narrow, 1, T0).accepted);
    assert_eq!(bench.take(b"x", &narrow, 1, T0).retry_after(), 1.0);
    bench.take(b"y", &narrow, 2, T0);
    assert_eq!(wide.remaining(&bench.call(b"y", &wide, Op::Peek { cost: 0 }, T0)), 8);
}

fn different_identifiers_have_different_buckets(bench: &Bench) {
    let limit = per_second(1, 0.001);
    let long = [b'a'; 4096];
    let mut names: Vec<Vec<u8>> = (0..4_000).map(|i: u32| i.to_string().into_bytes()).collect();
    names.extend(
        [&b"a"[..], b"a\0", b"\0a", b"\xff\xfe", b"tb:a", b"a b", &long, &long[1..]].map(Vec::from),
    );
    for name in &names {
        assert!(bench.take(name, &limit, 1, T0).accepted, "{name:?}");
    }
    for name in &names {
        assert!(!bench.take(name, &limit, 1, T0).accepted, "{name:?}");
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
    assert!(!bench.take(b"x", &limit, 1, back + SECOND - 1).accepted);
    assert!(bench.take(b"x", &limit, 2, back + 2 * SECOND).accepted);
}

fn admits_agrees_with_decide(bench: &Bench) {
    let limit = per_second(3, 1.0);
    for i in 0..20 {
        let (op, now) = (Op::Take { cost: i % 3 }, T0 + i * SECOND / 2);
        let decision = bench.call(b"x", &limit, op, now);
        assert_eq!(bench.admits(b"y", &limit, op, Some(now)), decision.accepted);
    }
}

fn window_opens_ends_and_takes_refunds(bench: &Bench) {
    let window = Limit::from(FixedWindow::new(3, 10.0).unwrap());
    let hit = |now| bench.take(b"x", &window, 1, now);
    for left in [2, 1, 0] {
        assert_eq!(window.remaining(&hit(T0 + 2 * SECOND - left)), left);
    }
    let denied = hit(T0 + 9 * SECOND);
    assert!(!denied.accepted);
    assert!((denied.retry_after() - 3.0).abs() < 1e-6);
    assert_eq!(
        window.remaining(&bench.call(b"x", &window, Op::Peek { cost: 1 }, T0 + 9 * SECOND)),
        0
    );
    assert_eq!(
        window.remaining(&bench.call(b"x", &window, Op::Refund { cost: 2, window: None }, T0 + 9 * SECOND)),
        2
    );
    assert!(bench.take(b"x", &window, 2, T0 + 10 * SECOND).accepted);
    assert!(!hit(T0 + 12 * SECOND - 2).accepted, "its last moment is part of it");
    assert_eq!(window.remaining(&hit(T0 + 12 * SECOND)), 2);
    assert_eq!(bench.take(b"x", &window, 4, T0 + 13 * SECOND).retry_at, Decision::NEVER);
    assert_eq!(window.remaining(&bench.call(b"x", &window, Op::Reset, T0 + 13 * SECOND)), 3);
    assert!(bench.take(b"x", &window, 3, T0 + 13 * SECOND).accepted);
    // A clock that went back by an hour denies for one interval.
    assert!(!hit(T0 - 3_600 * SECOND).accepted);
    assert!(hit(T0 - 3_590 * SECOND + 1).accepted);
}

fn windows_and_buckets_of_one_identifier_are_separate(bench: &Bench) {
    let (window, bucket) = (Limit::from(FixedWindow::new(1, 10.0).unwrap()), per_second(1, 0.001));
    let long = [b'a'; 300];
    for name in [&b"x"[..], b"w:x", b"h:x", b"a b", b"w:a b", &long] {
        assert!(bench.take(name, &window, 1, T0).accepted);
        assert!(bench.take(name, &bucket, 1, T0).accepted);
        assert!(!bench.take(name, &window, 1, T0).accepted);
        assert!(!bench.take(name, &bucket, 1, T0).accepted);
    }
}

fn any_sequence_on_a_window_is_decided_as_by_apply(bench: &Bench) {
    let limits = [(5, 2.5), (7, 1.0 / 3.0), (3, 7.0)]
        .map(|(limit, interval)| Limit::from(FixedWindow::new(limit, interval).unwrap()));
    let op = prop_oneof![
        4 => (0u64..5).prop_map(|cost| Op::Take { cost }),
        1 => (0u64..9).prop_map(|cost| Op::Peek { cost }),
        1 => (0u64..4).prop_map(|cost| Op::Refund { cost, window: None }),
        1 => Just(Op::Reset),
    ];
    check_sequences(bench, "w", &limits, op.boxed());
}

/// The differential test: compares the store with the pure function on random sequences of calls.
///
/// Time only goes forwards: a store may forget an expired state, and then a clock that goes back finds a
/// full bucket.
fn any_sequence_on_a_bucket_is_decided_as_by_apply(bench: &Bench) {
    let limits = [per_second(5, 2.0), per_second(7, 1.0 / 3.0), per_window(3, 7)];
    let op = prop_oneof![
        4 => (0u64..4).prop_map(|cost| Op::Take { cost }),
        1 => (0u64..9).prop_map(|cost| Op::Peek { cost }),
        2 => Just(Op::Check),
        1 => (0u64..4, 0u64..9).prop_map(|(cost, s)| Op::Reserve { cost, max_wait: s * SECOND }),
        1 => (0u64..4).prop_map(|cost| Op::Refund { cost, window: None }),
        1 => Just(Op::Reset),
        1 => (0..SECOND).prop_map(|missing| Op::Start { missing }),
    ];
    check_sequences(bench, "b", &limits, op.boxed());
}

fn check_sequences(bench: &Bench, kind: &str, limits: &[Limit; 3], op: BoxedStrategy<Op>) {
    let call = (0usize..3, 0usize..3, op, 0u64..2_000_000);
    let config = ProptestConfig {
        cases: bench.sequences,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let sequence = Cell::new(0u32);
    proptest!(config, |(calls in prop::collection::vec(call, 1..30))| {
        sequence.set(sequence.get() + 1);
        let mut states = [State::FULL; 3];
        let mut now = T0;
        for (key, limit, op, micros) in calls {
            now += micros * 1_000;
            let name = format!("{kind}{}-{key}", sequence.get());
            let (expected, state) = apply(&limits[limit], states[key], now, op);
            states[key] = state;
            let found = bench.call(name.as_bytes(), &limits[limit], op, now);
            prop_assert_eq!(found, expected, "{:?} of {:?} at {}", op, limits[limit], now);
        }
    });
}
