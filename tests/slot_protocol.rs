//! The slot protocol under a model checker (loom): the interleavings of a few processes, up to a
//! bound.
//!
//! Exactly this is explored: sets of two or three slots (a table's have eight), and two or three
//! processes with one operation each (in one test a process with five), at a time that stands still. Between two accesses to a word
//! loom may preempt a process; it tries every interleaving with at most as many preemptions as the
//! test's *preemption bound* says:
//!
//! | test | slots | processes | preemptions |
//! |---|---|---|---|
//! | `two_insert_one_key` | 2 | 2 | 4 |
//! | `three_insert_one_key` | 2 | 3 | 2 |
//! | `two_insert_one_key_while_the_free_slots_change` | 2 | 3 | 3 |
//! | `one_of_two_abandoned_claims_is_committed` | 2 | 2 | 4 |
//! | `claim_beside_a_committed_slot_is_withdrawn` | 2 | 2 | 4 |
//! | `claim_that_is_made_again_is_not_committed_by_a_process_that_slept` | 2 | 3 | 2 |
//! | `two_keys_want_the_last_free_slot` | 2 | 3 | 2 |
//! | `evicted_bucket_gives_no_tokens_away` | 2 | 3 | 3 |
//! | `taking_and_refunding_add_up` | 2 | 3 | 3 |
//! | `eviction_leaves_a_tombstone_that_frees_no_evicted_client` | 3 | 2 | 4 |
//! | `two_evictions_at_once_free_no_evicted_client` | 3 | 3 | 2 |
//! | `reset_of_a_newcomer_frees_no_evicted_client` | 3 | 3 | 2 |
//! | `two_checks_take_one_token_and_overdraw_the_bucket` | 2 | 3 | 3 |
//! | `overdrawn_bucket_is_evicted_while_it_is_checked` | 2 | 3 | 2 |
//! | `block_and_take_that_insert_one_key_leave_the_block` | 2 | 2 | 4 |
//! | `claim_that_a_take_left_is_committed_to_the_block` | 2 | 2 | 4 |
//! | `block_that_races_a_take_and_a_refund_stays` | 2 | 3 | 3 |
//! | `newcomer_that_is_blocked_in_a_full_set_is_denied_afterwards` | 2 | 2 | 3 |
//! | `block_is_evicted_while_its_client_calls` | 2 | 3 | 2 |
//! | `two_take_the_last_permit` | 2 | 3 | 2 |
//! | `claims_of_a_permit_that_dead_processes_left_are_committed_once` | 2 | 2 | 4 |
//! | `permit_that_is_released_is_taken_once` | 2 | 3 | 3 |
//! | `release_after_the_end_of_the_lifetime_frees_no_other` | 2 | 3 | 3 |
//! | `late_renewal_and_a_new_holder_never_both_hold_the_permit` | 2 | 2 | 4 |
//! | `two_that_free_a_dead_holder_take_its_permit_once` | 2 | 2 | 4 |
//! | `permits_in_a_full_set_are_never_evicted` | 2 | 3 | 3 |
//! | `two_that_leave_a_permit_take_one_and_never_keep_another_from_it` | 3 | 3 | 2 |
//! | `two_that_announce_different_permits_never_both_take_the_last_but_those_they_leave` | 3 | 2 | 3 |
//!
//! A sliding window has a slot in each of several sets. Each place has a slot already, whose hit has left or not:
//!
//! | test | places | processes | preemptions |
//! |---|---|---|---|
//! | `calls_of_one_hit_get_all_places` | 2 | 3 | 3 |
//! | `two_calls_of_two_hits_share_three_places` | 3 | 2 | 4 |
//! | `hits_that_are_taken_and_given_back_add_up` | 3 | 3 | 3 |
//! | `decision_is_given_back_whole_while_others_take` | 3 | 3 | 3 |
//!
//! A block of a window looks at 1,024 places, which is too much for the model. `src/store/shm/hits/tests/blocks.rs` has a rival act at
//! each step of a call instead.
//!
//! `tests/slot_words.rs` runs four real threads on whole sets of eight slots, with most operations, in
//! the order in which the processor happens to run them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod call;
mod modelled;

