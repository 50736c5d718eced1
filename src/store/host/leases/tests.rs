use super::*;
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

fn fetch(step: Step) -> Fetch {
    match step {
        Step::Fetch(fetch) => fetch,
        other => panic!("{other:?}"),
    }
}

/// Takes one token at `now`; a call that may fetch gets all it asks for. Returns the batch that was fetched.
fn call(key: &LeaseKey<'_>, now: u64) -> Option<u32> {
    match key.take(1, now, LONGEST) {
        Step::Taken(_) => None,
        Step::Fetch(fetch) => {
            key.put(&fetch, fetch.batch - 1, now, false, now, now);
            Some(fetch.batch)
        }
        Step::Ask => panic!("no other process asks"),
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
    key.give_up(&fetched);
    assert_eq!(call(&key, later + 9), Some(1), "a server that gave nothing");
    assert_eq!(call(&key, later + 10), Some(2));
    assert_eq!(call(&key, later + 20 * SECOND), Some(1), "idle for long");
}

#[test]
fn one_process_fetches_and_the_others_ask_for_themselves() {
    let set = set();
    let key = key(&set, 7, 8);
    let first = fetch(key.take(1, T, LONGEST));
    assert_eq!(key.take(1, T + 1, LONGEST), Step::Ask);
    assert_eq!(key.take(1, T + LONGEST, LONGEST), Step::Ask);
    // It was killed, or paused: another one asks, and what the first one brings is lost.
    let second = fetch(key.take(1, T + LONGEST + (2 << UNIT_BITS), LONGEST));
    key.put(&first, 5, T, false, T, T + LONGEST);
    assert_eq!(key.available(T + LONGEST + (2 << UNIT_BITS)), None);
    let now = T + LONGEST + (3 << UNIT_BITS);
    key.put(&second, 2, T + 99, false, now, now);
    assert_eq!(key.available(now), Some((2, Some(T + 99))));
    assert_eq!(key.take(1, now, LONGEST), Step::Taken(Taken { full_at: Some(T + 99), rest: 1 }));
}

#[test]
fn batch_of_a_paused_process_is_not_given_out_late() {
    let set = set();
    let key = key(&set, 7, 8);
    let fetched = fetch(key.take(1, T, 10 * SECOND));
    key.put(&fetched, 5, T, false, T, T + LIFETIME);
    assert_eq!(key.available(T + LIFETIME), None);
}

#[test]
fn tokens_of_another_limit_are_not_handed_out() {
    let set = set();
    let own = key(&set, 7, 8);
    let fetched = fetch(own.take(1, T, LONGEST));
    own.put(&fetched, 5, T, false, T, T);
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
        key.put(&fetched, 0, T, true, T + i, T + i);
        fetched = fetch(key.take(1, T + i, LONGEST));
        assert_eq!(fetched.batch, 1);
    }
    key.put(&fetched, 0, T + 9, false, T + 70, T + 70);
    fetched = fetch(key.take(1, T + 71, LONGEST));
    assert_eq!((fetched.batch, fetched.full_at), (2, Some(T + 9)), "it begins anew");
}

#[test]
fn ended_lease_takes_nothing_from_a_call_that_is_on_its_way() {
    let set = set();
    let key = key(&set, 7, 8);
    let fetched = fetch(key.take(1, T, LONGEST));
    key.end(T + 1);
    key.put(&fetched, 5, T, false, T, T + 2);
    assert_eq!(key.available(T + 2), None);
    assert!(!key.give_back(1, T + 2));
}

#[test]
fn refund_goes_into_the_lease_while_there_is_room() {
    let set = set();
    let key = key(&set, 7, 4);
    let fetched = fetch(key.take(1, T, LONGEST));
    key.put(&fetched, 3, T, false, T, T);
    assert!(key.give_back(1, T + 1));
    assert!(!key.give_back(1, T + 1), "four at most");
    assert!(!key.give_back(1, T + LIFETIME), "the server keeps them then");
}

#[test]
fn word_holds_each_field() {
    let lease = Lease {
        tag: (1 << 34) - 2,
        valid_until: (1 << 50) - 3,
        trip: (1 << 18) - 5,
        is_fetching: true,
        batch: 11,
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
                        Step::Ask => {}
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
                        lease_key.put(&fetch, got - cost, now, got % 7 == 0, sent, now);
                    }
                }
                Action::Kill(process) => waiting[process] = None,
                Action::Wait(ms) => now += ms * 1_000_000,
                Action::GiveBack(tokens) if handed_out >= u64::from(tokens) => {
                    if lease_key.give_back(tokens, now) {
                        handed_out -= u64::from(tokens);
                    }
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
