//! The protocol of batches under a model checker (loom): the interleavings of three processes of a host, up to a bound.
//!
//! The words are those of a record as it is in shared memory, but with room for one result, and the processes run `Caller`'s and `Batches`' own functions. The
//! server numbers the tokens that it gives, so that each grant is known. After each interleaving
//!
//! * no token was granted twice, and none that the server did not give,
//! * each grant was given by the server within the call that got it,
//! * and where no process is killed or given up, each call got its grant, none sleeps on, and no token is lost.
//!
//! A process that is given up may have been paused or killed: others are at a later time, at which it is waited for no longer.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod modelled;

use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;
use modelled::Modelled;
use std::sync::Mutex as Plain;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use token_bucket::limit::{State, StoredState};
use token_bucket::mapped::word::Word;
use token_bucket::store::swap::basis::{Basis, BasisState};
use token_bucket::store::swap::batch::{Caller, Sleep, Step, extend, release};
use token_bucket::store::swap::key_record::{Batch, Batches, Bell, KeyRecord, Share};
use token_bucket::store::swap::results::{give_up, publish, reserve};

const SECOND: u64 = 1_000_000_000;
const NOW: u64 = 1_000 * SECOND;
/// How long a process that asks is waited for, and a time at which one that asked at `NOW` is given up.
const LEASE: u64 = SECOND / 100;
const LATE: u64 = NOW + 2 * LEASE;
/// Two kinds of calls.
const K: u64 = 7;
const L: u64 = 9;
/// How often a process looks that does not sleep until it is woken.
const LOOKS: u32 = 4;

/// The processes that sleep at the control word.
#[derive(Default)]
struct Sleepers {
    gate: Mutex<()>,
    /// Those that wait to join, and the members of three batches in a row.
    groups: [Condvar; 4],
}

impl Sleepers {
    fn group(&self, groups: u32) -> &Condvar {
        let bit = groups.trailing_zeros();
        &self.groups[if bit == 31 { 3 } else { bit as usize % 3 }]
    }
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
    fn ring(&self, groups: u32, count: u32) {
        let _gate = self.1.gate.lock().unwrap();
        for bit in (0..32).filter(|bit| groups >> bit & 1 != 0) {
            match count {
                1 => self.1.group(1 << bit).notify_one(),
                _ => self.1.group(1 << bit).notify_all(),
            }
        }
    }
}

/// A host and a server.
struct Host {
    record: KeyRecord<Bellword, 1>,
    sleepers: Arc<Sleepers>,
    /// How many tokens the server has given.
    server: Mutex<u32>,
    /// The clock of the test: it counts calls that begin and end, and swaps.
    ticks: AtomicU32,
    /// When each token was given.
    given: Plain<Vec<u32>>,
    /// The tokens that calls got.
    grants: Plain<Vec<u32>>,
    /// A batch that a process asks for, whose swap is still to come.
    unanswered: Plain<Option<Batch>>,
}

/// Where a process is killed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Killed {
    Never,
    /// When it sleeps for the first time.
    AsMember,
    BeforeSwap,
    BeforePublishing,
    BeforeRelease,
}

impl Host {
    fn new() -> Self {
        let sleepers = Arc::new(Sleepers::default());
        Self {
            record: KeyRecord::new(|| Bellword(Modelled::new(0), Arc::clone(&sleepers))),
            sleepers,
            server: Mutex::new(0),
            ticks: AtomicU32::new(0),
            given: Plain::default(),
            grants: Plain::default(),
            unanswered: Plain::default(),
        }
    }

    fn batches(&self) -> Batches<'_, Bellword, 1> {
        Batches { record: &self.record, secret: [2, 3] }
    }

    fn tick(&self) -> u32 {
        self.ticks.fetch_add(1, SeqCst)
    }

    /// Sleeps as the kernel has a process sleep: until the word has changed, or it is woken.
    fn sleep(&self, sleep: &Sleep) {
        let gate = self.sleepers.gate.lock().unwrap();
        if self.record.control.load() as u32 == sleep.seen {
            drop(self.sleepers.group(sleep.groups).wait(gate).unwrap());
        }
    }

    /// A call for a token. Without `sleeps` it looks again and again, and then gives up.
    fn call(&self, kind: u64, now: u64, sleeps: bool, killed: Killed) {
        let (begin, batches) = (self.tick(), self.batches());
        let mut caller = Caller::new(batches, kind);
        for _ in 0..if sleeps { u32::MAX } else { LOOKS } {
            match caller.step(now, now + LEASE, true) {
                Step::Ask(batch) => return self.ask(&batch, kind, now, begin, killed),
                Step::Decided(basis, index) => return self.grant(&basis, index, begin),
                Step::Sleep(_) if killed == Killed::AsMember => return,
                Step::Sleep(sleep) if sleeps => self.sleep(&sleep),
                Step::Sleep(_) => thread::yield_now(),
                Step::TooLate => panic!("it has time"),
            }
        }
        caller.leave(now);
    }

    /// Asks the server for a batch.
    fn ask(&self, batch: &Batch, kind: u64, now: u64, begin: u32, killed: Killed) {
        if killed == Killed::BeforeSwap {
            return;
        }
        let batches = self.batches();
        let room = if batch.share.count > 1 { reserve(batches, batch, now) } else { None };
        let share = extend(batches, batch, now + LEASE);
        let share = if room.is_some() { share } else { Share::ALONE };
        let before = {
            let mut server = self.server.lock().unwrap();
            let before = *server;
            *server += share.count;
            let tick = self.tick();
            self.given.lock().unwrap().extend((0..share.count).map(|_| tick));
            before
        };
        if killed == Killed::BeforePublishing {
            return;
        }
        let state = StoredState::Word(State::Window { ends_at: NOW, hits: before });
        let basis = Basis { state: BasisState::Whole(state), now };
        match room {
            Some(room) if share.count > 1 => publish(batches, &room, kind, &basis),
            Some(room) => give_up(&room),
            None => {}
        }
        if killed != Killed::BeforeRelease {
            release(batches, batch);
        }
        self.grant(&basis, share.index, begin);
    }

    fn grant(&self, basis: &Basis, index: u32, begin: u32) {
        let State::Window { hits: before, .. } = basis.state.state().word() else { panic!() };
        let (token, end) = (before + index, self.tick());
        let given = self.given.lock().unwrap()[token as usize];
        assert!(begin < given && given < end, "the server gave it within the call");
        let mut grants = self.grants.lock().unwrap();
        assert!(!grants.contains(&token), "token {token} is granted twice");
        grants.push(token);
    }

    fn count(&self) -> (u32, u32) {
        (self.grants.lock().unwrap().len() as u32, *self.server.lock().unwrap())
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
        check(&host);
    });
}

