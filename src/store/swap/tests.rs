//! Compare-and-swap: conflicts, tries and their budget.

use super::*;
use crate::limit::{SlidingWindow, Span, State, TokenBucket};
use crate::net::Timeouts;
use crate::store::request::Time;
use crate::store::shm::set::Set;
use std::time::Instant;

const TAKE: Op = Op::Take { cost: 1 };
const NOW: u64 = 100_000 * SECOND;

/// A server with one value, and the number of swaps that other processes make first.
struct Register {
    held: Cell<(State, u64)>,
    rivals: Cell<u32>,
    reads: Cell<u32>,
    time: Cell<u64>,
    /// The delay of its answers.
    late: Cell<u64>,
}

impl Register {
    fn new(rivals: u32) -> Self {
        let held = Cell::new((State::FULL, 7));
        let (rivals, reads) = (Cell::new(rivals), Cell::new(0));
        Self { held, rivals, reads, time: Cell::new(NOW), late: Cell::new(0) }
    }
}

impl SwapEntry for Register {
    type Version = u64;

    fn read(&self, _: &mut Budget) -> Result<Found<u64>> {
        self.reads.set(self.reads.get() + 1);
        let (state, version) = self.held.get();
        let (time, now) = (self.time.get(), boot_time());
        let late = self.late.get();
        let clock = Reading { time: time - late, sent_at: now - late, read_at: now };
        Ok(Found { state: state.into(), version, now: [clock.time; 2], clock })
    }

    fn handed_off(&self, handoff: &Handoff) -> Option<u64> {
        Some(handoff.version)
    }

    fn swap(&self, version: &u64, state: &StoredState, _: u64, _: &mut Budget) -> Result<Swap> {
        let (held, current) = self.held.get();
        if let Some(left) = self.rivals.get().checked_sub(1) {
            self.rivals.set(left);
            self.held.set((held, current + 1));
            return Ok(Swap::Lost);
        }
        if *version != current {
            return Ok(Swap::Lost);
        }
        self.held.set((state.word(), current + 1));
        Ok(Swap::Done(Some(current + 1)))
    }

    fn blocked(&self) -> Error {
        Error::refused("blocked")
    }

    fn server(&self) -> String {
        "a register".to_owned()
    }
}

