//! Calls of other processes at each moment of a call.

use super::*;
use std::cell::RefCell;
use std::rc::Rc;

/// What a call is about to do with a word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Read,
    Write,
}

type Rival = Box<dyn FnMut(Step)>;

thread_local! {
    static RIVAL: RefCell<Option<Rival>> = const { RefCell::new(None) };
}

/// A word that lets the rival act before each step of a call.
pub(super) struct Contested(AtomicU128);

impl Contested {
    fn let_rival_act(step: Step) {
        // The steps of the rival itself find none.
        if let Some(mut rival) = RIVAL.take() {
            rival(step);
            RIVAL.set(Some(rival));
        }
    }
}

impl Word for Contested {
    fn load(&self) -> u128 {
        Self::let_rival_act(Step::Read);
        Word::load(&self.0)
    }

    fn replace(&self, old: u128, new: u128) -> bool {
        Self::let_rival_act(Step::Write);
        self.0.replace(old, new)
    }

    fn store(&self, word: u128) {
        Word::store(&self.0, word);
    }
}

pub(super) type Contest = Rc<Table<Contested>>;

pub(super) fn contest() -> Contest {
    Rc::new(Table::of_words(8, || Contested(AtomicU128::new(0))))
}

/// Makes a call while a rival acts.
pub(super) fn against<R>(rival: impl FnMut(Step) + 'static, call: impl FnOnce() -> R) -> R {
    RIVAL.set(Some(Box::new(rival)));
    let answer = call();
    RIVAL.set(None);
    answer
}

/// How often a call reads a word.
fn count_reads<R>(call: impl FnOnce() -> R) -> u32 {
    count(|step| step == Step::Read, call)
}

/// How many steps a call has.
pub(super) fn count_steps<R>(call: impl FnOnce() -> R) -> u32 {
    count(|_| true, call)
}

fn count<R>(counts: fn(Step) -> bool, call: impl FnOnce() -> R) -> u32 {
    let steps = Rc::new(Cell::new(0));
    let counted = steps.clone();
    against(move |step| counted.set(counted.get() + u32::from(counts(step))), call);
    steps.get()
}

