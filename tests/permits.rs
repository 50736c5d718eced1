//! Permits: the conformance of all stores that hold them, and the file of permits in shared memory.

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
use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;
use support::{Folder, with_context};
use token_bucket::clock::{at, freeze};
use token_bucket::dsn::Dsn;
use token_bucket::guard::Stores;
use token_bucket::limit::{HeldPermits, Op, PermitLimit, PermitOp, SECOND, TokenBucket};
use token_bucket::limiter::{
    CallContext, HeldPermit, Limiter, Limiters, acquire, count_permits, reset_permits,
};
use token_bucket::mapped::{FileSettings, Location, MIN_SIZE, PERMITS_SIZE, Purpose};
use token_bucket::net::Timeouts;
use token_bucket::settings::{OnError, Settings};
use token_bucket::store::shm::permits::{PermitTable, SharedPermits};
use token_bucket::store::{Key, KeyHash, LimitKind, PermitHandle, Permits};

const T0: u64 = 1_700_000_000 * SECOND;

/// A store for one case, and how to call it.
struct Bench {
    limiter: Rc<Limiter>,
    /// The number of random sequences to try.
    sequences: u32,
    /// Whether its clock can be set back.
    clock_goes_back: bool,
    _folder: Folder,
}

impl Bench {
    fn new(dsn: &str, case: &str) -> Self {
        let folder = Folder::new(&format!("permits-{case}"));
        let timeout = Duration::from_secs(10);
        let settings = Settings {
            on_error: OnError::Throw,
            timeout_ms: timeout,
            connect_timeout_ms: timeout,
            shm_path: folder.0.clone(),
            shm_size: MIN_SIZE,
            ..Settings::default()
        };
        let (sequences, clock_goes_back) = (support::sequences(dsn), !dsn.starts_with("shm:"));
        let mut dsn = Dsn::parse(dsn).unwrap();
        dsn.overrides.prefix = Some(support::unused_prefix());
        let statistics = Limiters::default().statistics(&settings);
        let limiter = Rc::new(Limiter::new(&dsn, settings, &Stores::default(), statistics));
        Self { limiter, sequences, clock_goes_back, _folder: folder }
    }

    /// Opens the server whose DSN is in the environment variable `server`; see scripts/servers.sh.
    fn for_server(server: &str, case: &str) -> Self {
        Self::new(&support::server_dsn(server), &format!("{server}-{case}"))
    }

    fn acquire(&self, name: &[u8], limit: &PermitLimit, now: u64) -> Option<HeldPermit> {
        self.acquire_leaving(name, limit, 0, now)
    }

    fn acquire_leaving(
        &self,
        name: &[u8],
        limit: &PermitLimit,
        leave: u64,
        now: u64,
    ) -> Option<HeldPermit> {
        let ask = |context: CallContext<'_>| acquire(&self.limiter, &context, limit, leave);
        at(Some(now), || with_context(name, ask)).answer.unwrap()
    }

    fn count(&self, name: &[u8], now: u64) -> u32 {
        let ask = |context: CallContext<'_>| count_permits(&self.limiter, &context, &limit(1));
        at(Some(now), || with_context(name, ask)).answer.unwrap()
    }

    fn reset(&self, name: &[u8], now: u64) {
        let ask = |context: CallContext<'_>| reset_permits(&self.limiter, &context);
        at(Some(now), || with_context(name, ask)).answer.unwrap();
    }
}

/// So many at once, for ten seconds.
fn limit(max: i64) -> PermitLimit {
    PermitLimit::new(max, 10.0).unwrap()
}

fn renew(permit: &mut HeldPermit, seconds: u64, now: u64) -> bool {
    at(Some(now), || permit.renew(seconds * SECOND)).answer.unwrap().unwrap()
}

fn release(permit: HeldPermit, now: u64) {
    at(Some(now), || permit.release()).answer.unwrap();
}

