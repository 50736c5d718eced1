//! The slot protocol on real words of 128 bits, with threads, in plain memory: Miri, which has no
//! shared files, can run it, too.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod call;

use portable_atomic::AtomicU128;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use token_bucket::limit::{Op, TokenBucket};
use token_bucket::mapped::set::WAYS;
use token_bucket::mapped::word::Word;
use token_bucket::store::shm::held;
use token_bucket::store::shm::slot::{HeldSlot, Slot};

const THREADS: usize = 4;
/// Fewer under Miri, which takes a thousand times as long.
const SETS: usize = if cfg!(miri) { 4 } else { 2_000 };

/// How often each of `keys` was accepted by all threads together. Each thread calls `tries` times for
/// each key, whose bucket holds `capacity` tokens and refills too slowly for one to come back.
fn count_accepted(set: &[AtomicU128; WAYS], keys: u64, capacity: i64, tries: u64) -> Vec<usize> {
    let limit = TokenBucket::per_second(capacity, 0.001).unwrap();
    let ask = |first: u64| {
        // Each thread begins with another key.
        (0..keys * tries)
            .map(|i| 1 + (first + i) % keys)
            .filter(|tag| call::run(set, *tag, limit, Op::Take { cost: 1 }))
            .collect::<Vec<_>>()
    };
    let taken: Vec<u64> = thread::scope(|scope| {
        let running: Vec<_> =
            (0..THREADS as u64).map(|first| scope.spawn(move || ask(first))).collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    (1..=keys).map(|key| taken.iter().filter(|tag| **tag == key).count()).collect()
}

fn set() -> [AtomicU128; WAYS] {
    std::array::from_fn(|_| AtomicU128::new(0))
}

#[test]
fn keys_that_have_room_get_exactly_their_limit() {
    for _ in 0..SETS {
        let set = set();
        assert_eq!(count_accepted(&set, 3, 5, 3), [5, 5, 5]);
        for tag in 1..=3 {
            let slots = set.iter().map(|word| Slot(Word::load(word)));
            assert_eq!(slots.filter(|slot| slot.tag() == tag && !slot.is_claim()).count(), 1);
        }
    }
}

#[test]
fn keys_that_evict_each_other_never_get_more_than_their_limit() {
    for _ in 0..SETS {
        let keys = WAYS as u64 + 4;
        assert!(count_accepted(&set(), keys, 3, 2).iter().all(|taken| *taken <= 3));
    }
}

#[test]
fn refunds_of_others_free_no_evicted_client() {
    // Clients that only take and check, and others that get tokens back, in a set too small for them.
    const CLIENTS: u64 = 4;
    const OTHERS: u64 = WAYS as u64 + 4;
    let limit = TokenBucket::per_second(3, 0.001).unwrap();
    for round in 0..SETS as u64 {
        let set = set();
        let ask = |thread: u64| {
            let mut seed = (round << 8 | thread) ^ 0x9e37_79b9_7f4a_7c15;
            let mut taken = [0usize; CLIENTS as usize];
            for _ in 0..64 {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let (tag, kind) = (1 + (seed >> 33) % (CLIENTS + OTHERS), (seed >> 60) % 4);
                let is_client = tag <= CLIENTS;
                let op = match (is_client, kind) {
                    (true, 0) | (false, 1) => Op::Check,
                    (false, 2) => Op::Refund { cost: 2, expiry: None },
                    (false, 3) => Op::Reset,
                    _ => Op::Take { cost: 1 },
                };
                let accepted = call::run(&set, tag, limit, op);
                if let Some(count) = taken.get_mut(tag as usize - 1) {
                    *count += usize::from(accepted);
                }
            }
            taken
        };
        let taken: Vec<_> = thread::scope(|scope| {
            let running: Vec<_> =
                (0..THREADS as u64).map(|thread| scope.spawn(move || ask(thread))).collect();
            running.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        for client in 0..CLIENTS as usize {
            let taken: usize = taken.iter().filter_map(|counts| counts.get(client)).sum();
            assert!(taken <= 3, "{taken} of 3");
        }
    }
}

#[test]
fn block_denies_every_call_that_begins_after_it() {
    const KEY: u64 = 1;
    const BLOCKS: usize = SETS / 4;
    let limit = TokenBucket::per_second(3, 0.001).unwrap();
    // Odd while the block is in force: from its return to the beginning of the reset.
    let (set, phase) = (set(), AtomicUsize::new(0));
    let ask = || {
        let mut accepted_late = 0;
        loop {
            let before = phase.load(Ordering::SeqCst);
            let is_accepted = call::run(&set, KEY, limit, Op::Take { cost: 1 });
            call::run(&set, KEY, limit, Op::Refund { cost: 1, expiry: None });
            if before >= 2 * BLOCKS {
                return accepted_late;
            }
            let is_blocked = before % 2 == 1 && phase.load(Ordering::SeqCst) == before;
            accepted_late += usize::from(is_accepted && is_blocked);
        }
    };
    let accepted_late: usize = thread::scope(|scope| {
        let running: Vec<_> = (0..THREADS).map(|_| scope.spawn(ask)).collect();
        for _ in 0..BLOCKS {
            call::run(&set, KEY, limit, Op::Block { duration: 1_000_000_000 });
            phase.fetch_add(1, Ordering::SeqCst);
            thread::yield_now();
            phase.fetch_add(1, Ordering::SeqCst);
            call::run(&set, KEY, limit, Op::Reset);
        }
        running.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(accepted_late, 0, "calls that began after the block were accepted");
}

#[test]
fn permits_are_never_held_by_more_than_their_limit() {
    // Two permits, and a third key that comes and goes beside them.
    const PERMITS: u64 = 2;
    const NOW: u64 = 1_000_000_000_000;
    let (set, inside, most) = (set(), AtomicUsize::new(0), AtomicUsize::new(0));
    let work = |holder: u32| {
        let mut taken = 0;
        for round in 0..SETS as u64 {
            let held = HeldSlot { ends_at: NOW + 1 + round, holder };
            if round % 3 == 0
                && let Some(other) = held::take(&set, 9, NOW, held)
            {
                assert!(held::free(&set, other));
            }
            let Some(permit) = (1..=PERMITS).find_map(|tag| held::take(&set, tag, NOW, held))
            else {
                continue;
            };
            taken += 1;
            most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            let permit = held::renew(&set, permit, NOW, NOW + 1_000_000 + round).unwrap();
            inside.fetch_sub(1, Ordering::SeqCst);
            assert!(held::free(&set, permit), "no other thread frees it");
            assert_eq!(held::renew(&set, permit, NOW, NOW + 5), None);
        }
        taken
    };
    let taken: usize = thread::scope(|scope| {
        let running: Vec<_> =
            (1..=THREADS as u32).map(|holder| scope.spawn(move || work(holder))).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert!(taken > 0 && most.into_inner() <= PERMITS as usize);
    assert!((1..=PERMITS).all(|tag| held::find(&set, tag, NOW).is_none()));
}
