//! Leases: tokens that are taken, given back, fetched and lost.

mod ends;
mod limits;
mod places;
mod windows;

use super::*;
use crate::limit::{Decision, SECOND, StoredState, TokenBucket, apply};
use proptest::prelude::*;

const T: u64 = 1_000 * SECOND;
/// The longest call.
const LONGEST: u64 = SECOND / 10;

fn set() -> Set {
    Set(std::array::from_fn(|_| AtomicU128::new(0)))
}

fn key(set: &Set, tag: u64, max: u32) -> LeaseKey<'_> {
    LeaseKey { set, tag, limit: 3, max }
}

/// A bucket that is full at a time.
const fn full(expires_at: u64) -> Level {
    Level { expires_at, window: 0, hits: 0, name: 5, counted: 0 }
}

fn fetch(step: Step) -> Fetch {
    match step {
        Step::Fetch(fetch) => fetch,
        other => panic!("{other:?}"),
    }
}

/// The level once the server counts so many tokens as held by this host.
const fn counted(level: Level, counted: u32) -> Level {
    Level { counted, ..level }
}

/// Takes one token at `now`; a call that may fetch gets all it asks for. Returns the batch that was fetched.
fn call(key: &LeaseKey<'_>, now: u64) -> Option<u32> {
    match key.take(1, now, LONGEST) {
        Step::Taken(_) => None,
        Step::Fetch(fetch) => {
            key.put(&fetch, fetch.batch - 1, full(now), false, now, now);
            Some(fetch.batch)
        }
        Step::Ask | Step::Await(_) => panic!("no other process asks"),
    }
}

#[test]
fn batch_doubles_while_it_is_used_up_in_time() {
    let set = set();
    let key = key(&set, 7, 100);
    let batches: Vec<u32> = (0..400).filter_map(|i| call(&key, T + i)).collect();
    assert_eq!(batches, [1, 2, 4, 8, 16, 32, 64, 100, 100, 100]);
}

#[test]
fn bucket_with_a_call_a_second_has_no_lease() {
    let set = set();
    let key = key(&set, 7, 100);
    for i in 0..50 {
        assert_eq!(call(&key, T + i * (LIFETIME + (2 << UNIT_BITS))), Some(1));
    }
}

#[test]
fn batch_falls_to_what_was_used_and_the_rest_goes_back() {
    let set = set();
    let key = key(&set, 7, 64);
    let busy = (0..).map(|i| T + i);
    let _ = busy.take_while(|now| call(&key, *now) != Some(64)).count();
    // The call that fetched 64 and four more.
    (0..4).for_each(|i| assert_eq!(call(&key, T + 500 + i), None));
    let later = T + 500 + LIFETIME + SECOND / 2;
    let fetched = fetch(key.take(1, later, LONGEST));
    assert_eq!((fetched.batch, fetched.left_over), (8, 59));
    key.give_up(&fetched, false, false);
    assert_eq!(call(&key, later + 9), Some(1), "a server that gave nothing");
    assert_eq!(call(&key, later + 10), Some(2));
    assert_eq!(call(&key, later + 20 * SECOND), Some(1), "idle for long");
}

#[test]
fn one_process_fetches_and_the_others_wait_or_ask_for_themselves() {
    let set = set();
    let key = key(&set, 7, 8);
    let alone = fetch(key.take(1, T - 2, LONGEST));
    assert_eq!(key.take(1, T - 2, LONGEST), Step::Ask, "it brings nothing for others");
    key.put(&alone, 0, full(T), false, T - 1, T - 1);
    let first = fetch(key.take(1, T, LONGEST));
    assert!(matches!(key.take(1, T + 1, LONGEST), Step::Await(_)));
    assert!(matches!(key.take(1, T + LONGEST, LONGEST), Step::Await(_)));
    // It was killed, or paused: another one asks, and what the first one brings is lost.
    let second = fetch(key.take(1, T + LONGEST + (2 << UNIT_BITS), LONGEST));
    key.put(&first, 5, full(T), false, T, T + LONGEST);
    assert_eq!(key.available(T + LONGEST + (2 << UNIT_BITS)), None);
    let now = T + LONGEST + (3 << UNIT_BITS);
    key.put(&second, 2, full(T + 99), false, now, now);
    let held = Taken { level: counted(full(T + 99), 2), rest: 2 };
    assert_eq!(key.available(now), Some(held));
    assert_eq!(key.take(1, now, LONGEST), Step::Taken(Taken { rest: 1, ..held }));
}