on_host_and_redis!(
    limit_holds_until_a_permit_is_released,
    permits_are_left_to_others,
    permit_is_free_when_its_lifetime_has_ended,
    renewed_permit_begins_a_new_lifetime,
    late_release_and_renewal_do_not_touch_another_permit,
    reset_frees_all_permits_whoever_holds_them,
    identifiers_and_kinds_are_separate,
    lowered_limit_takes_effect,
    system_clock_counts_without_a_test,
    largest_limit_is_held_exactly,
    any_sequence_is_answered_as_by_held_permits,
);

fn permits_are_left_to_others(bench: &Bench) {
    let take = |leave| bench.acquire_leaving(b"x", &limit(5), leave, T0);
    let mut low: Vec<_> = (0..3).map(|_| take(2).expect("two stay free")).collect();
    assert!(take(2).is_none() && take(3).is_none());
    let high = [take(1).expect("one stays free"), take(0).expect("the last one")];
    assert!([0, 1, 2].into_iter().all(|leave| take(leave).is_none()));
    high.into_iter().for_each(|permit| release(permit, T0));
    assert!(take(2).is_none(), "three are held");
    release(low.remove(0), T0);
    assert!(take(5).is_none() && take(u64::MAX).is_none(), "all are to stay free");
    let again = take(2).expect("two are held");
    assert_eq!(bench.count(b"x", T0), 3);
    low.push(again);
    low.into_iter().for_each(|permit| release(permit, T0));

    let high: Vec<_> = (0..3).map(|_| take(0).expect("all are free")).collect();
    assert!(take(2).is_none(), "three are held, by calls of any kind");
    high.into_iter().for_each(|permit| release(permit, T0));
}

fn limit_holds_until_a_permit_is_released(bench: &Bench) {
    let mut held: Vec<_> =
        (0..3).map(|_| bench.acquire(b"x", &limit(3), T0).expect("there is room")).collect();
    assert!(bench.acquire(b"x", &limit(3), T0).is_none());
    assert_eq!(bench.count(b"x", T0), 3);
    release(held.swap_remove(1), T0);
    assert_eq!(bench.count(b"x", T0), 2);
    held.push(bench.acquire(b"x", &limit(3), T0).expect("one was released"));
    assert!(bench.acquire(b"x", &limit(3), T0).is_none());
    held.into_iter().for_each(|permit| release(permit, T0));
    assert_eq!(bench.count(b"x", T0), 0);
}

fn permit_is_free_when_its_lifetime_has_ended(bench: &Bench) {
    let mut first = bench.acquire(b"x", &limit(1), T0).unwrap();
    let end = T0 + 10 * SECOND;
    assert!(bench.acquire(b"x", &limit(1), end - 1).is_none());
    assert_eq!((bench.count(b"x", end - 1), bench.count(b"x", end)), (1, 0));
    assert!(!renew(&mut first, 10, end), "its lifetime has ended");
    assert!(bench.acquire(b"x", &limit(1), end).is_some());
}

fn renewed_permit_begins_a_new_lifetime(bench: &Bench) {
    let mut permit = bench.acquire(b"x", &limit(1), T0).unwrap();
    let mut now = T0;
    for _ in 0..5 {
        now += 10 * SECOND - 1;
        assert!(renew(&mut permit, 10, now));
    }
    assert!(renew(&mut permit, 3, now), "a lifetime may be shortened");
    assert!(bench.acquire(b"x", &limit(1), now + 3 * SECOND - 1).is_none());
    assert!(!renew(&mut permit, 3, now + 3 * SECOND));
    assert_eq!(bench.count(b"x", now + 3 * SECOND), 0);
}