use call::{NOW, run};
use loom::sync::Arc;
use loom::thread;
use modelled::Modelled;
use std::sync::atomic::{AtomicUsize, Ordering};
use token_bucket::limit::{Op, Span, State, TokenBucket};
use token_bucket::mapped::word::Word;
use token_bucket::store::shm::held;
use token_bucket::store::shm::slot::{HeldSlot, Slot};

type Set = Arc<Vec<Modelled>>;

/// Keys.
const K: u64 = 7;
const L: u64 = 9;
const M: u64 = 11;

fn set_of(slots: &[Slot]) -> Set {
    Arc::new(slots.iter().map(|slot| Modelled::new(slot.0)).collect())
}

/// A bucket that refills too slowly for a token to come back.
fn bucket(capacity: i64) -> TokenBucket {
    TokenBucket::per_second(capacity, 0.001).unwrap()
}

/// A committed slot, `seconds` from full.
fn filling(tag: u64, seconds: i64) -> Slot {
    let full_at = Span::from_ns(NOW.saturating_add_signed(seconds * 1_000_000_000));
    Slot::committed(tag, State::Filling { full_at })
}

fn take(set: &Set, tag: u64, limit: TokenBucket) -> bool {
    run(set, tag, limit, Op::Take { cost: 1 })
}

fn committed(set: &Set, tag: u64) -> usize {
    let slots = set.iter().map(|word| Slot(word.load()));
    slots.filter(|slot| slot.tag() == tag && !slot.is_claim()).count()
}

/// Runs the processes in each interleaving with at most so many preemptions, and `check` after each.
fn explore(
    slots: &'static [fn() -> Slot],
    processes: &'static [fn(&Set) -> bool],
    preemptions: usize,
    check: fn(&Set, &[bool]),
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let set = set_of(&slots.iter().map(|slot| slot()).collect::<Vec<_>>());
        let running: Vec<_> = processes
            .iter()
            .map(|process| {
                let set = Arc::clone(&set);
                thread::spawn(move || process(&set))
            })
            .collect();
        let answers: Vec<bool> = running.into_iter().map(|p| p.join().unwrap()).collect();
        assert!(committed(&set, K) <= 1 && committed(&set, L) <= 1, "two buckets for one key");
        check(&set, &answers);
    });
}

fn accepted(answers: &[bool]) -> usize {
    answers.iter().filter(|accepted| **accepted).count()
}

const EMPTY: fn() -> Slot = || Slot::EMPTY;
const TAKE_K: fn(&Set) -> bool = |set| take(set, K, bucket(1));
const TAKE_L: fn(&Set) -> bool = |set| take(set, L, bucket(1));

#[test]
fn two_insert_one_key() {
    explore(&[EMPTY, EMPTY], &[TAKE_K, TAKE_K], 4, |set, answers| {
        assert_eq!((accepted(answers), committed(set, K)), (1, 1));
    });
}

#[test]
fn three_insert_one_key() {
    explore(&[EMPTY, EMPTY], &[TAKE_K, TAKE_K, TAKE_K], 2, |_, answers| {
        assert_eq!(accepted(answers), 1);
    });
}

#[test]
fn two_insert_one_key_while_the_free_slots_change() {
    // The reset makes the first slot the better one to reuse at some moment, so the two that insert K
    // may choose different slots.
    explore(
        &[|| filling(L, 5), || filling(3, -1)],
        &[TAKE_K, TAKE_K, |set| run(set, L, bucket(1), Op::Reset)],
        3,
        |_, answers| assert_eq!(accepted(&answers[..2]), 1),
    );
}

#[test]
fn one_of_two_abandoned_claims_is_committed() {
    explore(
        &[|| Slot::claim(K, NOW - 5, 0), || Slot::claim(K, NOW - 3, 0)],
        &[TAKE_K, TAKE_K],
        4,
        |set, answers| assert_eq!((accepted(answers), committed(set, K)), (1, 1)),
    );
}

#[test]
fn claim_beside_a_committed_slot_is_withdrawn() {
    explore(
        &[|| Slot::claim(K, NOW, 0), || filling(K, 1_000)],
        &[TAKE_K, TAKE_K],
        4,
        |_, answers| assert_eq!(accepted(answers), 0),
    );
}

