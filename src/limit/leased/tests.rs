//! Hosts that hold tokens of one key, while others give back, reset and block.

use super::*;
use crate::{CalendarWindow, FixedWindow, TokenBucket};
use proptest::prelude::*;

const T: u64 = 1_000 * SECOND;
const YEAR: f64 = 31_536_000.0;

fn limits() -> [Limit; 3] {
    let ends = [0, 1, 2].map(|year| T / 2 + year * 31_536_000 * SECOND);
    [
        TokenBucket::per_period(400, 3.0 * YEAR).unwrap().into(),
        FixedWindow::new(400, YEAR).unwrap().into(),
        CalendarWindow::new(400, ends).unwrap().into(),
    ]
}

/// What a host knows, as `guard/leases.rs` does.
#[derive(Clone, Copy, Default)]
struct Host {
    known: u32,
    counted: u64,
    tokens: u64,
}

/// What happens, by one of three hosts.
#[derive(Clone, Debug)]
enum Event {
    /// It asks for so many tokens.
    Fetch(usize, u64),
    /// It hands out so many of those that it holds.
    HandOut(usize, u64),
    /// It gives so many back: to its lease as far as that goes, the rest to the server.
    Refund(usize, u64),
    /// A host without a lease does.
    PlainRefund(u64),
    /// It gives back what it holds.
    GiveBack(usize),
    /// It is killed.
    Kill(usize),
    /// A host that holds nothing takes so many.
    Take(u64),
    Reset,
    Block,
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        8 => (0usize..3, 1u64..60).prop_map(|(host, tokens)| Event::Fetch(host, tokens)),
        8 => (0usize..3, 1u64..60).prop_map(|(host, tokens)| Event::HandOut(host, tokens)),
        3 => (0usize..3, 1u64..600).prop_map(|(host, tokens)| Event::Refund(host, tokens)),
        2 => (1u64..600).prop_map(Event::PlainRefund),
        2 => (0usize..3).prop_map(Event::GiveBack),
        1 => (0usize..3).prop_map(Event::Kill),
        3 => (1u64..200).prop_map(Event::Take),
        1 => Just(Event::Reset),
        1 => Just(Event::Block),
    ]
}

proptest! {
    /// What the hosts hold of a state is charged there, whoever gives back how much.
    #[test]
    fn no_refund_gives_back_what_a_host_holds(events in prop::collection::vec(event(), 1..150)) {
        for limit in limits() {
            let (mut state, mut now, mut fresh) = (StoredState::FULL, T, 0);
            let mut hosts = [Host::default(); 3];
            for event in &events {
                now += 2;
                let mut call = |op| {
                    let (decision, after) = apply(&limit, &state, now, op);
                    state = after;
                    decision
                };
                match *event {
                    Event::Fetch(i, most) => {
                        let host = &mut hosts[i];
                        fresh += 1;
                        let spent = host.counted - host.tokens;
                        let lease = Op::Lease { most, least: 1, known: host.known, fresh, spent };
                        let decision = call(lease);
                        if decision.is_accepted() {
                            let name = decision.wait as u32;
                            let kept = if name == host.known { host.tokens } else { 0 };
                            let tokens = kept + decision.taken - 1;
                            *host = Host { known: name, counted: tokens, tokens };
                        }
                    }
                    Event::HandOut(i, tokens) => {
                        hosts[i].tokens = hosts[i].tokens.saturating_sub(tokens);
                    }
                    Event::Refund(i, tokens) => {
                        let put = tokens.min(hosts[i].counted - hosts[i].tokens);
                        hosts[i].tokens += put;
                        call(Op::Refund { cost: tokens - put, expiry: None });
                    }
                    Event::PlainRefund(cost) => _ = call(Op::Refund { cost, expiry: None }),
                    Event::GiveBack(i) => {
                        let Host { known, tokens: cost, counted } = hosts[i];
                        call(Op::GiveBack { cost, known });
                        hosts[i] = Host { known, tokens: 0, counted: counted - cost };
                    }
                    Event::Kill(i) => hosts[i] = Host::default(),
                    Event::Take(cost) => _ = call(Op::Take { cost }),
                    Event::Reset => _ = call(Op::Reset),
                    Event::Block => {
                        call(Op::Block { duration: SECOND });
                        now += SECOND;
                    }
                }
                let name = state.leased().map_or(0, |leased| leased.name);
                let of_state = hosts.iter().filter(|host| name > 0 && host.known == name);
                let held: u64 = of_state.map(|host| host.tokens).sum();
                let (peek, _) = apply(&limit, &state, now, Op::Peek { cost: 0 });
                let charged = limit.capacity() - limit.remaining(&peek);
                prop_assert!(charged >= held, "{event:?}: {charged} of {held} held, {state:?}");
            }
        }
    }
}

#[test]
fn nothing_goes_back_to_a_state_that_was_reset_or_blocked_or_has_expired() {
    for limit in limits() {
        for op in [Some(Op::Reset), Some(Op::Block { duration: SECOND }), None] {
            let lease = |fresh| Op::Lease { most: 50, least: 1, known: 0, fresh, spent: 0 };
            let (taken, held) = apply(&limit, &StoredState::FULL, T, lease(7));
            assert_eq!((taken.taken, taken.wait), (50, 7));
            let (ended, now) = match op {
                Some(op) => (apply(&limit, &held, T, op).1, T + SECOND),
                None => (held.clone(), held.expires_at() + SECOND),
            };
            let (again, other) = apply(&limit, &ended, now, lease(8));
            assert_eq!((again.taken, again.wait), (50, 8), "{op:?}");
            for state in [&ended, &other] {
                let (back, after) = apply(&limit, state, now, Op::GiveBack { cost: 49, known: 7 });
                assert!(!back.is_accepted(), "{op:?}");
                assert_eq!(&after, state);
            }
            let (back, after) = apply(&limit, &other, now, Op::GiveBack { cost: 49, known: 8 });
            assert!(back.is_accepted() && limit.remaining(&back) == 399);
            assert_eq!(after.leased().map(|leased| leased.held), Some(0));
        }
    }
}

#[test]
fn refund_gives_back_what_calls_have_used() {
    for limit in limits() {
        let lease = Op::Lease { most: 50, least: 10, known: 0, fresh: 7, spent: 0 };
        let (_, state) = apply(&limit, &StoredState::FULL, T, lease);
        let (back, state) = apply(&limit, &state, T, Op::Refund { cost: 1_000, expiry: None });
        assert_eq!((back.is_accepted(), limit.remaining(&back)), (true, 360));
        // Thirty of the forty that the host holds were handed out.
        let lease = Op::Lease { most: 1, least: 1, known: 7, fresh: 8, spent: 30 };
        let (_, state) = apply(&limit, &state, T, lease);
        let (back, _) = apply(&limit, &state, T, Op::Refund { cost: 1_000, expiry: None });
        assert_eq!(limit.remaining(&back), 390);
    }
}
