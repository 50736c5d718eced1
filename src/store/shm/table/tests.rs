//! Sets with more keys than slots.

use super::*;
use crate::limit::{
    self, Decision, FixedWindow, Limit, Op, SECOND, Span, TokenBucket, Window, WordAlgorithm,
};
use portable_atomic::AtomicU128;
use proptest::prelude::*;

mod claims;
mod newcomers;
mod snapshot;

const T0: u64 = 1_000_000 * SECOND;
const KEYS: usize = 24;

struct Call {
    limit: Limit,
    op: Op,
    now: u64,
    decision: Option<Decision>,
    evicted: bool,
}

/// Applies an operation under a limit whose state is a word.
fn apply(limit: &Limit, state: State, now: u64, op: Op) -> (Decision, State) {
    let (decision, after) = limit::apply(limit, &state.into(), now, op);
    (decision, after.word())
}

impl Change for Call {
    fn apply(&mut self, slot: Slot) -> Option<Slot> {
        let state = slot.state();
        let (decision, after) = apply(&self.limit, state, self.now, self.op);
        self.decision = Some(decision);
        (after != state).then(|| Slot::committed(slot.tag(), after))
    }

    fn inherited_state(&self, expires_at: u64) -> State {
        match &self.limit {
            Limit::TokenBucket(bucket) => bucket.inherited_state(expires_at, self.now),
            Limit::FixedWindow(window) => window.inherited_state(expires_at, self.now),
            Limit::CalendarWindow(window) => window.inherited_state(expires_at, self.now),
            Limit::SlidingWindow(window) => window.place().inherited_state(expires_at, self.now),
        }
    }

    fn takes(&self) -> bool {
        self.limit.takes(self.op)
    }

    fn note_eviction(&mut self) {
        self.evicted = true;
    }
}

fn decide(set: &[AtomicU128], tag: u64, limit: &Limit, op: Op, now: u64) -> Decision {
    let call = Call { limit: *limit, op, now, decision: None, evicted: false };
    update(set, tag, now, call).decision.unwrap()
}

fn call(set: &[AtomicU128], tag: u64, limit: &Limit, op: Op, now: u64) -> bool {
    decide(set, tag, limit, op, now).is_accepted()
}

fn set_of(size: usize) -> Vec<AtomicU128> {
    (0..size).map(|_| AtomicU128::new(0)).collect()
}

/// Limits that refill in a second to a day, and the operation of their clients.
fn limits() -> Vec<(Limit, Op)> {
    let bucket = |capacity, window| TokenBucket::per_period(capacity, window).unwrap().into();
    let window = |limit, interval| FixedWindow::new(limit, interval).unwrap().into();
    let take = Op::Take { cost: 1 };
    vec![
        (bucket(10, 300.0), take),
        (bucket(3, 1.0), take),
        (bucket(2, 86_400.0), take),
        (bucket(5, 20.0), take),
        (window(4, 60.0), take),
        (window(1, 3.0), take),
        (bucket(3, 60.0), Op::Check),
        (bucket(10, 30.0), Op::Check),
    ]
}

/// What stands in a set.
fn slots_in(set: &[AtomicU128]) -> Vec<Slot> {
    set.iter().map(|word| Slot(Word::load(word))).collect()
}

/// A bucket's slot that expires at this time.
fn filling(tag: u64, full_at: u64) -> Slot {
    Slot::committed(tag, State::Filling { full_at: Span::from_ns(full_at) })
}

fn set_with<const N: usize>(slots: [Slot; N]) -> [AtomicU128; N] {
    slots.map(|slot| AtomicU128::new(slot.0))
}

fn state_of(set: &[AtomicU128], tag: u64) -> Option<State> {
    find_committed(set, tag).map(|(_, slot)| slot.state())
}