#[test]
fn claim_that_is_made_again_is_not_committed_by_a_process_that_slept() {
    // One process has claimed the first slot for K and found no other slot of K; another one is about to claim that slot.
    // Both sleep while the third one gives K that slot and then the second one, and leaves the first one as it was: L's,
    // and free. All claims are at one level, for the time stands still; under a tombstone they are, too.
    explore(
        &[|| Slot::free(L), || filling(3, -1)],
        &[TAKE_K_OF_TWO, TAKE_K_OF_TWO, |set| {
            take(set, K, bucket(2));
            run(set, K, bucket(2), Op::Reset);
            take(set, L, bucket(2));
            take(set, K, bucket(2));
            run(set, L, bucket(2), Op::Reset)
        }],
        2,
        |_, _| {},
    );
}

#[test]
fn two_keys_want_the_last_free_slot() {
    explore(&[EMPTY, || filling(3, 900)], &[TAKE_K, TAKE_L, TAKE_K], 2, |_, answers| {
        assert!(answers[1] || accepted(answers) == 1, "L had a token");
        assert!(accepted(&[answers[0], answers[2]]) <= 1, "K was accepted twice");
    });
}

#[test]
fn evicted_bucket_gives_no_tokens_away() {
    // K has one of two tokens left and owes least. L may evict it while K is used. In any order K must
    // not get more than that one token.
    explore(
        &[|| filling(K, 1_000), || filling(3, 1_900)],
        &[
            |set| take(set, K, bucket(2)),
            |set| take(set, L, bucket(2)),
            |set| take(set, K, bucket(2)),
        ],
        3,
        |_, answers| assert!(accepted(&[answers[0], answers[2]]) <= 1),
    );
}

#[test]
fn taking_and_refunding_add_up() {
    explore(
        &[|| filling(K, 1_000), EMPTY],
        &[
            |set| take(set, K, bucket(2)),
            |set| run(set, K, bucket(2), Op::Refund { cost: 1, expiry: None }),
            |set| take(set, K, bucket(2)),
        ],
        3,
        |set, answers| {
            // One token was there, and one was refunded.
            let left = [set, set].iter().filter(|set| take(set, K, bucket(2))).count();
            assert_eq!(accepted(&[answers[0], answers[2]]) + left, 2);
        },
    );
}

/// An overdrawn slot that is forgiven in `seconds`.
fn overdrawn(tag: u64, seconds: u64, debt: u64) -> Slot {
    let [forgiven_at, debt] = [NOW + seconds * 1_000_000_000, debt * 1_000_000_000];
    Slot::committed(tag, State::Overdrawn { forgiven_at, debt })
}

/// Whether the set has a tombstone that is in use.
fn has_tombstone(set: &Set) -> bool {
    let slots = set.iter().map(|word| Slot(word.load()));
    slots.into_iter().any(|slot| slot.tag() == 0 && slot.expires_at() > NOW)
}

/// Asserts that at least one interleaving reached the case that its test is about.
fn assert_reached(times: &AtomicUsize) {
    assert!(times.load(Ordering::Relaxed) > 0, "no interleaving reached the case");
}

const CHECK_K: fn(&Set) -> bool = |set| run(set, K, bucket(1), Op::Check);
const TAKE_K_OF_TWO: fn(&Set) -> bool = |set| take(set, K, bucket(2));
const TAKE_L_OF_THREE: fn(&Set) -> bool = |set| take(set, L, bucket(3));

#[test]
fn eviction_leaves_a_tombstone_that_frees_no_evicted_client() {
    static TOMBSTONES: AtomicUsize = AtomicUsize::new(0);
    explore(
        // K owes one token of two, and least in the set.
        &[|| filling(K, 1_000), || filling(3, 1_500), || filling(4, 1_600)],
        &[TAKE_L_OF_THREE, TAKE_K_OF_TWO],
        4,
        |set, answers| {
            TOMBSTONES.fetch_add(has_tombstone(set).into(), Ordering::Relaxed);
            let more = (0..2).filter(|_| take(set, K, bucket(2))).count();
            assert!(usize::from(answers[1]) + more <= 1, "K had one token left");
        },
    );
    assert_reached(&TOMBSTONES);
}