fn late_release_and_renewal_do_not_touch_another_permit(bench: &Bench) {
    let mut late = bench.acquire(b"x", &limit(1), T0).unwrap();
    let now = T0 + 10 * SECOND;
    let mut next = bench.acquire(b"x", &limit(1), now).unwrap();
    assert!(!renew(&mut late, 10, now));
    release(late, now);
    assert_eq!(bench.count(b"x", now), 1, "no other permit is released");
    assert!(bench.acquire(b"x", &limit(1), now).is_none());
    assert!(renew(&mut next, 10, now));
    // The same at one time of a frozen clock, so that both lifetimes end at once.
    bench.reset(b"x", now);
    let other = bench.acquire(b"x", &limit(1), now).unwrap();
    assert!(!renew(&mut next, 10, now), "it was reset");
    release(next, now);
    assert_eq!(bench.count(b"x", now), 1);
    release(other, now);
    assert_eq!(bench.count(b"x", now), 0);
}

fn reset_frees_all_permits_whoever_holds_them(bench: &Bench) {
    let held: Vec<_> = (0..5).map(|_| bench.acquire(b"x", &limit(5), T0).unwrap()).collect();
    bench.reset(b"x", T0);
    assert_eq!(bench.count(b"x", T0), 0);
    let again: Vec<_> = (0..5).map(|_| bench.acquire(b"x", &limit(5), T0).unwrap()).collect();
    for mut permit in held {
        assert!(!renew(&mut permit, 10, T0));
        release(permit, T0);
    }
    assert_eq!(bench.count(b"x", T0), 5);
    bench.reset(b"y", T0);
    assert_eq!(bench.count(b"x", T0), 5);
    again.into_iter().for_each(|permit| release(permit, T0));
}

fn identifiers_and_kinds_are_separate(bench: &Bench) {
    let bucket = TokenBucket::per_second(1, 1.0).unwrap().into();
    let take = |name| {
        let take = |context: CallContext<'_>| {
            at(Some(T0), || bench.limiter.decide(&context, &bucket, &Op::Take { cost: 1 }))
        };
        with_context(name, take).answer.unwrap().decision.is_accepted()
    };
    let mut held = Vec::new();
    for name in [&b"x"[..], b"y", b"x#c", b"x\0", b"a long name of odd characters \r\n"] {
        held.push(bench.acquire(name, &limit(1), T0).expect("each has its own"));
        assert!(bench.acquire(name, &limit(1), T0).is_none());
        assert!(take(name), "a bucket is something else");
        assert!(!take(name));
        assert_eq!(bench.count(name, T0), 1);
    }
    held.into_iter().for_each(|permit| release(permit, T0));
}

fn lowered_limit_takes_effect(bench: &Bench) {
    let mut held: Vec<_> = (0..4).map(|_| bench.acquire(b"x", &limit(4), T0).unwrap()).collect();
    assert!(bench.acquire(b"x", &limit(2), T0).is_none());
    release(held.pop().unwrap(), T0);
    release(held.pop().unwrap(), T0);
    assert!(bench.acquire(b"x", &limit(2), T0).is_none());
    release(held.pop().unwrap(), T0);
    held.push(bench.acquire(b"x", &limit(2), T0).unwrap());
    assert!(bench.acquire(b"x", &limit(5), T0).is_some());
    assert_eq!(bench.count(b"x", T0), 3);
}

fn system_clock_counts_without_a_test(bench: &Bench) {
    let short = PermitLimit::new(1, 0.2).unwrap();
    let acquire = || {
        with_context(b"x", |context| acquire(&bench.limiter, &context, &short, 0)).answer.unwrap()
    };
    let mut first = acquire().unwrap();
    assert!(acquire().is_none());
    assert_eq!(first.renew(SECOND / 5).answer, Ok(Some(true)));
    thread::sleep(Duration::from_millis(250));
    assert_eq!(first.renew(SECOND).answer, Ok(Some(false)));
    let second = acquire().expect("the lifetime has ended");
    first.release().answer.unwrap();
    assert!(acquire().is_none());
    second.release().answer.unwrap();
    assert!(acquire().is_some());
}