#[test]
fn batch_of_a_paused_process_is_not_given_out_late() {
    let set = set();
    let key = key(&set, 7, 8);
    let fetched = fetch(key.take(1, T, 10 * SECOND));
    key.put(&fetched, 5, full(T), false, T, T + LIFETIME);
    assert_eq!(key.available(T + LIFETIME), None);
    assert_eq!(fetch(key.take(1, T + LIFETIME, LONGEST)).left_over, 0, "it is lost");
}

#[test]
fn tokens_of_another_limit_are_not_handed_out() {
    let set = set();
    let own = key(&set, 7, 8);
    let fetched = fetch(own.take(1, T, LONGEST));
    own.put(&fetched, 5, full(T), false, T, T);
    let other = LeaseKey { limit: 4, ..own };
    let fetched = fetch(other.take(1, T + 1, LONGEST));
    assert_eq!((fetched.batch, fetched.left_over), (1, 0));
    assert_eq!(own.available(T + 1), None);
}

#[test]
fn scarce_tokens_are_decided_by_the_server() {
    let set = set();
    let key = key(&set, 7, 8);
    let _ = (0..).take_while(|i| call(&key, T + i) != Some(8)).count();
    (0..7).for_each(|i| assert_eq!(call(&key, T + 50 + i), None));
    let mut fetched = fetch(key.take(1, T + 60, LONGEST));
    for i in 61..70 {
        key.put(&fetched, 0, full(T), true, T + i, T + i);
        fetched = fetch(key.take(1, T + i, LONGEST));
        assert_eq!(fetched.batch, 1);
    }
    key.put(&fetched, 0, full(T + 9), false, T + 70, T + 70);
    fetched = fetch(key.take(1, T + 71, LONGEST));
    assert_eq!((fetched.batch, fetched.level), (2, Some(full(T + 9))), "it begins anew");
}

/// A lease of a batch of four, three of which are left. The bucket on the server is full at `T + 40`.
fn batch_of_four(key: &LeaseKey<'_>) {
    let _ = (0..).take_while(|i| call(key, T - 9 + i) != Some(2)).count();
    assert_eq!(call(key, T), None);
    let fetched = fetch(key.take(1, T, LONGEST));
    key.put(&fetched, 3, full(T + 40), false, T, T);
}

#[test]
fn refund_goes_into_the_lease_as_far_as_the_server_counts_it() {
    let set = set();
    let key = key(&set, 7, 4);
    batch_of_four(&key);
    let level = counted(full(T + 40), 3);
    let given_back = |tokens, missing| {
        let missing = |seen: &Level| if *seen == level { missing } else { 0 };
        key.give_back(tokens, None, T + 1, missing).map(|(held, put)| (held.rest, put))
    };
    assert_eq!(given_back(1, 9), None, "the server counts three, which the lease has");
    assert_eq!(key.take(3, T + 2, LONGEST), Step::Taken(Taken { level, rest: 0 }));
    assert_eq!(given_back(1, 0), None, "the bucket lacks nothing");
    assert_eq!(given_back(1, 1), Some((1, 1)));
    assert_eq!(given_back(2, 2), Some((2, 1)));
    assert_eq!(given_back(u64::MAX, u64::MAX), Some((3, 1)));
}

#[test]
fn refund_to_a_bucket_without_many_calls_goes_to_the_server() {
    let set = set();
    let key = key(&set, 7, 4);
    assert_eq!(call(&key, T), Some(1));
    assert_eq!(key.give_back(1, None, T + 1, |_| 9), None);
}

#[test]
fn level_is_that_of_the_latest_refund_on_the_server() {
    let set = set();
    let key = key(&set, 7, 4);
    batch_of_four(&key);
    key.note_refund(&full(T + 20));
    // The answer to an earlier refund.
    key.note_refund(&full(T + 25));
    let held = Taken { level: counted(full(T + 20), 3), rest: 3 };
    assert_eq!(key.available(T + 1), Some(held));
}