#[test]
fn two_evictions_at_once_free_no_evicted_client() {
    static TOMBSTONES: AtomicUsize = AtomicUsize::new(0);
    explore(
        &[|| filling(K, 1_000), || filling(3, 1_500), || filling(4, 1_600)],
        &[TAKE_L_OF_THREE, |set| take(set, 11, bucket(3)), TAKE_K_OF_TWO],
        2,
        |set, answers| {
            TOMBSTONES.fetch_add(has_tombstone(set).into(), Ordering::Relaxed);
            let more = (0..2).filter(|_| take(set, K, bucket(2))).count();
            assert!(usize::from(answers[2]) + more <= 1, "K had one token left");
        },
    );
    assert_reached(&TOMBSTONES);
}

#[test]
fn reset_of_a_newcomer_frees_no_evicted_client() {
    static EVICTED: AtomicUsize = AtomicUsize::new(0);
    explore(
        &[|| filling(K, 1_000), || filling(3, 1_500), || filling(4, 1_600)],
        &[TAKE_L_OF_THREE, |set| run(set, L, bucket(3), Op::Reset), TAKE_K_OF_TWO],
        2,
        |set, answers| {
            EVICTED.fetch_add((committed(set, K) == 0).into(), Ordering::Relaxed);
            run(set, L, bucket(3), Op::Reset);
            let more = (0..2).filter(|_| take(set, K, bucket(2))).count();
            assert!(usize::from(answers[2]) + more <= 1, "K had one token left");
        },
    );
    assert_reached(&EVICTED);
}

#[test]
fn two_checks_take_one_token_and_overdraw_the_bucket() {
    explore(&[EMPTY, || filling(3, 900)], &[CHECK_K, CHECK_K, TAKE_K], 3, |set, answers| {
        assert_eq!(accepted(answers), 1);
        let slots = set.iter().map(|word| Slot(word.load()));
        let debt = slots.filter(|slot| slot.tag() == K).find_map(|slot| match slot.state() {
            State::Overdrawn { debt, .. } => Some(debt / 1_000_000_000),
            _ => None,
        });
        // Each denied check is charged, once; a denied take is not.
        let denied = answers[..2].iter().filter(|accepted| !**accepted).count() as u64;
        assert_eq!(debt, Some(denied * 1_000));
    });
}

#[test]
fn overdrawn_bucket_is_evicted_while_it_is_checked() {
    static EVICTED: AtomicUsize = AtomicUsize::new(0);
    explore(
        &[|| overdrawn(K, 800, 100), || filling(3, 950)],
        &[CHECK_K, TAKE_L_OF_THREE, TAKE_K],
        2,
        |set, answers| {
            EVICTED.fetch_add((committed(set, K) == 0).into(), Ordering::Relaxed);
            assert!(!answers[0] && !answers[2], "K owes more than its bucket holds");
            assert!(!take(set, K, bucket(1)));
        },
    );
    assert_reached(&EVICTED);
}

const BLOCK_K: fn(&Set) -> bool = |set| run(set, K, bucket(2), Op::Block { duration: BLOCK });
/// Nanoseconds. A refill of these buckets takes longer.
const BLOCK: u64 = 60_000_000_000;

/// Asserts that K has one slot, which holds the block, and that every call is denied.
fn assert_k_is_blocked(set: &Set) {
    let denied = [
        Op::Take { cost: 0 },
        Op::Take { cost: 1 },
        Op::TakeUpTo { most: 2, least: 1, leave: 0 },
        Op::Check,
        Op::Refund { cost: 2, expiry: None },
    ];
    for op in denied {
        assert!(!run(set, K, bucket(2), op), "{op:?} was accepted after the block");
    }
    let slots = set.iter().map(|word| Slot(word.load())).filter(|slot| slot.tag() == K);
    let states: Vec<State> = slots.map(Slot::state).collect();
    assert_eq!(states.first().map(|it| it.expires_at()), Some(NOW + BLOCK));
    assert!(matches!(states[..], [State::Blocked { .. }]));
}