fn with_request<R>(limit: &Limit, op: Op, work: impl FnOnce(&Request<'_>) -> R) -> R {
    let (key_hash, parts) = (Cell::default(), [&b"x"[..], b"", b"", b""]);
    let key = Key { parts, kind: LimitKind::TokenBucket, key_hash: &key_hash };
    let timeouts = &Timeouts::default();
    work(&Request { key: &key, limit, op: &op, time: Time::Now, timeouts })
}

fn decide(register: &Register, set: &Set, op: Op, budget: Duration) -> Result<Decision> {
    let limit = Limit::from(TokenBucket::per_second(10, 0.001).unwrap());
    let ticket = Ticket::wait(set, 1, [2, 3], SECOND, SECOND);
    let mut budget = Budget::start(Timeouts { call: budget, connect: budget });
    with_request(&limit, op, |request| {
        Attempt { entry: register, request, ticket: Some(&ticket) }.decide(&mut budget)
    })
}

fn set() -> Set {
    Set(std::array::from_fn(|_| portable_atomic::AtomicU128::new(0)))
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn handed_off_state_need_not_be_read() {
    let (register, set) = (Register::new(0), set());
    for _ in 0..10 {
        assert!(decide(&register, &set, TAKE, LONG).unwrap().accepted);
    }
    assert_eq!(register.reads.get(), 1);
    assert!(!decide(&register, &set, TAKE, LONG).unwrap().accepted);
    assert_eq!(register.reads.get(), 2, "a denial is the server's, not the hand-off's");
}

#[test]
fn state_that_another_host_changed_is_read_again() {
    let (register, set) = (Register::new(0), set());
    decide(&register, &set, TAKE, LONG).unwrap();
    let full = Span::from_ns(NOW + 10_000 * SECOND);
    register.held.set((State::Filling { full_at: full }, 99));
    assert!(!decide(&register, &set, TAKE, LONG).unwrap().accepted);
    assert_eq!(register.reads.get(), 2);
}

#[test]
fn lost_swaps_are_tried_again_until_the_bucket_is_too_busy() {
    let register = Register::new(9);
    assert!(decide(&register, &set(), TAKE, LONG).unwrap().accepted);
    assert_eq!(register.reads.get(), 10);
    let register = Register::new(u32::MAX);
    let denied = decide(&register, &set(), TAKE, LONG).unwrap();
    assert!(!denied.accepted && denied.retry_after() < 0.01);
    assert_eq!(register.reads.get(), MAX_TRIES);
    let refund = decide(&register, &set(), Op::Refund { cost: 1, expiry: None }, LONG);
    assert!(matches!(refund, Ok(Decision { accepted: true, .. })), "a full bucket has no debt");
}

#[test]
fn no_try_is_begun_without_the_time_for_it() {
    let (register, set) = (Register::new(0), set());
    decide(&register, &set, TAKE, LONG).unwrap();
    register.held.set((register.held.get().0, 99));
    let start = Instant::now();
    let denied = decide(&register, &set, TAKE, Duration::ZERO).unwrap();
    assert!(!denied.accepted && start.elapsed() < LONG);
    assert_eq!(register.reads.get(), 1, "the hand-off was lost, and nothing read after it");
}

#[test]
fn answer_that_arrives_late_gives_no_tokens() {
    let fast = Limit::from(TokenBucket::per_second(10, 1_000.0).unwrap());
    let bounds = [NOW, NOW + SECOND];
    let at = |full_at| {
        let state = State::Filling { full_at: Span::from_ns(full_at) };
        let entry = &Register::new(0);
        with_request(&fast, TAKE, |request| {
            Attempt { entry, request, ticket: None }.apply_within(&state.into(), bounds)
        })
    };
    let (decision, after) = at(NOW).unwrap();
    assert!(decision.accepted, "full at both times");
    assert_eq!(after.expires_at(), NOW + SECOND + SECOND / 1_000, "taken from at the later");
    assert!(at(NOW + 10_000_000).is_none(), "empty at the earlier: it is read again");

    let (register, set) = (Register::new(0), set());
    register.late.set(40 * SECOND / 1_000);
    for _ in 0..3 {
        assert!(decide(&register, &set, TAKE, LONG).unwrap().accepted);
    }
    assert_eq!(register.reads.get(), 1);
}

#[test]
fn sliding_window_is_decided_at_a_time_of_its_own_reading() {
    let (register, set) = (Register::new(0), set());
    register.late.set(40 * SECOND / 1_000);
    let limit = Limit::from(SlidingWindow::new(3, 1.0).unwrap());
    for call in 1..=3 {
        let ticket = Ticket::wait(&set, 1, [2, 3], SECOND, SECOND);
        let mut budget = Budget::start(Timeouts { call: LONG, connect: LONG });
        let decision = with_request(&limit, TAKE, |request| {
            Attempt { entry: &register, request, ticket: Some(&ticket) }
                .decide(&mut budget)
                .unwrap()
        });
        assert_eq!(
            (decision.now, decision.expires_at),
            (NOW - SECOND / 25, NOW + SECOND * 24 / 25)
        );
        assert_eq!(register.reads.get(), call, "no hand-off is used");
    }
}

#[test]
fn clock_that_is_set_back_gives_no_tokens() {
    let (register, set) = (Register::new(0), set());
    let mut accepted = 0;
    for call in 0..60 {
        if call == 5 {
            register.time.set(NOW - 3_600 * SECOND);
        }
        accepted += u32::from(decide(&register, &set, TAKE, LONG).unwrap().accepted);
    }
    assert!(accepted <= 10, "{accepted}");
}

#[test]
fn hosts_with_different_clocks_admit_no_more_than_the_limit() {
    let ops = [Op::Take { cost: 1 }, Op::Check, Op::Reserve { cost: 1, max_wait: SECOND }];
    for (op, skew_ms) in ops.into_iter().flat_map(|op| [(op, 0), (op, 5), (op, 900)]) {
        let limit = TokenBucket::per_second(100, 100.0).unwrap().into();
        let (mut state, mut accepted) = (StoredState::FULL, 0);
        // Ten seconds, every 0.2 ms a call, by two hosts alternately.
        for call in 0..50_000u64 {
            let own = 1_000 * SECOND + call * 200_000 + call % 2 * skew_ms * 1_000_000;
            let now = latest_clock(&limit, &state, own);
            let (decision, after) = apply(&limit, &state, now, op);
            state = after;
            accepted += u64::from(decision.accepted);
        }
        // The tokens of ten seconds and of the skew, and a reservation's second.
        assert!(accepted <= 1_100 + skew_ms / 10 + 100, "{op:?}, {skew_ms} ms: {accepted}");
    }
}

#[test]
fn call_accepted_by_another_clock_has_nothing_to_wait_for() {
    let limit = Limit::from(TokenBucket::per_second(100, 100.0).unwrap());
    let (own, other) = (1_000 * SECOND, 1_001 * SECOND);
    let (accepted, after) = apply(&limit, &StoredState::FULL, other, Op::Take { cost: 100 });
    assert_eq!(in_time_of(own, accepted).retry_after(), 0.0);
    let (denied, _) = apply(&limit, &after, other, Op::Take { cost: 1 });
    assert_eq!(in_time_of(own, denied).retry_after(), 1.01);
}