#[test]
fn word_holds_each_field() {
    let lease = Lease {
        tag: (1 << 34) - 2,
        valid_until: (1 << 50) - 3,
        fetch: (1 << 18) - 5,
        is_fetching: true,
        doublings: 11,
        limit: 500,
        tokens: 4_001,
    };
    assert_eq!(Lease::from_word(lease.to_word()), lease);
    assert_eq!(Lease::from_word(0), Lease::default());
}

/// A process of the host, which may be paused between its steps.
#[derive(Clone, Debug)]
enum Action {
    /// A process without a call begins one for so many tokens; its server call is sent.
    Begin(usize, u32),
    /// The server's answer reaches the process, which had asked for tokens.
    End(usize),
    /// A process is killed.
    Kill(usize),
    /// Time passes, in milliseconds.
    Wait(u64),
    GiveBack(u32),
    Reset,
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        8 => (0usize..4, 1u32..5).prop_map(|(process, cost)| Action::Begin(process, cost)),
        8 => (0usize..4).prop_map(Action::End),
        1 => (0usize..4).prop_map(Action::Kill),
        3 => (0u64..700).prop_map(Action::Wait),
        1 => (1u32..4).prop_map(Action::GiveBack),
        1 => Just(Action::Reset),
    ]
}

proptest! {
    /// Whatever processes of a host do, and whenever they are paused or killed: no token is handed out that the server did
    /// not give, and what the host could still hand out is at most one batch.
    #[test]
    fn host_hands_out_no_more_than_it_was_given(
        actions in prop::collection::vec(action(), 1..200),
        max in 4u32..40,
    ) {
        let set = set();
        let lease_key = key(&set, 7, max);
        let mut now = T;
        let (mut given, mut handed_out) = (0u64, 0u64);
        let mut waiting: [Option<(Fetch, u32, u64)>; 4] = Default::default();
        for action in actions {
            now += 3 << UNIT_BITS;
            match action {
                Action::Begin(process, cost) if waiting[process].is_none() => {
                    match lease_key.take(cost, now, LONGEST) {
                        Step::Taken(_) => handed_out += u64::from(cost),
                        Step::Ask | Step::Await(_) => {}
                        Step::Fetch(fetch) => {
                            given = given.saturating_sub(u64::from(fetch.left_over));
                            waiting[process] = Some((fetch, cost, now));
                        }
                    }
                }
                Action::End(process) => {
                    if let Some((fetch, cost, sent)) = waiting[process].take() {
                        let got = fetch.batch.max(cost);
                        given += u64::from(got);
                        handed_out += u64::from(cost);
                        lease_key.put(&fetch, got - cost, full(now), got % 7 == 0, sent, now);
                    }
                }
                Action::Kill(process) => waiting[process] = None,
                Action::Wait(ms) => now += ms * 1_000_000,
                Action::GiveBack(tokens) if handed_out >= u64::from(tokens) => {
                    let given = lease_key.give_back(tokens.into(), None, now, |_| u64::MAX);
                    handed_out -= given.map_or(0, |(_, put)| put);
                }
                Action::Reset => lease_key.end(now),
                Action::Begin(..) | Action::GiveBack(_) => {}
            }
            let held = lease_key.words().map(|(_, _, word)| Lease::from_word(word).tokens).sum::<u32>();
            prop_assert!(handed_out + u64::from(held) <= given, "{handed_out} and {held} of {given}");
            prop_assert!(held <= max);
            let awaited = waiting.iter().flatten().filter(|(fetch, ..)| lease_key.find_fetching(fetch).is_some());
            prop_assert!(awaited.count() <= 1, "one batch is on its way");
        }
    }
}

/// What happens to a bucket on a server that does not refill meanwhile.
#[derive(Clone, Debug)]
enum Event {
    /// A process without a call begins one for so many tokens.
    Begin(usize, u32),
    /// The server decides on the call of a process.
    Decide(usize),
    /// The server's answer reaches the process.
    End(usize),
    /// It does not.
    Fail(usize),
    /// So many tokens are given back, whoever has taken them. A process has its answer later, if the server is asked.
    Refund(usize, u64),
    /// Another host gives so many tokens back.
    RefundElsewhere(u64),
    /// Time passes, in milliseconds.
    Wait(u64),
}