#[test]
fn block_and_take_that_insert_one_key_leave_the_block() {
    static TAKEN: AtomicUsize = AtomicUsize::new(0);
    explore(&[EMPTY, EMPTY], &[BLOCK_K, TAKE_K_OF_TWO], 4, |set, answers| {
        assert!(answers[0], "a block is always set");
        TAKEN.fetch_add(answers[1].into(), Ordering::Relaxed);
        assert_k_is_blocked(set);
    });
    assert_reached(&TAKEN);
}

#[test]
fn claim_that_a_take_left_is_committed_to_the_block() {
    explore(&[|| Slot::claim(K, NOW, 0), EMPTY], &[BLOCK_K, TAKE_K_OF_TWO], 4, |set, answers| {
        assert!(answers[0], "a block is always set");
        assert_k_is_blocked(set);
    });
}

#[test]
fn block_that_races_a_take_and_a_refund_stays() {
    explore(
        &[|| filling(K, 1_000), EMPTY],
        &[BLOCK_K, TAKE_K_OF_TWO, |set| {
            run(set, K, bucket(2), Op::Refund { cost: 1, expiry: None })
        }],
        3,
        |set, answers| {
            assert!(answers[0], "a block is always set");
            assert_k_is_blocked(set);
        },
    );
}

#[test]
fn newcomer_that_is_blocked_in_a_full_set_is_denied_afterwards() {
    static EVICTED: AtomicUsize = AtomicUsize::new(0);
    explore(
        &[|| filling(3, 100), || filling(4, 200)],
        &[|set| run(set, K, bucket(5), Op::Block { duration: BLOCK }), TAKE_L_OF_THREE],
        3,
        |set, answers| {
            assert!(answers[0], "a block is always set");
            // L may evict the block: then K finds an empty bucket.
            EVICTED.fetch_add((committed(set, K) == 0).into(), Ordering::Relaxed);
            assert!(!take(set, K, bucket(5)));
        },
    );
    assert_reached(&EVICTED);
}

#[test]
fn block_is_evicted_while_its_client_calls() {
    static EVICTED: AtomicUsize = AtomicUsize::new(0);
    explore(
        &[|| Slot::committed(K, State::blocked(NOW + BLOCK, NOW)), || filling(0, 950)],
        &[TAKE_K_OF_TWO, TAKE_L_OF_THREE, |set| run(set, K, bucket(2), Op::Check)],
        2,
        |set, answers| {
            EVICTED.fetch_add((committed(set, L) == 1).into(), Ordering::Relaxed);
            assert!(!answers[0] && !answers[2], "K is blocked");
            assert!(!take(set, K, bucket(2)));
        },
    );
    assert_reached(&EVICTED);
}

/// Processes that hold permits.
const A: u32 = 1;
const B: u32 = 2;
const C: u32 = 3;
const D: u32 = 4;

/// The slot of a permit whose lifetime ends in `seconds`.
fn held_slot(tag: u64, holder: u32, seconds: i64) -> Slot {
    let ends_at = NOW.saturating_add_signed(seconds * 1_000_000_000);
    Slot::held(tag, HeldSlot { ends_at, holder })
}

fn take_permit(set: &Set, tag: u64, holder: u32) -> bool {
    held::take(set, tag, NOW, HeldSlot { ends_at: NOW + 60_000_000_000, holder }).is_some()
}

/// The holders of a permit, one for each slot that holds it.
fn holders(set: &Set, tag: u64) -> Vec<u32> {
    let slots = set.iter().map(|word| Slot(word.load())).filter(|slot| slot.tag() == tag);
    let held = slots.filter(|slot| held::is_held(*slot, NOW)).filter_map(Slot::as_held);
    held.map(|held| held.holder).collect()
}

/// Asserts that the permit is held by the one process that took it, if one did.
fn assert_held_by_its_taker(set: &Set, tag: u64, takers: &[(u32, bool)]) {
    let took: Vec<u32> =
        takers.iter().filter(|(_, took)| *took).map(|(holder, _)| *holder).collect();
    assert_eq!(holders(set, tag), took);
}

