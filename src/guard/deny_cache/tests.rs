//! Which denials are remembered, and what they answer.

use super::*;
use crate::clock::{at, boot_time};
use crate::guard::tests::{host_alone, limit, with_request};
use crate::limit::{FixedWindow, SECOND, TokenBucket};

/// The server's clock when it decides, which is ahead of this host's.
const NOW: u64 = 10_000_000 * SECOND;

const TAKE: Op = Op::Take { cost: 1 };

/// The state of an empty bucket on the server, and of a blocked one.
fn empty() -> State {
    apply(&limit(), &State::FULL.into(), NOW, Op::Take { cost: 100 }).1.word()
}

fn blocked() -> State {
    apply(&limit(), &State::FULL.into(), NOW, Op::Block { duration: 3_600 * SECOND }).1.word()
}

/// What is known of `later` once the server has decided on `op` in this state; both are calls under one limit.
fn known_after(limit: &Limit, state: State, op: Op, later: Op) -> Option<Decision> {
    let (host, sent) = (host_alone(), boot_time());
    with_request(limit, op, |request| {
        note_denial(&host, request, apply(limit, &state.into(), NOW, op).0, sent);
        known_denial(&host, &Request { op: &later, ..*request }, boot_time())
    })
}

#[test]
fn call_is_denied_while_the_bucket_cannot_hold_its_cost() {
    let up_to = |least| Op::TakeUpTo { most: 50, least, leave: 0 };
    for denied in [TAKE, up_to(1)] {
        for later in [TAKE, Op::Take { cost: 9 }, up_to(1)] {
            let known = known_after(&limit(), empty(), denied, later).unwrap();
            assert!(!known.is_accepted());
            // A token comes back in 10,000 seconds.
            assert!((9_900.0..=90_000.0).contains(&known.retry_after()));
            assert_eq!((known.reset_after() / 10_000.0).round(), 100.0);
        }
    }
    // 60 tokens are there.
    let state = apply(&limit(), &State::FULL.into(), NOW, Op::Take { cost: 40 }).1.word();
    let known = |op| known_after(&limit(), state, Op::Take { cost: 61 }, op).is_some();
    assert_eq!([61, 60, 1, 0].map(|cost| known(Op::Take { cost })), [true, false, false, false]);
    assert!(!known(Op::Take { cost: 101 }), "the server says that it is never accepted");
    assert!(!known(up_to(60)));
}

#[test]
fn block_denies_every_call_that_asks_for_tokens() {
    for later in [TAKE, Op::Peek { cost: 0 }, Op::Check, Op::Reserve { cost: 1, max_wait: 9 }] {
        // Whether a call found the block, or has set it.
        for op in [TAKE, Op::Check, Op::Block { duration: SECOND }] {
            let known = known_after(&limit(), blocked(), op, later).unwrap();
            assert!(known.is_blocked() && !known.is_accepted());
            assert!((3_500.0..=3_600.0).contains(&known.retry_after()));
        }
    }
    let corrections = [Op::Refund { cost: 1, expiry: None }, Op::Settle { cost: 1, expiry: 1 }];
    for later in
        [Op::Reset, Op::Block { duration: 1 }, Op::Start { missing: 1 }].iter().chain(&corrections)
    {
        assert_eq!(known_after(&limit(), blocked(), TAKE, *later), None);
    }
}

#[test]
fn denial_that_may_end_earlier_is_not_remembered() {
    // Calls that change or tell something although the bucket is empty.
    for later in [Op::Peek { cost: 1 }, Op::Check, Op::Reserve { cost: 1, max_wait: 9 }] {
        assert_eq!(known_after(&limit(), empty(), TAKE, later), None);
        assert_eq!(known_after(&limit(), empty(), later, TAKE), None);
    }
    let known = |limit: &Limit, state, op| known_after(limit, state, op, op).is_some();
    assert!(known(&limit(), empty(), TAKE));
    assert!(!known(&limit(), State::FULL, TAKE), "it was accepted");
    assert!(!known(&limit(), empty(), Op::Take { cost: 101 }), "it is never accepted");
    let overdrawn = apply(&limit(), &empty().into(), NOW, Op::Check).1.word();
    assert!(!known(&limit(), overdrawn, TAKE), "the debt is forgiven at once");
    let window = FixedWindow::new(1, 3_600.0).unwrap().into();
    let full = apply(&window, &State::FULL.into(), NOW, TAKE).1.word();
    assert!(!known(&window, full, TAKE), "a window does not refill");
}

#[test]
fn denials_say_nothing_about_the_clock_of_a_test() {
    let (host, now) = (host_alone(), boot_time());
    let denial = apply(&limit(), &empty().into(), NOW, TAKE).0;
    with_request(&limit(), TAKE, |request| {
        at(Some(now), || note_denial(&host, request, denial, now));
        assert_eq!(known_denial(&host, request, boot_time()), None);
        note_denial(&host, request, denial, now);
        at(Some(now), || assert_eq!(known_denial(&host, request, boot_time()), None));
        assert!(known_denial(&host, request, boot_time()).is_some());
    });
}

#[test]
fn shorter_numbers_ask_the_store_when_longer_ones_were_denied() {
    let (host, sent) = (host_alone(), boot_time());
    let short = TokenBucket::per_period(100, 60.0).unwrap().into();
    with_request(&limit(), TAKE, |request| {
        note_denial(&host, request, apply(&limit(), &empty().into(), NOW, TAKE).0, sent);
        assert!(known_denial(&host, request, boot_time()).is_some());
        let by_short = Request { limit: &short, ..*request };
        assert!(known_denial(&host, &by_short, boot_time()).is_none());
    });
}
