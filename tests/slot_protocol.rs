//! The slot protocol under a model checker: every interleaving of a few processes.
//!
//! The word is a mutex here, which gives what sequentially consistent atomics give: one
//! order of all operations. (loom takes the sequentially consistent for weaker.)

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod call;

use call::{NOW, run};
use loom::sync::{Arc, Mutex};
use loom::thread;
use token_bucket::limit::{Op, Span, State, TokenBucket};
use token_bucket::store::shm::slot::Slot;
use token_bucket::store::shm::word::Word;

struct Modelled(Mutex<u128>);

impl Word for Modelled {
    fn load(&self) -> u128 {
        *self.0.lock().unwrap()
    }

    fn replace(&self, old: u128, new: u128) -> bool {
        let mut word = self.0.lock().unwrap();
        let same = *word == old;
        if same {
            *word = new;
        }
        same
    }
}

type Set = Arc<Vec<Modelled>>;

/// Two keys.
const K: u64 = 7;
const L: u64 = 9;

fn set_of(slots: &[Slot]) -> Set {
    Arc::new(slots.iter().map(|slot| Modelled(Mutex::new(slot.0))).collect())
}

/// A bucket that fills too slowly for anything to come back.
fn bucket(capacity: i64) -> TokenBucket {
    TokenBucket::per_second(capacity, 0.001).unwrap()
}

/// A settled slot, `seconds` from full.
fn filling(tag: u64, seconds: i64) -> Slot {
    let full_at = Span::from_ns(NOW.saturating_add_signed(seconds * 1_000_000_000));
    Slot::settled(tag, State::Filling { full_at })
}

fn take(set: &Set, tag: u64, limit: TokenBucket) -> bool {
    run(set, tag, limit, Op::Take { cost: 1 })
}

fn settled(set: &Set, tag: u64) -> usize {
    let slots = set.iter().map(|word| Slot(word.load()));
    slots.filter(|slot| slot.tag() == tag && !slot.is_claim()).count()
}

/// Runs each process in every order, `preemptions` of them at most; then `check`.
fn every_order(
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
        assert!(settled(&set, K) <= 1 && settled(&set, L) <= 1, "two buckets for one key");
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
fn two_bring_in_one_key() {
    every_order(&[EMPTY, EMPTY], &[TAKE_K, TAKE_K], 4, |set, answers| {
        assert_eq!((accepted(answers), settled(set, K)), (1, 1));
    });
}

#[test]
fn three_bring_in_one_key() {
    every_order(&[EMPTY, EMPTY], &[TAKE_K, TAKE_K, TAKE_K], 2, |_, answers| {
        assert_eq!(accepted(answers), 1);
    });
}

#[test]
fn two_bring_in_one_key_while_the_free_slots_change() {
    // The reset makes the first slot the better one at some moment: the two that bring
    // in K may see different slots as the one to reuse.
    every_order(
        &[|| filling(L, 5), || filling(3, -1)],
        &[TAKE_K, TAKE_K, |set| run(set, L, bucket(1), Op::Reset)],
        3,
        |_, answers| assert_eq!(accepted(&answers[..2]), 1),
    );
}

#[test]
fn claims_left_by_the_dead_are_settled_once() {
    every_order(
        &[|| Slot::claim(K, NOW - 5), || Slot::claim(K, NOW - 3)],
        &[TAKE_K, TAKE_K],
        4,
        |set, answers| assert_eq!((accepted(answers), settled(set, K)), (1, 1)),
    );
}

#[test]
fn a_claim_beside_a_settled_slot_gives_way() {
    every_order(
        &[|| Slot::claim(K, NOW), || filling(K, 1_000)],
        &[TAKE_K, TAKE_K],
        4,
        |_, answers| assert_eq!(accepted(answers), 0),
    );
}

#[test]
fn two_keys_want_the_last_free_slot() {
    every_order(&[EMPTY, || filling(3, 900)], &[TAKE_K, TAKE_L, TAKE_K], 2, |_, answers| {
        assert!(answers[1] || accepted(answers) == 1, "L was free to go on");
        assert!(accepted(&[answers[0], answers[2]]) <= 1, "K went on twice");
    });
}

#[test]
fn a_bucket_pushed_out_gives_nothing_away() {
    // K has one of two tokens left and is nearest to full. L pushes it out, or not, while
    // K is used: K must not get more than that one token, whoever comes first.
    every_order(
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
    every_order(
        &[|| filling(K, 1_000), EMPTY],
        &[
            |set| take(set, K, bucket(2)),
            |set| run(set, K, bucket(2), Op::Refund { cost: 1 }),
            |set| take(set, K, bucket(2)),
        ],
        3,
        |set, answers| {
            // One token was there and one came back; at most one of the two was missed.
            let left = [set, set].iter().filter(|set| take(set, K, bucket(2))).count();
            assert_eq!(accepted(&[answers[0], answers[2]]) + left, 2);
        },
    );
}