fn event() -> impl Strategy<Value = Event> {
    let tokens = || prop_oneof![4 => 1u64..9, 1 => Just(5_000)];
    prop_oneof![
        8 => (0usize..3, 1u32..5).prop_map(|(process, cost)| Event::Begin(process, cost)),
        8 => (0usize..3).prop_map(Event::Decide),
        8 => (0usize..3).prop_map(Event::End),
        1 => (0usize..3).prop_map(Event::Fail),
        2 => (0usize..3, tokens()).prop_map(|(process, tokens)| Event::Refund(process, tokens)),
        1 => tokens().prop_map(Event::RefundElsewhere),
        1 => (0u64..700).prop_map(Event::Wait),
    ]
}

/// A call on the server.
#[derive(Debug)]
enum Trip {
    Fetch { fetch: Fetch, cost: u32, sent: u64, got: Option<Decision> },
    Refund(Decision),
}

proptest! {
    /// Whatever is given back by whichever host, and in whichever order answers arrive: what the host holds is charged on the server.
    #[test]
    fn what_the_lease_holds_is_charged_on_the_server(
        events in prop::collection::vec(event(), 1..300),
        max in 4u32..40,
    ) {
        let limit = Limit::from(TokenBucket::per_period(100, 94_000_000.0).unwrap());
        let (set, mut server, mut now) = (set(), StoredState::FULL, T);
        let lease_key = key(&set, 7, max);
        let mut trips: [Option<Trip>; 3] = Default::default();
        for event in events {
            now += 3 << UNIT_BITS;
            let mut call = |op| {
                let (decision, after) = apply(&limit, &server, now, op);
                server = after;
                decision
            };
            match event {
                Event::Begin(process, cost) if trips[process].is_none() => {
                    if let Step::Fetch(fetch) = lease_key.take(cost, now, 100 * SECOND) {
                        fetch.return_left_over(now).map(&mut call);
                        trips[process] = Some(Trip::Fetch { fetch, cost, sent: now, got: None });
                    }
                }
                Event::Decide(process) => {
                    if let Some(Trip::Fetch { fetch, cost, got: got @ None, .. }) = &mut trips[process] {
                        *got = Some(call(fetch.op(&limit, u64::from(*cost), now)));
                    }
                }
                Event::End(process) => match trips[process].take() {
                    Some(Trip::Fetch { fetch, cost, sent, got: Some(got) }) if got.is_accepted() => {
                        let level = Level::new(&limit, &got, sent);
                        lease_key.put(&fetch, got.taken as u32 - cost, level, is_scarce(&limit, &got), sent, now);
                    }
                    Some(Trip::Fetch { fetch, got: Some(_), .. }) => lease_key.give_up(&fetch, false, true),
                    Some(Trip::Refund(decision)) => {
                        lease_key.note_refund(&Level::new(&limit, &decision, now));
                    }
                    undecided => trips[process] = undecided,
                },
                Event::Fail(process) => {
                    if let Some(Trip::Fetch { fetch, .. }) = trips[process].take() {
                        lease_key.give_up(&fetch, false, false);
                    }
                }
                Event::Refund(process, tokens) if trips[process].is_none() => {
                    let missing = |level: &Level| missing(&limit, &level.at(&limit, now));
                    let put = lease_key.give_back(tokens, None, now, missing).map_or(0, |(_, put)| put);
                    if put < tokens {
                        trips[process] = Some(Trip::Refund(call(Op::Refund { cost: tokens - put, expiry: None })));
                    }
                }
                Event::RefundElsewhere(cost) => _ = call(Op::Refund { cost, expiry: None }),
                Event::Wait(ms) => now += ms * 1_000_000,
                Event::Begin(..) | Event::Refund(..) => {}
            }
            let held = lease_key.words().map(|(_, _, word)| Lease::from_word(word).tokens).sum::<u32>();
            prop_assert!(held <= max);
            let charged = missing(&limit, &apply(&limit, &server, now, Op::Peek { cost: 0 }).0);
            prop_assert!(u64::from(held) <= charged, "{held} held of {charged}");
        }
    }
}
