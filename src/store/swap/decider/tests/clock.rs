//! What a process knows of the server's clock.

use super::*;
use crate::limit::{FixedWindow, SlidingWindow};

#[test]
fn answer_that_arrives_late_gives_no_tokens() {
    let fast = Limit::from(TokenBucket::per_second(10, 1_000.0).unwrap());
    let at = |full_at, latest| {
        let state = State::Filling { full_at: Span::from_ns(full_at) };
        let entry = &Register::new(0);
        with_request(&fast, TAKE, |request| {
            let attempt = Attempt { entry, request, turn: None, may_write: true };
            attempt.decide_within(&state.into(), [NOW, latest])
        })
    };
    let (decision, after) = at(NOW, NOW + SECOND).unwrap();
    assert!(decision.is_accepted(), "full at both times");
    assert_eq!(after.expires_at(), NOW + SECOND + SECOND / 1_000, "taken from at the later");
    assert!(at(NOW + 10_000_000, NOW + SECOND).is_none(), "empty at the earlier: it is read again");
    let (decision, _) = at(NOW + 5_000_000, NOW + 1_000_000).unwrap();
    assert_eq!(decision.now, NOW, "as much is owed at both times");

    let (register, record) = (Register::new(0), record());
    register.late.set(40 * SECOND / 1_000);
    for _ in 0..3 {
        assert!(decide(&register, &record, TAKE, LONG).unwrap().is_accepted());
    }
    assert_eq!(register.reads.get(), 1);
}

#[test]
fn times_at_which_a_call_would_take_different_numbers_do_not_agree() {
    let limit = Limit::from(TokenBucket::per_second(10, 1_000.0).unwrap());
    let state = State::Filling { full_at: Span::from_ns(NOW + 5 * SECOND / 1_000) };
    let op = Op::TakeUpTo { most: 10, least: 1, leave: 0 };
    with_request(&limit, op, |request| {
        let attempt = Attempt { entry: &Register::new(0), request, turn: None, may_write: true };
        let taken =
            |latest| attempt.decide_within(&state.into(), [NOW, latest]).map(|it| it.0.taken);
        assert_eq!(taken(NOW + SECOND / 10_000), Some(5));
        assert_eq!(taken(NOW + SECOND / 1_000), None, "one more by the later");
    });
}

#[test]
fn hand_off_is_used_if_its_clock_reading_was_short_or_the_limit_is_slow() {
    // A bucket of a tenth of a second, and one of a second.
    for (per_second, late, reads) in
        [(100.0, 9, 1), (100.0, 11, 3), (10.0, 15, 1), (10.0, 16, 3), (10.0, 40, 3)]
    {
        let (register, record) = (Register::new(0), record());
        register.late.set(late * SECOND / 1_000);
        let limit = TokenBucket::per_second(10, per_second).unwrap();
        for _ in 0..3 {
            decide_on(&register, &record, limit, TAKE, LONG).unwrap();
        }
        assert_eq!(register.reads.get(), reads, "{per_second} a second, {late} ms");
    }
}

#[test]
fn window_that_may_have_ended_is_decided_at_a_time_that_is_known() {
    let limit = Limit::from(FixedWindow::new(3, 1.0).unwrap());
    let (_, state) = apply(&limit, &StoredState::FULL, NOW, TAKE);
    let ends_at = NOW + SECOND;
    let decided = |bounds: [u64; 2]| {
        let entry = &Register::new(0);
        with_request(&limit, TAKE, |request| {
            let attempt = Attempt { entry, request, turn: None, may_write: true };
            let decided = attempt.decide_within(&state, bounds);
            decided.map(|(decision, after)| (decision.now, after.expires_at()))
        })
    };
    assert_eq!(
        decided([ends_at - 9, ends_at - 1]),
        Some((ends_at - 1, ends_at)),
        "the open window"
    );
    assert_eq!(decided([ends_at - 9, ends_at]), None);
    let next = ends_at + 9;
    assert_eq!(decided([ends_at, next]), Some((next, next + SECOND)));
}

#[test]
fn sliding_window_is_decided_at_a_time_of_its_own_reading() {
    let (register, record) = (Register::new(0), record());
    register.late.set(40 * SECOND / 1_000);
    let limit = SlidingWindow::new(3, 1.0).unwrap();
    for call in 1..=3 {
        let decision = decide_on(&register, &record, limit, TAKE, LONG).unwrap();
        assert_eq!(
            (decision.now, decision.expires_at),
            (NOW - SECOND / 25, NOW + SECOND * 24 / 25)
        );
        assert_eq!(register.reads.get(), call, "no hand-off is used");
    }
}

#[test]
fn clock_that_is_set_back_gives_no_tokens() {
    let (register, record) = (Register::new(0), record());
    let mut accepted = 0;
    for call in 0..60 {
        if call == 5 {
            register.time.set(NOW - 3_600 * SECOND);
        }
        accepted += u32::from(decide(&register, &record, TAKE, LONG).unwrap().is_accepted());
    }
    assert!(accepted <= 10, "{accepted}");
}