#[test]
fn two_take_the_last_permit() {
    explore(
        &[EMPTY, || held_slot(3, C, 30)],
        &[|set| take_permit(set, K, A), |set| take_permit(set, K, B), |set| take_permit(set, L, C)],
        2,
        |set, answers| {
            assert_eq!(accepted(answers), 1, "one slot is free");
            assert_held_by_its_taker(set, K, &[(A, answers[0]), (B, answers[1])]);
            assert_held_by_its_taker(set, L, &[(C, answers[2])]);
            assert_eq!(holders(set, 3), [C]);
        },
    );
}

/// Takes the first permit that is free of `order`, if `leave` of the three stay free.
fn take_permit_leaving(set: &Set, order: [u64; 3], leave: u32, holder: u32) -> bool {
    let places = |n: u32| Some((&set[..], order[n as usize]));
    let held = HeldSlot { ends_at: NOW + 60_000_000_000, holder };
    held::take_leaving(&places, 3, 3 - leave, NOW, held).is_some()
}

/// The holders of all three.
fn all_holders(set: &Set) -> usize {
    [K, L, M].into_iter().flat_map(|tag| holders(set, tag)).count()
}

#[test]
fn two_that_leave_a_permit_take_one_and_never_keep_another_from_it() {
    static TAKEN: AtomicUsize = AtomicUsize::new(0);
    explore(
        &[EMPTY, EMPTY, || held_slot(M, D, 30)],
        &[
            |set| take_permit_leaving(set, [K, L, M], 1, A),
            |set| take_permit_leaving(set, [K, L, M], 1, B),
            |set| [K, L, M].into_iter().any(|tag| take_permit(set, tag, C)),
        ],
        2,
        |set, answers| {
            assert!(accepted(&answers[..2]) <= 1, "with that of D, both would leave none");
            assert!(answers[2], "one stays free");
            TAKEN.fetch_add(accepted(&answers[..2]), Ordering::Relaxed);
            assert_eq!(all_holders(set), 1 + accepted(answers));
        },
    );
    assert_reached(&TAKEN);
}

/// As may be where a permit before theirs was given back in between.
#[test]
fn two_that_announce_different_permits_never_both_take_the_last_but_those_they_leave() {
    static TAKEN: AtomicUsize = AtomicUsize::new(0);
    explore(
        &[EMPTY, EMPTY, EMPTY],
        &[
            |set| take_permit_leaving(set, [M, K, L], 2, A),
            |set| take_permit_leaving(set, [K, L, M], 2, B),
        ],
        3,
        |set, answers| {
            assert!(accepted(answers) <= 1);
            TAKEN.fetch_add(accepted(answers), Ordering::Relaxed);
            assert_eq!(all_holders(set), accepted(answers));
        },
    );
    assert_reached(&TAKEN);
}

#[test]
fn claims_of_a_permit_that_dead_processes_left_are_committed_once() {
    explore(
        &[|| Slot::claim(K, NOW - 5, 0), || Slot::claim(K, NOW - 3, 0)],
        &[|set| take_permit(set, K, A), |set| take_permit(set, K, B)],
        4,
        |set, answers| {
            assert_eq!(accepted(answers), 1);
            assert_held_by_its_taker(set, K, &[(A, answers[0]), (B, answers[1])]);
        },
    );
}

#[test]
fn permit_that_is_released_is_taken_once() {
    static TAKEN: AtomicUsize = AtomicUsize::new(0);
    explore(
        &[|| held_slot(K, A, 30), EMPTY],
        &[
            |set| held::free(set, held_slot(K, A, 30)),
            |set| take_permit(set, K, B),
            |set| take_permit(set, K, C),
        ],
        3,
        |set, answers| {
            assert!(answers[0], "its holder released it");
            TAKEN.fetch_add(accepted(&answers[1..]), Ordering::Relaxed);
            assert!(accepted(&answers[1..]) <= 1);
            assert_held_by_its_taker(set, K, &[(B, answers[1]), (C, answers[2])]);
        },
    );
    assert_reached(&TAKEN);
}

#[test]
fn release_after_the_end_of_the_lifetime_frees_no_other() {
    explore(
        &[|| held_slot(K, A, -1), EMPTY],
        &[
            |set| held::free(set, held_slot(K, A, -1)),
            |set| take_permit(set, K, B),
            |set| take_permit(set, K, C),
        ],
        3,
        |set, answers| {
            assert_eq!(accepted(&answers[1..]), 1);
            assert_held_by_its_taker(set, K, &[(B, answers[1]), (C, answers[2])]);
        },
    );
}