/// Any operation, most often one that takes.
fn any_op() -> impl Strategy<Value = Op> {
    let cost = 1u64..4;
    prop_oneof![
        4 => cost.clone().prop_map(|cost| Op::Take { cost }),
        3 => Just(Op::Check),
        2 => (cost.clone(), 0..40 * SECOND)
            .prop_map(|(cost, max_wait)| Op::Reserve { cost, max_wait }),
        2 => cost.clone().prop_map(|cost| Op::Refund { cost, expiry: None }),
        2 => cost.clone().prop_map(|cost| Op::Settle { cost, expiry: 0 }),
        1 => Just(Op::Reset),
        1 => (0..20 * SECOND).prop_map(|missing| Op::Start { missing }),
        1 => cost.clone().prop_map(|cost| Op::Peek { cost }),
        2 => (cost, 0u64..4)
            .prop_map(|(least, more)| Op::TakeUpTo { most: least + more, least, leave: 0 }),
        1 => (1..40 * SECOND).prop_map(|duration| Op::Block { duration }),
    ]
}

/// The state that a client's bucket would have at best, if it were alone in the set.
struct Alone(State);

impl Alone {
    /// The state without its debts and without a block, which are not kept of an evicted bucket.
    fn without_debts(&self, limit: &Limit, now: u64) -> State {
        let expires_at = match self.0 {
            State::Reserved { full_at, .. } => full_at,
            State::Overdrawn { forgiven_at, .. } => forgiven_at,
            State::Blocked { until, .. } => until,
            State::Window { ends_at, hits } => match limit {
                Limit::FixedWindow(window) => {
                    return State::Window { ends_at, hits: hits.min(window.max_hits()) };
                }
                _ => return self.0,
            },
            other => return other,
        };
        match limit {
            _ if expires_at <= now => State::FULL,
            Limit::TokenBucket(bucket) => {
                let full_at = expires_at.min(now + bucket.refill_time().ns);
                State::Filling { full_at: Span::from_ns(full_at) }
            }
            Limit::FixedWindow(window) => State::Window {
                ends_at: expires_at.min(now + window.interval()) - 1,
                hits: window.max_hits(),
            },
            Limit::CalendarWindow(_) | Limit::SlidingWindow(_) => panic!("not in these tests"),
        }
    }

    /// Notes a call, and the state of the key's slot before and after it. Returns whether a client
    /// that is alone in the set could have had the same answer.
    fn allows(
        &mut self,
        (limit, op, now): (&Limit, Op, u64),
        (before, after): (Option<State>, Option<State>),
        decision: Decision,
    ) -> bool {
        let accepted = decision.is_accepted();
        // A client that is alone may have more tokens. It is charged what was taken.
        let op = match op {
            Op::TakeUpTo { .. } if accepted => Op::Take { cost: decision.taken },
            op => op,
        };
        let uncut = apply(limit, self.0, now, op);
        if before.is_none() && after.is_some() || !limit.takes(op) && after.is_none() {
            self.0 = self.without_debts(limit, now);
        }
        let (decision, charged) = apply(limit, self.0, now, op);
        let reserves = matches!(op, Op::Reserve { .. });
        // What is settled admits no call.
        let is_allowed = !limit.takes(op)
            || matches!(op, Op::Settle { .. })
            || !accepted
            || decision.is_accepted() && (reserves || before.is_some() || uncut.0.is_accepted());
        // A denied call takes nothing, except check() on a bucket that has a slot; and that charges nothing on top of what was
        // settled, which a newcomer that started lower may owe where a client that is alone does not.
        let overdraws = op == Op::Check && after.is_some() && before != after && !accepted;
        // What is settled in a window that was evicted ends with the inherited one, in which no hit is left.
        let is_lost = matches!((op, limit), (Op::Settle { .. }, Limit::FixedWindow(_)))
            && (before.is_none() || after.is_none());
        if accepted && !is_lost || overdraws {
            self.0 = charged;
        }
        // A window that inherited its state ends when the evicted one does.
        if let (Limit::FixedWindow(_), Some(inherited)) = (limit, after)
            && self.0.expires_at() <= now
        {
            self.0 = inherited;
        }
        is_allowed
    }
}