fn largest_limit_is_held_exactly(bench: &Bench) {
    let largest = PermitLimit::new(1_024, 126_230_400.0).unwrap();
    let mut held: Vec<_> = (0..1_024).map(|_| bench.acquire(b"x", &largest, T0).unwrap()).collect();
    assert!(bench.acquire(b"x", &largest, T0).is_none());
    assert_eq!(bench.count(b"x", T0), 1_024);
    release(held.swap_remove(700), T0 + SECOND);
    held.push(bench.acquire(b"x", &largest, T0 + SECOND).unwrap());
    assert!(bench.acquire(b"x", &largest, T0 + SECOND).is_none());
    bench.reset(b"x", T0);
    assert_eq!(bench.count(b"x", T0), 0);
}

/// What a step of a random sequence does: with the permit of this number, or with a new one.
#[derive(Clone, Copy, Debug)]
enum Step {
    Acquire,
    Renew(usize, u64),
    Release(usize),
    Reset,
}

fn any_sequence_is_answered_as_by_held_permits(bench: &Bench) {
    static SEQUENCES: AtomicU32 = AtomicU32::new(0);
    let config = ProptestConfig { cases: bench.sequences, ..ProptestConfig::default() };
    let step = prop_oneof![
        5 => Just(Step::Acquire),
        3 => (0usize..8, prop_oneof![1..4 * SECOND, Just(SECOND - 1), Just(SECOND)])
            .prop_map(|(n, lifetime)| Step::Renew(n, lifetime)),
        3 => (0usize..8).prop_map(Step::Release),
        1 => Just(Step::Reset),
    ];
    let wait = prop_oneof![3 => Just(0), 2 => 0..2 * SECOND, 1 => Just(SECOND), 1 => 0..10u64];
    let back = if bench.clock_goes_back { 0..9 * SECOND } else { 0..1 };
    let wait = (wait, prop_oneof![5 => Just(0), 1 => back]);
    let steps = prop::collection::vec((step, wait), 1..30);
    let start = prop_oneof![Just(T0), Just(1), 1..T0, Just(T0 + 999_999_999)];
    proptest!(config, |(steps in steps, max in 1i64..4, lifetime in 1..4 * SECOND, start in start)| {
        let sequence = SEQUENCES.fetch_add(1, Ordering::Relaxed);
        let name = format!("sequence-{sequence}");
        let limit = PermitLimit::new(max, lifetime as f64 / SECOND as f64).unwrap();
        let (mut model, mut held, mut now) = (HeldPermits::default(), Vec::new(), start);
        for (number, (step, (wait, back))) in steps.into_iter().enumerate() {
            now = (now + wait).saturating_sub(back).max(1);
            // The permit that a step is about: one of the last ones, released or not.
            let nth = |back: usize, held: &Vec<(u128, Option<HeldPermit>)>| {
                held.len().checked_sub(back + 1)
            };
            match step {
                Step::Acquire => {
                    let (id, lifetime) = (number as u128, limit.lifetime());
                    let expected =
                        model.apply(now, PermitOp::Acquire { id, max: limit.max(), lifetime });
                    let permit = bench.acquire(name.as_bytes(), &limit, now);
                    prop_assert_eq!(permit.is_some(), expected.accepted, "{:?}", step);
                    if permit.is_some() { held.push((id, permit)); }
                }
                Step::Renew(back, lifetime) => {
                    let Some(i) = nth(back, &held) else { continue };
                    let (id, permit) = &mut held[i];
                    let Some(permit) = permit else { continue };
                    let expected = model.apply(now, PermitOp::Renew { id: *id, lifetime });
                    prop_assert_eq!(at(Some(now), || permit.renew(lifetime)).answer.unwrap(), Some(expected.accepted));
                }
                Step::Release(back) => {
                    let Some(at) = nth(back, &held) else { continue };
                    let (id, permit) = &mut held[at];
                    let Some(permit) = permit.take() else { continue };
                    model.apply(now, PermitOp::Release { id: *id });
                    release(permit, now);
                }
                Step::Reset => {
                    model.apply(now, PermitOp::Reset);
                    bench.reset(name.as_bytes(), now);
                }
            }
            let active = model.apply(now, PermitOp::Count).active;
            prop_assert_eq!(bench.count(name.as_bytes(), now), active, "after {:?}", step);
        }
        // A frozen clock keeps keys on a server for an hour.
        bench.reset(name.as_bytes(), now);
    });
}