#[test]
fn late_renewal_and_a_new_holder_never_both_hold_the_permit() {
    static RENEWED: AtomicUsize = AtomicUsize::new(0);
    explore(
        &[|| held_slot(K, A, -1), EMPTY],
        &[
            |set| {
                // A has read the clock before its lifetime ended.
                let (then, ends_at) = (NOW - 2_000_000_000, NOW + 60_000_000_000);
                held::renew(set, held_slot(K, A, -1), then, ends_at).is_some()
            },
            |set| take_permit(set, K, B),
        ],
        4,
        |set, answers| {
            RENEWED.fetch_add(answers[0].into(), Ordering::Relaxed);
            assert_eq!(accepted(answers), 1);
            assert_held_by_its_taker(set, K, &[(A, answers[0]), (B, answers[1])]);
        },
    );
    assert_reached(&RENEWED);
}

#[test]
fn two_that_free_a_dead_holder_take_its_permit_once() {
    const TAKE_AFTER_FREEING: fn(&Set, u32) -> bool = |set, holder| {
        held::free(set, held_slot(K, C, 30));
        take_permit(set, K, holder)
    };
    explore(
        &[|| held_slot(K, C, 30), EMPTY],
        &[|set| TAKE_AFTER_FREEING(set, A), |set| TAKE_AFTER_FREEING(set, B)],
        4,
        |set, answers| {
            assert_eq!(accepted(answers), 1);
            assert_held_by_its_taker(set, K, &[(A, answers[0]), (B, answers[1])]);
        },
    );
}

#[test]
fn permits_in_a_full_set_are_never_evicted() {
    static TAKEN: AtomicUsize = AtomicUsize::new(0);
    explore(
        &[|| held_slot(3, C, 30), || held_slot(4, C, 1)],
        &[
            |set| take_permit(set, K, A),
            |set| take_permit(set, L, B),
            |set| held::free(set, held_slot(4, C, 1)),
        ],
        3,
        |set, answers| {
            TAKEN.fetch_add(accepted(&answers[..2]), Ordering::Relaxed);
            assert!(answers[2], "its holder released it");
            assert!(accepted(&answers[..2]) <= 1, "one slot was freed");
            assert_held_by_its_taker(set, K, &[(A, answers[0])]);
            assert_held_by_its_taker(set, L, &[(B, answers[1])]);
            assert_eq!(holders(set, 3), [C]);
        },
    );
    assert_reached(&TAKEN);
}

/// The sets of a sliding window's places.
type Places = Arc<Vec<window::Set<Modelled>>>;

/// The hits of a window that leave one second after its interval's beginning have been taken by an earlier call.
const EARLIER: u64 = NOW + 1_000_000_000;
const INTERVAL: u64 = 60_000_000_000;
const HASH: u64 = 0x1234_5678_9abc_def0;

/// A sliding window, one call on it, and what its places hold afterwards.
mod window {
    use super::{EARLIER, HASH, INTERVAL, Modelled, NOW, Places, Word};
    use std::cell::Cell;
    pub use token_bucket::mapped::set::Set;

    use token_bucket::limit::{Decision, Op, Place, SlidingWindow, Span, State};
    use token_bucket::mapped::set;
    use token_bucket::store::shm::hits::{self, WindowInTable};
    use token_bucket::store::shm::slot::Slot;
    use token_bucket::store::shm::statistics::TableStatistics;

    /// The places of a window, of which the first ones have a hit of an earlier call.
    pub fn places(limit: u32, hits: u32) -> Places {
        let set = |_| Set(std::array::from_fn(|_| Modelled::new(0)));
        let sets = Places::new((0..limit).map(set).collect());
        for place in 0..limit {
            let full_at = Span::from_ns(if place < hits { EARLIER } else { NOW - 1 });
            let (set, tag) = set::Places::new(&sets, HASH).unwrap().get(place).unwrap();
            set.0[0].replace(0, Slot::committed(tag, State::Filling { full_at }).0);
        }
        sets
    }