const CALL_K: fn(&Host) = |host| host.call(K, NOW, true, Killed::Never);
const CALL_L: fn(&Host) = |host| host.call(L, NOW, true, Killed::Never);
const LATE_K: fn(&Host) = |host| host.call(K, LATE, false, Killed::Never);
const LATE_L: fn(&Host) = |host| host.call(L, LATE, false, Killed::Never);
const ALL_ARE_SERVED: fn(&Host) = |host| assert_eq!(host.count(), (3, 3));
const NO_CHECK: fn(&Host) = |_| {};

#[test]
fn equal_calls_get_a_token_each() {
    explore(NO_CHECK, [CALL_K, CALL_K, CALL_K], 2, ALL_ARE_SERVED);
}

#[test]
fn calls_of_two_kinds_get_a_token_each() {
    explore(NO_CHECK, [CALL_K, CALL_L, CALL_K], 2, ALL_ARE_SERVED);
}

#[test]
fn process_killed_before_its_swap_delays_the_others_alone() {
    let killed: fn(&Host) = |host| host.call(K, NOW, false, Killed::BeforeSwap);
    explore(NO_CHECK, [killed, LATE_K, LATE_L], 2, |host| {
        let (granted, given) = host.count();
        assert!(granted <= given);
    });
}

#[test]
fn tokens_of_a_process_killed_after_its_swap_are_granted_once_or_lost() {
    let killed: fn(&Host) = |host| host.call(K, NOW, false, Killed::BeforePublishing);
    explore(NO_CHECK, [killed, LATE_K, LATE_K], 2, NO_CHECK);
    let killed: fn(&Host) = |host| host.call(K, NOW, false, Killed::BeforeRelease);
    explore(NO_CHECK, [killed, LATE_K, LATE_K], 2, NO_CHECK);
}

#[test]
fn members_that_are_killed_get_nothing_and_hold_up_none() {
    let killed: fn(&Host) = |host| host.call(K, NOW, false, Killed::AsMember);
    explore(NO_CHECK, [killed, CALL_K, CALL_K], 2, |host| assert!(host.count().0 >= 2));
}

/// A process has closed a batch, and is paused. Another call is a member of the next one, and was killed.
fn paused(host: &Host) {
    let mut caller = Caller::new(host.batches(), K);
    let Step::Ask(batch) = caller.step(NOW, NOW + LEASE, true) else { panic!("it asks") };
    *host.unanswered.lock().unwrap() = Some(batch);
    host.call(K, NOW, false, Killed::AsMember);
}

#[test]
fn paused_process_that_was_given_up_grants_no_token_of_others() {
    let resumes: fn(&Host) = |host| {
        let batch = host.unanswered.lock().unwrap().take().unwrap();
        let begin = host.tick();
        host.ask(&batch, K, NOW, begin, Killed::Never);
    };
    explore(paused, [resumes, LATE_K, LATE_K], 2, NO_CHECK);
    explore(paused, [resumes, LATE_K, LATE_L], 2, NO_CHECK);
}

#[test]
fn batch_of_killed_members_is_passed_by_calls_of_another_kind() {
    let prepare: fn(&Host) = |host| {
        paused(host);
        let batch = host.unanswered.lock().unwrap().take().unwrap();
        release(host.batches(), &batch);
    };
    // They look at two times that are far enough apart.
    let other: fn(&Host) = |host| {
        let (begin, batches) = (host.tick(), host.batches());
        let mut caller = Caller::new(batches, L);
        for look in 0..LOOKS {
            match caller.step(LATE + u64::from(look) * SECOND / 100, LATE + SECOND, true) {
                Step::Ask(batch) => return host.ask(&batch, L, LATE, begin, Killed::Never),
                Step::Decided(basis, index) => return host.grant(&basis, index, begin),
                _ => thread::yield_now(),
            }
        }
        caller.leave(LATE);
    };
    explore(prepare, [other, other, LATE_K], 2, |host| assert!(host.count().0 >= 1));
}
