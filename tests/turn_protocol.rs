//! The protocol of turns under a model checker (loom): the interleavings of three processes of a host, up to a bound.
//!
//! The word is that of a record as it is in shared memory, and the processes run `turn`'s own functions. After each interleaving
//!
//! * each call that was not killed and waits had its turn, so none sleeps on,
//! * and no two had the turn at once, unless one was given up.
//!
//! A process that is given up may have been paused or killed: others are at a later time, at which it is waited for no longer.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

mod modelled;

use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use modelled::Modelled;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use token_bucket::mapped::word::Word;
use token_bucket::store::swap::hot_key::{Bell, HotKey, KeyRecord};
use token_bucket::store::swap::turn::{Next, Sleep, Turn, take};

const SECOND: u64 = 1_000_000_000;
const NOW: u64 = 1_000 * SECOND;
/// How long a process is waited for, and a time at which one that asked at `NOW` is given up.
const TIME: u64 = SECOND / 100;
const LATE: u64 = NOW + 2 * TIME;
/// Two keys that have one record.
const K: u64 = 7;
const L: u64 = 9;

/// How many sleep in each group, and how they are woken.
#[derive(Default)]
struct Sleepers {
    asleep: Mutex<[u32; 2]>,
    groups: [Condvar; 2],
}

/// A word at which processes sleep.
struct Bellword(Modelled, Arc<Sleepers>);

impl Word for Bellword {
    fn load(&self) -> u128 {
        self.0.load()
    }

    fn replace(&self, old: u128, new: u128) -> bool {
        self.0.replace(old, new)
    }

    fn store(&self, word: u128) {
        self.0.store(word);
    }
}

impl Bell for Bellword {
    fn ring(&self, groups: u32, count: u32) -> u32 {
        let mut asleep = self.1.asleep.lock().unwrap();
        let mut woken = 0;
        for (bit, (asleep, condvar)) in asleep.iter_mut().zip(&self.1.groups).enumerate() {
            while groups >> bit & 1 != 0 && *asleep > 0 && woken < count {
                *asleep -= 1;
                woken += 1;
                condvar.notify_one();
            }
        }
        woken
    }
}

/// A host.
struct Host {
    record: KeyRecord<Bellword>,
    sleepers: Arc<Sleepers>,
    /// How many have the turn.
    asking: AtomicU32,
    /// How many had it.
    served: AtomicU32,
}

impl Host {
    fn new() -> Self {
        let sleepers = Arc::new(Sleepers::default());
        Self {
            record: KeyRecord::new(|| Bellword(Modelled::new(0), Arc::clone(&sleepers))),
            sleepers,
            asking: AtomicU32::new(0),
            served: AtomicU32::new(0),
        }
    }

    fn hot_key(&self, key: u64) -> HotKey<'_, Bellword> {
        HotKey { record: &self.record, key, secret: [2, 3] }
    }

    /// Sleeps as the kernel has a process sleep: until the word has changed, or it is woken.
    fn sleep(&self, sleep: &Sleep) {
        let mut asleep = self.sleepers.asleep.lock().unwrap();
        // Condvars may wake for nothing, and futexes, too.
        if self.record.turn.load() as u32 == sleep.seen {
            let group = sleep.groups as usize / 2;
            asleep[group] += 1;
            drop(self.sleepers.groups[group].wait(asleep).unwrap());
        }
    }

    /// A call that waits for its turn.
    fn call(&self, key: u64, now: u64) {
        let mut has_slept = false;
        loop {
            match take(self.hot_key(key), has_slept, now, TIME) {
                Next::Ask(turn) => break self.ask(turn, now),
                Next::Sleep(sleep) => self.sleep(&sleep),
                Next::AskAlone => break,
            }
            has_slept = true;
        }
        self.served.fetch_add(1, SeqCst);
    }

    /// A call that waits once, and then has no time for the turn that it may be handed.
    fn impatient_call(&self) {
        if let Next::Sleep(sleep) = take(self.hot_key(K), false, NOW, TIME) {
            self.sleep(&sleep);
            drop(take(self.hot_key(K), true, NOW, TIME));
        }
    }

    fn ask(&self, turn: Turn<'_, Bellword>, now: u64) {
        turn.extend(now);
        let others = self.asking.fetch_add(1, SeqCst);
        assert_eq!(others, 0, "another one has the turn");
        thread::yield_now();
        self.asking.fetch_sub(1, SeqCst);
    }

    /// A process that is killed when it has the turn.
    fn is_killed(&self, now: u64) {
        if let Next::Ask(turn) = take(self.hot_key(K), false, now, TIME) {
            std::mem::forget(turn);
        }
    }
}

/// Runs the processes on a host, in each interleaving, and checks how many were served.
fn explore(prepare: fn(&Host), processes: [fn(&Host); 3], served: u32) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let host = Arc::new(Host::new());
        prepare(&host);
        let running = processes.map(|process| {
            let host = Arc::clone(&host);
            thread::spawn(move || process(&host))
        });
        running.into_iter().for_each(|process| process.join().unwrap());
        assert_eq!(host.served.load(SeqCst), served);
    });
}

const CALL: fn(&Host) = |host| host.call(K, NOW);
const LATE_CALL: fn(&Host) = |host| host.call(K, LATE);
const NOTHING: fn(&Host) = |_| {};

#[test]
fn each_call_has_its_turn_and_none_sleeps_on() {
    explore(NOTHING, [CALL, CALL, CALL], 3);
}

#[test]
fn call_that_gives_up_passes_its_turn_on() {
    explore(NOTHING, [CALL, CALL, |host| host.impatient_call()], 2);
}

#[test]
fn turn_of_a_killed_process_is_taken_when_its_time_is_over() {
    explore(|host| host.is_killed(NOW), [LATE_CALL, LATE_CALL, NOTHING], 2);
    explore(NOTHING, [|host| host.is_killed(NOW), LATE_CALL, LATE_CALL], 2);
}

#[test]
fn calls_on_another_key_wait_for_none() {
    let other: fn(&Host) = |host| host.call(L, NOW);
    explore(NOTHING, [CALL, other, CALL], 3);
    explore(|host| host.is_killed(NOW), [other, other, other], 3);
}