// The file of permits in shared memory.

fn location(folder: &Folder, size: u64) -> Location {
    let purpose = Purpose::Permits;
    Location { base: folder.0.clone(), name: "default.permits".into(), size, purpose }
}

/// The permits in a file as a process of their own sees them: with a descriptor and a number of their own.
fn process_in(folder: &Folder) -> SharedPermits {
    SharedPermits::in_table(Rc::new(PermitTable::new(location(folder, MIN_SIZE))), 0)
}

/// Sets this thread's clock.
fn call(frozen: Option<u64>) -> &'static Timeouts {
    static TIMEOUTS: Timeouts = Timeouts { call: Duration::ZERO, connect: Duration::ZERO };
    freeze(frozen);
    &TIMEOUTS
}

fn with_key<R>(name: &[u8], work: impl FnOnce(&Key<'_>) -> R) -> R {
    let key_hash = &Cell::new(KeyHash::default());
    work(&Key { parts: [b"tb:", name, b"", b""], kind: LimitKind::Concurrency, key_hash })
}

fn acquire_in(process: &SharedPermits, name: &[u8], max: i64) -> Option<PermitHandle> {
    with_key(name, |key| process.acquire(key, &limit(max), 0, call(Some(T0)))).unwrap()
}

fn count_in(process: &SharedPermits, name: &[u8]) -> u32 {
    with_key(name, |key| process.count(key, call(Some(T0)))).unwrap()
}

#[test]
fn permits_of_a_process_that_has_ended_are_free_at_once() {
    let folder = Folder::new("permits-ended");
    let (living, ended) = (process_in(&folder), process_in(&folder));
    let held = acquire_in(&living, b"x", 3).unwrap();
    assert!(acquire_in(&ended, b"x", 3).is_some() && acquire_in(&ended, b"x", 3).is_some());
    assert!(acquire_in(&living, b"x", 3).is_none(), "both live");
    assert_eq!(count_in(&living, b"x"), 3);
    drop(ended);
    assert_eq!(count_in(&living, b"x"), 1);
    let others: Vec<_> = (0..2).map(|_| process_in(&folder)).collect();
    assert!(others.iter().all(|other| acquire_in(other, b"x", 3).is_some()));
    assert!(others.iter().all(|other| acquire_in(other, b"x", 3).is_none()));
    living.release(&held, call(Some(T0))).unwrap();
    assert!(acquire_in(&others[0], b"x", 3).is_some());
}

#[test]
fn denied_call_frees_the_dead_of_a_large_limit_a_part_at_a_time() {
    let folder = Folder::new("permits-many-dead");
    let living = process_in(&folder);
    // More processes than one call asks about.
    let dead: Vec<_> = (0..200).map(|_| process_in(&folder)).collect();
    for process in &dead {
        assert!(acquire_in(process, b"x", 201).is_some());
    }
    let last = acquire_in(&living, b"x", 201).unwrap();
    drop(dead);
    let taken = (0..300).filter(|_| acquire_in(&living, b"x", 201).is_some()).count();
    assert_eq!(taken, 200);
    living.release(&last, call(Some(T0))).unwrap();
    assert_eq!(count_in(&living, b"x"), 200);
}

#[test]
fn dead_holder_is_found_behind_any_number_of_living_ones() {
    // A call that asks about 64 of them begins anywhere: so many are denied in vain once in ten thousand million times.
    for (max, calls) in [(64, 1), (80, 40), (300, 150), (1_024, 500)] {
        let folder = Folder::new(&format!("permits-behind-{max}"));
        let begin = || {
            let process = process_in(&folder);
            let is_taken = acquire_in(&process, b"x", max).is_some();
            (process, is_taken)
        };
        let mut living: Vec<_> = (0..max).map(|_| begin()).collect();
        for dead in [0, 63, max as usize / 2, max as usize - 1] {
            drop(living.remove(dead));
            // Each call is the first one of its process.
            let found = (0..calls).map(|_| begin()).find(|(_, is_taken)| *is_taken);
            living.insert(dead, found.unwrap_or_else(|| panic!("{max}: denied {calls} times")));
            assert!(!begin().1, "all live");
        }
    }
}

#[test]
fn permit_takes_the_place_of_a_dead_process_in_a_full_table() {
    let folder = Folder::new("permits-full");
    let (living, ended) = (process_in(&folder), process_in(&folder));
    let name = |n: usize| format!("client-{n}").into_bytes();
    let fill = |process: &SharedPermits, from: usize| {
        (from..from + 20_000).filter(|n| acquire_in(process, &name(*n), 1).is_some()).count()
    };
    // Slots are found by hashes, so a few sets may have one left.
    let slots = (MIN_SIZE as usize - 4_096) / 16;
    let (first, second) = (fill(&ended, 0), fill(&living, 20_000));
    assert!(first > slots * 9 / 10 && first <= slots, "{first} of {slots}");
    assert!(first + second <= slots, "no permit is evicted");
    // Of 2^34 tags two may be alike: a key in a hundred runs counts the permit of another.
    let counted = (0..20_000).filter(|n| count_in(&living, &name(*n)) == 1).count();
    assert!(counted.abs_diff(first) <= 2, "{counted} of {first}");
    drop(ended);
    let third = fill(&living, 40_000);
    assert!(second + third > slots * 9 / 10 && second + third <= slots, "{second} and {third}");
}

#[test]
fn permits_of_a_removed_file_are_gone_and_harm_nobody() {
    let folder = Folder::new("permits-removed");
    let (old, other) = (process_in(&folder), process_in(&folder));
    let mut held = acquire_in(&old, b"x", 1).unwrap();
    assert!(acquire_in(&other, b"x", 1).is_none());
    fs::remove_file(location(&folder, MIN_SIZE).path()).unwrap();
    // Each looks once a second whether its path still leads to its file.
    thread::sleep(Duration::from_millis(1_100));
    let next = acquire_in(&other, b"x", 1).expect("the new file has no permits");
    assert!(!old.renew(&mut held, SECOND, call(Some(T0))).unwrap());
    old.release(&held, call(Some(T0))).unwrap();
    assert_eq!(count_in(&old, b"x"), 1, "it sees the new file, and released nothing there");
    assert!(acquire_in(&old, b"x", 1).is_none());
    other.release(&next, call(Some(T0))).unwrap();
    assert!(acquire_in(&old, b"x", 1).is_some());
}

#[test]
fn file_of_permits_is_private_and_of_a_fixed_size() {
    let folder = Folder::new("permits-file");
    let settings = FileSettings { path: folder.0.clone(), size: 64 << 20 };
    let location = Location::of_permits(&settings, "default", Purpose::Permits);
    let permits = SharedPermits::in_table(Rc::new(PermitTable::new(location.clone())), 0);
    assert_eq!(permits.describe()[1], ("Permits held", "0".to_owned()));
    assert!(!location.path().exists(), "phpinfo() makes no file");
    assert!(acquire_in(&permits, b"x", 1).is_some());
    let metadata = fs::metadata(location.path()).unwrap();
    assert_eq!((metadata.len(), metadata.permissions().mode() & 0o777), (PERMITS_SIZE, 0o600));
    let name = location.path();
    assert_eq!(name.file_name().unwrap().to_str().unwrap(), "default.permits.v13");
}

#[test]
fn garbage_in_the_slots_closes_no_permit_for_ever() {
    let folder = Folder::new("permits-garbage");
    let process = process_in(&folder);
    assert!(acquire_in(&process, b"before", 1).is_some());
    let file = File::options().write(true).open(location(&folder, MIN_SIZE).path()).unwrap();
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut word = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        seed
    };
    let words: Vec<u8> = (0..(MIN_SIZE - 4_096) / 8).flat_map(|_| word().to_ne_bytes()).collect();
    file.write_all_at(&words, 4_096).unwrap();
    // Holders of garbage do not live, and what is no permit counts until it expires.
    let taken = (0..200).filter(|n| acquire_in(&process, &[*n], 20).is_some()).count();
    assert!(taken > 0);
    for n in 0..200 {
        with_key(&[n], |key| process.reset(key, call(Some(T0)))).unwrap();
        assert_eq!(count_in(&process, &[n]), 0);
    }
    let late = call(Some(1 << 61));
    let free = |n: u8| with_key(&[n], |key| process.acquire(key, &limit(1), 0, late)).unwrap();
    assert!((0..200).all(|n| free(n).is_some()));
}