/// Calls on some keys: the key, the operation, the time since the call before as a scale and a number, and how
/// often it is made.
fn any_calls() -> impl Strategy<Value = Vec<(usize, Op, usize, u64, u32)>> {
    let times = prop_oneof![4 => Just(1), 1 => 1u32..200];
    prop::collection::vec((0..KEYS, any_op(), 0usize..4, 0u64..40, times), 1..300)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_024))]

    /// Many more keys than slots, short and long limits, and all operations: no client is accepted that
    /// would have been denied if it were alone in the set.
    #[test]
    fn evicted_client_gets_no_tokens_back(
        size in 2usize..=WAYS,
        calls in any_calls(),
    ) {
        let (set, limits) = (set_of(size), limits());
        let mut alone: Vec<Alone> = (0..KEYS).map(|_| Alone(State::FULL)).collect();
        let mut now = T0;
        for (key, op, scale, wait, times) in calls {
            now += wait * [0, 1, SECOND / 10, SECOND * 5][scale];
            let (limit, _) = &limits[key % limits.len()];
            let tag = key as u64 + 1;
            for _ in 0..times {
                let before = state_of(&set, tag);
                let decision = decide(&set, tag, limit, op, now);
                let after = state_of(&set, tag);
                prop_assert!(
                    alone[key].allows((limit, op, now), (before, after), decision),
                    "{key}: {op:?} at {}", now - T0
                );
                if let Op::Block { .. } = op {
                    let remembered = matches!(after, Some(State::Blocked { until, .. }) if until == decision.retry_at);
                    prop_assert!(remembered, "{:?}", after);
                }
            }
        }
    }

    /// The longest block of a set stays, whatever happens to other keys, and denies every call until it
    /// ends.
    #[test]
    fn block_survives_its_neighbours(
        size in 3usize..=WAYS,
        calls in any_calls(),
        is_newcomer: bool,
    ) {
        const YEAR: u64 = 31_557_600 * SECOND;
        let (set, limits) = (set_of(size), limits());
        if is_newcomer {
            // The set is full of other clients, and has a tombstone.
            for tag in 100..120 {
                call(&set, tag, &limits[2].0, Op::Take { cost: 2 }, T0);
            }
        }
        let until = decide(&set, 1, &limits[0].0, Op::Block { duration: YEAR }, T0).retry_at;
        prop_assert_eq!(until, T0 + YEAR);
        let mut now = T0;
        for (key, op, scale, wait, times) in calls {
            now += wait * [0, 1, SECOND / 10, SECOND * 5][scale];
            let (limit, _) = &limits[key % limits.len()];
            for _ in 0..if op == Op::Reset && key == 0 { 0 } else { times } {
                let decision = decide(&set, key as u64 + 1, limit, op, now);
                if key == 0 {
                    prop_assert!(decision.is_blocked() && decision.retry_at == until, "{op:?}");
                    prop_assert_eq!(decision.is_accepted(), matches!(op, Op::Block { .. }));
                }
            }
            let left = state_of(&set, 1);
            prop_assert!(matches!(left, Some(State::Blocked { until: end, .. }) if end == until), "{:?}", left);
        }
        let all = Op::Take { cost: limits[0].0.capacity() };
        prop_assert!(!call(&set, 1, &limits[0].0, all, until - 1));
        prop_assert!(call(&set, 1, &limits[0].0, all, until), "the limit starts afresh");
    }

    /// Once all evicted buckets have expired, a newcomer starts with a full bucket while a slot is
    /// free.
    #[test]
    fn newcomer_starts_full_once_evicted_buckets_have_expired(
        calls in prop::collection::vec((0..KEYS, 0usize..4, 0u64..40), 1..400),
        newcomer in 0usize..8,
    ) {
        let (set, limits) = (set_of(WAYS), limits());
        // The longest limit: its buckets outlive all that is evicted.
        let day = &limits[2].0;
        let mut now = T0;
        let mut last = T0;
        for (key, scale, wait) in calls {
            now += wait * [0, 1, SECOND / 10, SECOND * 5][scale];
            let (limit, op) = &limits[key % limits.len()];
            call(&set, key as u64 + 1, limit, *op, now);
            last = now;
        }
        // A day's bucket takes up to a day, and a check's window begins with its last.
        now = last + 86_400 * SECOND + 600 * SECOND;
        call(&set, 900, day, Op::Take { cost: 1 }, now);
        call(&set, 901, day, Op::Take { cost: 1 }, now);
        let (limit, op) = &limits[newcomer];
        let capacity = limit.capacity();
        let accepted = (0..capacity).filter(|_| call(&set, 950, limit, *op, now)).count() as u64;
        prop_assert_eq!(accepted, capacity);
    }
}

