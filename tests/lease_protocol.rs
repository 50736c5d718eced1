//! The protocol of leases under a model checker (loom): the interleavings of three processes of a host, up to a bound.
//!
//! The words are those of a set as it is in shared memory, and the processes run `LeaseKey`'s own functions. Between two accesses to a
//! word loom may preempt a process, so often at most as the test's preemption bound says. After each interleaving
//!
//! ```text
//! handed out + held + returned + lost = fetched from the server
//! ```
//!
//! and nothing is lost where no process is late and no lease ends. What time does is in the property test of
//! `src/guard/leases/tests.rs`.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod modelled;

use loom::sync::Arc;
use loom::thread;
use modelled::Modelled;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use token_bucket::guard::leases::{Fetch, LeaseKey, Level, Step};
use token_bucket::mapped::set::Set;
use token_bucket::mapped::word::Word;

const SECOND: u64 = 1_000_000_000;
const NOW: u64 = 1_000 * SECOND;
/// The longest call, and a time at which a process that asked at `NOW` is given up.
const LONGEST: u64 = SECOND / 10;
const LATE: u64 = NOW + 2 * LONGEST;
/// The most tokens of a batch.
const MAX: u32 = 8;
/// Two buckets.
const K: u64 = 7;
const L: u64 = 9;

/// The words of a lease.
const WORDS: usize = 4;

/// A bucket that is full at a time.
const fn level(expires_at: u64) -> Level {
    Level { expires_at, window: 0, hits: 0, name: 5, counted: 0 }
}

/// A window that ends so many seconds from now.
const fn window(end: u64) -> Level {
    Level { expires_at: NOW + end * SECOND, window: end, hits: 0, name: end as u32, counted: 0 }
}

/// A host, and where the tokens went that its processes fetched.
struct Host {
    set: Set<Modelled>,
    fetched: AtomicU32,
    handed_out: AtomicU32,
    returned: AtomicU32,
    /// Hits of the later of two windows that the server gave to the lease, and hits that the lease handed out as such.
    given_later: AtomicU32,
    named_later: AtomicU32,
    /// The call of a process whose answer is still to come.
    unanswered: Mutex<Option<Fetch>>,
}

impl Host {
    fn new() -> Self {
        let [fetched, handed_out, returned, given_later, named_later] = [0; 5].map(AtomicU32::new);
        let (set, unanswered) = (Set(std::array::from_fn(|_| Modelled::new(0))), Mutex::new(None));
        Self { set, fetched, handed_out, returned, given_later, named_later, unanswered }
    }

    fn key(&self, tag: u64) -> LeaseKey<'_, Modelled> {
        LeaseKey { set: &self.set, tag, limit: 3, max: MAX }
    }

    /// A call for `cost` tokens. If it fetches, the server gives `spare` more. Returns whether it took them from the lease.
    fn call(&self, tag: u64, cost: u32, spare: u32, now: u64) -> bool {
        self.call_at_level(tag, (cost, spare), level(now), now)
    }

    /// The same, where the server has a bucket or window at this level.
    fn call_at_level(&self, tag: u64, (cost, spare): (u32, u32), level: Level, now: u64) -> bool {
        let step = self.key(tag).take(cost, now, LONGEST);
        let is_taken = matches!(step, Step::Taken(_));
        if let Step::Taken(taken) = &step {
            self.handed_out.fetch_add(cost, SeqCst);
            if taken.level.window == window(2).window {
                self.named_later.fetch_add(cost, SeqCst);
            }
        }
        if let Step::Fetch(fetch) = step {
            self.returned.fetch_add(fetch.left_over, SeqCst);
            self.fetched.fetch_add(cost + spare, SeqCst);
            self.handed_out.fetch_add(cost, SeqCst);
            if level.window == window(2).window {
                self.given_later.fetch_add(spare, SeqCst);
            }
            self.key(tag).put(&fetch, spare, level, false, now, now);
        }
        is_taken
    }

    /// A call that asks for a token, and whose answer comes later.
    fn ask(&self, tag: u64) {
        if let Step::Fetch(fetch) = self.key(tag).take(1, NOW, LONGEST) {
            self.returned.fetch_add(fetch.left_over, SeqCst);
            *self.unanswered.lock().unwrap() = Some(fetch);
        }
    }

    /// The answer to that call: one token for it, and `spare` more.
    fn answer(&self, tag: u64, spare: u32, now: u64) {
        let fetch = self.unanswered.lock().unwrap().take().unwrap();
        self.fetched.fetch_add(1 + spare, SeqCst);
        self.handed_out.fetch_add(1, SeqCst);
        self.key(tag).put(&fetch, spare, level(now), false, NOW, now);
    }

    /// Gives back what was handed out: to the lease as far as there is room, the rest to the server. The bucket lacks `missing`
    /// tokens.
    fn give_back(&self, tokens: u32, missing: u64) {
        self.handed_out.fetch_sub(tokens, SeqCst);
        let put = self.key(K).give_back(tokens.into(), None, NOW, |_| missing);
        let rest = tokens - put.map_or(0, |(_, put)| put as u32);
        if rest > 0 {
            self.returned.fetch_add(rest, SeqCst);
            self.key(K).note_refund(&level(NOW));
        }
    }

    /// How many tokens the words hold.
    fn held(&self) -> u32 {
        self.set.0.iter().step_by(WORDS).map(|word| word.load() as u32 & 0xfff).sum()
    }

    fn lost(&self) -> u32 {
        let gone = self.handed_out.load(SeqCst) + self.held() + self.returned.load(SeqCst);
        self.fetched.load(SeqCst).checked_sub(gone).unwrap()
    }
}