/// Makes calls before step `at` of another call.
pub(super) fn at_step(at: u32, mut calls: impl FnMut() + 'static) -> impl FnMut(Step) + 'static {
    let mut steps = 0;
    move |_| {
        if steps == at {
            calls();
        }
        steps += 1;
    }
}

#[test]
fn call_is_accepted_if_a_rival_gives_a_recent_hit_back_before_its_second_look() {
    for cost in 1..=2 {
        let (table, window, op) = (contest(), hour(cost), Op::Take { cost: cost as u64 });
        let decide = |op| table.decide(&window, hash(1), T, op);
        // From now on each place has a slot, and is looked at by one read.
        decide(decide(op).settle(0));
        for at in 0..=cost as u32 {
            let give_back = decide(TAKE).settle(0);
            let rival = table.clone();
            let calls = move || assert!(rival.decide(&window, hash(1), T, give_back).is_accepted());
            let decision = against(at_step(at, calls), || decide(op));
            assert!(decision.is_accepted(), "{cost} hits, before step {at}");
            decide(decision.settle(0));
        }
    }
}

#[test]
fn denial_that_counts_a_recent_hit_says_when_it_leaves() {
    let (table, window) = (contest(), hour(2));
    table.decide(&window, hash(1), T, TAKE);
    let denied = table.decide(&window, hash(1), T, Op::Take { cost: 2 });
    assert_eq!((denied.verdict, denied.retry_at), (Verdict::Denied, T + window.interval()));
}

#[test]
fn call_that_is_accepted_without_a_hit_and_a_peek_look_once() {
    let (table, window) = (contest(), hour(2));
    table.decide(&window, hash(1), T, Op::Take { cost: 2 });
    for op in [Op::Peek { cost: 1 }, Op::Take { cost: 0 }, Op::Settle { cost: 1, expiry: 0 }] {
        table.window(&window, hash(1), T, |it| {
            let look = count_reads(|| look(it, op));
            assert_eq!(count_reads(|| decide::<_, Decision>(it, op)), look, "{op:?}");
        });
    }
}

/// Makes a call on a window of one hit, which a rival has at each of the call's first `times` writes and gives back
/// before its next look.
fn decide_against_faster(times: u32, op: Op) -> Option<Decision> {
    let (table, window) = (contest(), hour(1));
    // From now on the place has a slot, so that a hit is taken by one write.
    let taken = table.decide(&window, hash(1), T, TAKE);
    table.decide(&window, hash(1), T, taken.settle(0));
    let (rival, mut writes, mut reads) = (table.clone(), 0, 0);
    let faster = move |step| match step {
        Step::Write => {
            (writes, reads) = (writes + 1, 0);
            if writes <= times {
                assert!(rival.decide(&window, hash(1), T, TAKE).is_accepted());
            }
        }
        // At the first the call sees that it has lost; the second is its next look.
        Step::Read => {
            reads += 1;
            if reads == 2 && (1..=times).contains(&writes) {
                rival.decide(&window, hash(1), T, taken.settle(0));
            }
        }
    };
    against(faster, || table.window(&window, hash(1), T, |it| decide_on_any(it, op)))
}

#[test]
fn call_that_lost_its_hits_eight_times_may_be_tried_again_in_a_millisecond() {
    assert!(decide_against_faster(7, TAKE).unwrap().is_accepted());
    let busy = decide_against_faster(8, TAKE).unwrap();
    assert_eq!((busy.verdict, busy.retry_at), (Verdict::Denied, T + MILLISECOND));
    assert_eq!((busy.taken, busy.available.count_hits()), (0, 1));
}

#[test]
fn what_is_settled_is_taken_though_rivals_are_faster_63_times() {
    let settle = Op::Settle { cost: 1, expiry: 0 };
    assert_eq!(decide_against_faster(63, settle).map(|decision| decision.taken), Some(1));
    assert_eq!(
        decide_against_faster(64, settle),
        None,
        "the caller says that the window is too busy"
    );
}

#[test]
fn refund_is_accepted_though_a_rival_gives_one_of_the_hits_back_first() {
    let (table, window) = (contest(), hour(5));
    let taken = table.decide(&window, hash(1), T, Op::Take { cost: 3 });
    let (rival, one) = (table.clone(), Op::Refund { cost: 1, expiry: Some(taken.expires_at) });
    let mut is_first = true;
    let faster = move |step| {
        if step == Step::Write && std::mem::take(&mut is_first) {
            assert!(rival.decide(&window, hash(1), T, one).is_accepted());
        }
    };
    let refund = against(faster, || table.decide(&window, hash(1), T, taken.settle(0)));
    assert!(refund.is_accepted());
    assert_eq!(refund.available.count_hits(), 5);
    assert!(!table.decide(&window, hash(1), T, one).is_accepted(), "nothing is left of them");
}

#[test]
fn refund_that_looks_again_counts_only_what_it_frees_then() {
    let (table, window) = (contest(), hour(9));
    table.decide(&window, hash(1), T, Op::Take { cost: 2 });
    let (rival, mut is_first) = (table.clone(), true);
    // Gives one of the two hits back, and takes four later ones.
    let faster = move |step| {
        if step == Step::Write && std::mem::take(&mut is_first) {
            rival.decide(&window, hash(1), T + 1, Op::Refund { cost: 1, expiry: None });
            assert!(rival.decide(&window, hash(1), T + 1, Op::Take { cost: 4 }).is_accepted());
        }
    };
    let refund = Op::Refund { cost: 3, expiry: None };
    let decision = against(faster, || table.decide(&window, hash(1), T + 1, refund));
    assert_eq!(decision.available.count_hits(), 7, "two of the four are left");
    assert_eq!(table.left(&window, hash(1), T + 1), 7);
}