#[test]
fn tombstone_of_a_forgiven_debt_still_holds_other_evicted_clients() {
    let limit = TokenBucket::per_period(10, 60.0).unwrap().into();
    let set = set_of(2);
    let check = |tag, at| call(&set, tag, &limit, Op::Check, T0 + at * SECOND);
    for _ in 0..110 {
        check(1, 0);
    }
    assert!((0..10).all(|_| check(2, 40)));
    check(3, 55);
    // Client 1 is forgiven by now. Client 2 was evicted, and gets three tokens back in 21 seconds.
    assert!((0..10).filter(|_| check(2, 61)).count() <= 3);
}

#[test]
fn tombstone_expires_with_the_buckets_it_stands_for() {
    let [day, minute] = [(2, 86_400.0), (5, 60.0)]
        .map(|(capacity, window)| Limit::from(TokenBucket::per_period(capacity, window).unwrap()));
    let set = set_of(WAYS);
    call(&set, 1, &day, Op::Take { cost: 1 }, T0);
    for i in 0..40 {
        call(&set, 10 + i, &minute, Op::Check, T0 + i * SECOND);
    }
    for hour in 1..48 {
        let now = T0 + hour * 3_600 * SECOND;
        // Keeps that bucket in use.
        call(&set, 1, &day, Op::Take { cost: 1 }, now);
        assert!(call(&set, 1_000 + hour, &minute, Op::Take { cost: 5 }, now), "{hour} hours later");
    }
}

#[test]
fn evicted_block_leaves_no_token_until_it_ends() {
    // A refill takes longer than the block, so a level alone would leave tokens.
    let minute = Limit::from(TokenBucket::per_period(6, 60.0).unwrap());
    let set = set_of(3);
    let block = |tag, seconds| Op::Block { duration: seconds * SECOND + tag };
    assert!((1..=3).all(|tag| call(&set, tag, &minute, block(tag, 30), T0)));
    assert!(state_of(&set, 1).is_some(), "no block is evicted while there is room");
    call(&set, 4, &minute, block(4, 40), T0);
    assert!(state_of(&set, 1).is_none(), "the shortest block is evicted");
    let take = |at| call(&set, 1, &minute, Op::Take { cost: 1 }, T0 + at * SECOND);
    assert!(!take(5), "it finds an empty bucket");
    assert!(!take(14));
    assert!(take(15), "and waits for one token");
}

#[test]
fn block_is_evicted_after_all_buckets() {
    let [day, minute] = [(2, 86_400.0), (6, 60.0)]
        .map(|(capacity, window)| Limit::from(TokenBucket::per_period(capacity, window).unwrap()));
    let set = set_of(WAYS);
    assert!(call(&set, 1, &minute, Op::Block { duration: 10 * SECOND }, T0));
    for tag in 2..100 {
        call(&set, tag, &day, Op::Take { cost: 2 }, T0 + tag * SECOND / 20);
    }
    assert!(matches!(state_of(&set, 1), Some(State::Blocked { .. })));
}

#[test]
fn refund_to_a_newcomer_frees_no_evicted_client() {
    let [short, long] = [(5, 300.0), (10, 600.0)]
        .map(|(capacity, window)| Limit::from(TokenBucket::per_period(capacity, window).unwrap()));
    for give_back in [Op::Reset, Op::Refund { cost: 10, expiry: None }] {
        let set = set_of(WAYS);
        let take = |tag, limit, cost| call(&set, tag, limit, Op::Take { cost }, T0);
        // The client has taken four tokens of five, and owes least in the set.
        assert!(take(1, &short, 4));
        assert!((2..=WAYS as u64).all(|tag| take(tag, &long, 8)));
        assert!(take(100, &long, 1), "the newcomer has tokens at its level");
        assert!(state_of(&set, 1).is_none(), "the client is evicted");
        call(&set, 100, &long, give_back, T0);
        let admitted = (0..5).filter(|_| take(1, &short, 1)).count();
        assert!(admitted <= 1, "one token was left, and {admitted} were taken after {give_back:?}");
    }
}