/// Runs the processes on a host that `prepare` made, in each interleaving with at most so many preemptions, and `check` after each.
fn explore(prepare: fn(&Host), processes: [fn(&Host); 3], preemptions: usize, check: fn(&Host)) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(move || {
        let host = Arc::new(Host::new());
        prepare(&host);
        let running = processes.map(|process| {
            let host = Arc::clone(&host);
            thread::spawn(move || process(&host))
        });
        running.into_iter().for_each(|process| process.join().unwrap());
        host.lost();
        check(&host);
    });
}

const LOSES_NOTHING: fn(&Host) = |host| assert_eq!(host.lost(), 0);

/// Bucket K has two tokens to hand out, of a batch of two.
fn two_tokens(host: &Host) {
    host.call(K, 1, 0, NOW);
    host.call(K, 1, 2, NOW);
}

#[test]
fn last_tokens_are_handed_out_once() {
    let take: fn(&Host) = |host| _ = host.call(K, 1, 2, NOW);
    explore(two_tokens, [take, take, take], 3, LOSES_NOTHING);
}

#[test]
fn refund_and_call_for_more_than_there_is_lose_nothing() {
    let refund: fn(&Host) = |host| {
        if host.call(K, 1, 0, NOW) {
            host.give_back(1, 99);
        }
    };
    explore(two_tokens, [refund, |host| _ = host.call(K, 3, 1, NOW), refund], 2, LOSES_NOTHING);
}

#[test]
fn refund_leaves_the_lease_no_more_than_the_bucket_lacks() {
    let refund: fn(&Host) = |host| host.give_back(1, 1);
    let take: fn(&Host) = |host| _ = host.call(K, 1, 0, NOW);
    explore(two_tokens, [refund, take, refund], 2, |host| {
        assert!(host.held() <= 1);
    });
}

/// The server counts two tokens as held, of which one was handed out.
#[test]
fn refunds_and_calls_leave_the_lease_no_more_than_the_server_counts() {
    let prepare: fn(&Host) = |host| {
        two_tokens(host);
        host.call(K, 1, 0, NOW);
    };
    let refund: fn(&Host) = |host| host.give_back(1, 99);
    let take: fn(&Host) = |host| _ = host.call(K, 1, 0, NOW);
    explore(prepare, [refund, take, refund], 2, |host| {
        let counted = host.key(K).available(NOW).map_or(0, |held| held.level.counted);
        assert!(host.held() <= counted);
    });
}

/// A process fetches more while another one gives back.
#[test]
fn what_was_handed_out_is_told_once() {
    let prepare: fn(&Host) = |host| {
        two_tokens(host);
        host.call(K, 2, 0, NOW);
    };
    let fetch: fn(&Host) = |host| _ = host.call(K, 1, 3, NOW);
    explore(
        prepare,
        [|host| host.give_back(1, 99), fetch, |host| host.give_back(1, 99)],
        3,
        |host| {
            let held = host.key(K).available(NOW);
            assert!(held.is_none_or(|held| held.rest <= held.level.counted));
        },
    );
}

#[test]
fn late_answer_adds_nothing_to_the_batch_of_another_process() {
    let take: fn(&Host) = |host| _ = host.call(K, 1, 4, LATE);
    explore(
        |host| host.ask(K),
        [|host| host.answer(K, 5, LATE), take, take],
        3,
        |host| {
            assert!(host.held() <= MAX);
        },
    );
}

#[test]
fn reset_ends_a_lease_and_the_batch_on_its_way_to_it() {
    let prepare: fn(&Host) = |host| {
        two_tokens(host);
        host.call(K, 2, 0, NOW);
        host.ask(K);
    };
    let reset: fn(&Host) = |host| {
        host.key(K).end(NOW);
        host.call(K, 1, 1, NOW);
    };
    let take: fn(&Host) = |host| _ = host.call(K, 1, 1, NOW);
    explore(prepare, [|host| host.answer(K, 5, NOW), reset, take], 3, |host| {
        assert!(host.held() <= 2, "only what was asked for after the reset");
    });
}

#[test]
fn hits_of_a_window_are_never_named_as_those_of_a_later_one() {
    let prepare: fn(&Host) = |host| {
        host.call_at_level(K, (1, 0), window(1), NOW);
        host.call_at_level(K, (1, 2), window(1), NOW);
    };
    let refund: fn(&Host) = |host| host.key(K).note_refund(&window(2));
    let take: fn(&Host) = |host| _ = host.call_at_level(K, (1, 1), window(2), NOW);
    let fetch: fn(&Host) = |host| _ = host.call_at_level(K, (3, 1), window(2), NOW);
    explore(prepare, [refund, fetch, take], 3, |host| {
        let held = host.key(K).available(NOW).filter(|it| it.level.window == window(2).window);
        let named = host.named_later.load(SeqCst) + held.map_or(0, |it| it.rest);
        assert!(named <= host.given_later.load(SeqCst));
    });
}

#[test]
fn two_buckets_that_want_the_last_word_hand_out_their_own_tokens() {
    // One word is in use, and the lease in the other has ended.
    let prepare: fn(&Host) = |host| {
        host.call(L, 1, 2, NOW - 2 * SECOND);
        host.call(20, 1, 1, NOW);
    };
    let take_k: fn(&Host) = |host| _ = host.call(K, 1, 1, NOW);
    explore(prepare, [take_k, |host| _ = host.call(L, 1, 1, NOW), take_k], 2, |host| {
        let own = host.key(K).available(NOW).map_or(0, |held| held.rest);
        assert!(own <= 1, "the tokens of the other bucket are not its own");
    });
}