    fn limit(places: &Places) -> SlidingWindow {
        SlidingWindow::new(places.len() as i64, INTERVAL as f64 / 1e9).unwrap()
    }

    /// Makes a call. None if it was too busy.
    pub fn decide(places: &Places, op: Op) -> Option<Decision> {
        let window = WindowInTable {
            limit: &limit(places),
            places: set::Places::new(places, HASH).unwrap(),
            now: Cell::new(NOW),
            statistics: &TableStatistics::default(),
            lacked_room: Cell::new(false),
        };
        token_bucket::clock::at(Some(NOW), || hits::decide(&window, op))
    }

    pub fn take(places: &Places, cost: u64) -> bool {
        decide(places, Op::Take { cost }).is_some_and(|decision| decision.is_accepted())
    }

    /// The hits in the window.
    pub fn hits(places: &Places) -> u64 {
        let states = (0..places.len() as u32).map(|place| {
            let (set, tag) = set::Places::new(places, HASH).unwrap().get(place).unwrap();
            let slots: Vec<Slot> = set.0.iter().map(|word| Slot(word.load())).collect();
            let own: Vec<&Slot> = slots.iter().filter(|slot| slot.tag() == tag).collect();
            assert_eq!(own.len(), 1, "a place has one slot");
            own[0].state()
        });
        states.filter(|state| Place::leaves_at(*state) > NOW).count() as u64
    }
}

/// Runs the processes on a window in each interleaving with at most so many preemptions, and `check` after each.
fn explore_window(
    limit: u32,
    hits: u32,
    processes: &'static [fn(&Places) -> bool],
    preemptions: usize,
    check: fn(&Places, &[bool]),
) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let places = window::places(limit, hits);
        let running: Vec<_> = processes
            .iter()
            .map(|process| {
                let places = Arc::clone(&places);
                thread::spawn(move || process(&places))
            })
            .collect();
        let answers: Vec<bool> = running.into_iter().map(|p| p.join().unwrap()).collect();
        check(&places, &answers);
    });
}

const TAKE_ONE_HIT: fn(&Places) -> bool = |places| window::take(places, 1);
const TAKE_TWO_HITS: fn(&Places) -> bool = |places| window::take(places, 2);

#[test]
fn calls_of_one_hit_get_all_places() {
    explore_window(2, 0, &[TAKE_ONE_HIT; 3], 3, |places, answers| {
        assert_eq!((accepted(answers), window::hits(places)), (2, 2));
    });
}

#[test]
fn two_calls_of_two_hits_share_three_places() {
    explore_window(3, 0, &[TAKE_TWO_HITS; 2], 4, |places, answers| {
        assert_eq!(accepted(answers), 1, "one of them has room");
        assert_eq!(window::hits(places), 2, "the other one leaves no hit");
    });
}

#[test]
fn hits_that_are_taken_and_given_back_add_up() {
    explore_window(
        3,
        1,
        &[TAKE_TWO_HITS, TAKE_ONE_HIT, |places| {
            let refund = Op::Refund { cost: 1, expiry: Some(EARLIER) };
            window::decide(places, refund).unwrap().is_accepted()
        }],
        3,
        |places, answers| {
            assert!(answers[2], "the earlier hit is given back once");
            assert!(answers[0] || answers[1], "one of them has room whatever comes first");
            let taken = 2 * u64::from(answers[0]) + u64::from(answers[1]);
            assert_eq!(window::hits(places), taken);
        },
    );
}

#[test]
fn decision_is_given_back_whole_while_others_take() {
    explore_window(
        3,
        0,
        &[
            |places| {
                let Some(decision) = window::decide(places, Op::Take { cost: 2 }) else {
                    return false;
                };
                decision.is_accepted()
                    && window::decide(places, decision.settle(0)).unwrap().is_accepted()
            },
            TAKE_ONE_HIT,
            TAKE_ONE_HIT,
        ],
        3,
        |places, answers| {
            assert!(answers[1] || answers[2], "a hit was left to one of them at least");
            assert_eq!(window::hits(places), accepted(&answers[1..]) as u64);
        },
    );
}