#[test]
fn threads_never_hold_more_permits_than_the_limit() {
    const LIMIT: usize = 3;
    let folder = Folder::new("permits-threads");
    let (inside, most) = (AtomicU32::new(0), AtomicU32::new(0));
    let work = || {
        let process = process_in(&folder);
        let mut taken = HashMap::from([(true, 0u32), (false, 0)]);
        for _ in 0..5_000 {
            let handle =
                with_key(b"x", |key| process.acquire(key, &limit(LIMIT as i64), 0, call(None)));
            let handle = handle.unwrap();
            *taken.entry(handle.is_some()).or_default() += 1;
            let Some(mut handle) = handle else { continue };
            most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            assert!(process.renew(&mut handle, 10 * SECOND, call(None)).unwrap());
            inside.fetch_sub(1, Ordering::SeqCst);
            process.release(&handle, call(None)).unwrap();
        }
        taken
    };
    let taken: Vec<_> = thread::scope(|scope| {
        let running: Vec<_> = (0..8).map(|_| scope.spawn(work)).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(taken.iter().all(|taken| taken[&true] > 0));
    assert!(most.into_inner() <= LIMIT as u32);
    assert_eq!(with_key(b"x", |key| process_in(&folder).count(key, call(None))).unwrap(), 0);
}

#[test]
fn threads_that_leave_a_permit_never_keep_another_from_it() {
    let folder = Folder::new("permits-leave");
    let inside = AtomicU32::new(0);
    let low = || {
        let process = process_in(&folder);
        let mut taken = 0;
        for _ in 0..5_000 {
            let acquire = |key: &Key<'_>| process.acquire(key, &limit(3), 1, call(None));
            let Some(handle) = with_key(b"x", acquire).unwrap() else { continue };
            taken += 1;
            assert!(inside.fetch_add(1, Ordering::SeqCst) < 2);
            inside.fetch_sub(1, Ordering::SeqCst);
            process.release(&handle, call(None)).unwrap();
        }
        taken
    };
    let high = || {
        let process = process_in(&folder);
        for _ in 0..5_000 {
            let acquire = |key: &Key<'_>| process.acquire(key, &limit(3), 0, call(None));
            let handle = with_key(b"x", acquire).unwrap().expect("one stays free");
            process.release(&handle, call(None)).unwrap();
        }
    };
    thread::scope(|scope| {
        let running: Vec<_> = (0..6).map(|_| scope.spawn(low)).collect();
        scope.spawn(high);
        assert!(running.into_iter().map(|thread| thread.join().unwrap()).sum::<u32>() > 0);
    });
    assert_eq!(with_key(b"x", |key| process_in(&folder).count(key, call(None))).unwrap(), 0);
}
