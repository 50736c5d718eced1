//! Sliding windows in shared memory under real threads and processes, judged by a log of all calls.
//!
//! A call decides at some moment between its start and its end. So of any `limit` + 1 hits that were accepted and not given
//! back, the last call ends at least an interval after the first one began.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod support;

use std::cell::Cell;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;
use std::thread;
use std::time::Duration;
use support::Folder;
use token_bucket::clock::boot_time;
use token_bucket::limit::{Decision, Limit, Op, SECOND, SlidingWindow};
use token_bucket::mapped::{Location, MIN_SIZE, Purpose};
use token_bucket::net::Timeouts;
use token_bucket::store::shm::SharedMemory;
use token_bucket::store::{Key, KeyHash, LimitKind, Request, Store};

const PROCESSES: usize = 8;
const MILLISECOND: u64 = SECOND / 1_000;
/// An hour: no hit leaves while a test runs.
const HOUR: f64 = 3_600.0;

/// A window in the table of a folder, as one process or thread has it.
struct Window {
    store: SharedMemory,
    name: String,
    limit: Limit,
    key_hash: Cell<KeyHash>,
}

impl Window {
    fn new(base: &Path, name: &str, limit: SlidingWindow) -> Self {
        let location = Location {
            base: base.to_owned(),
            name: "default".into(),
            size: MIN_SIZE,
            purpose: Purpose::Buckets,
        };
        let (store, key_hash) = (SharedMemory::new(location), Cell::default());
        Self { store, name: name.to_owned(), limit: limit.into(), key_hash }
    }

    fn request<R>(&self, op: Op, call: impl FnOnce(&Request<'_>) -> R) -> R {
        let parts = [self.name.as_bytes(), b"", b"", b""];
        call(&Request {
            key: &Key { parts, kind: LimitKind::SlidingWindow, key_hash: &self.key_hash },
            limit: &self.limit,
            op: &op,
            now: boot_time(),
            timeouts: &Timeouts::default(),
        })
    }

    fn decide(&self, op: Op) -> Decision {
        self.request(op, |request| self.store.decide(request)).unwrap().decision
    }

    fn accepts(&self, op: Op) -> bool {
        self.request(op, |request| self.store.accepts(request)).unwrap().decision
    }

    /// Gives the hits of a decision back. A window that other processes are changing may be too busy.
    fn refund(&self, decision: &Decision) -> Decision {
        loop {
            if let Ok(refund) =
                self.request(decision.settle(0), |request| self.store.decide(request))
            {
                return refund.decision;
            }
        }
    }

    fn taken(&self) -> u64 {
        let peek = self.decide(Op::Peek { cost: 0 });
        self.limit.capacity() - self.limit.remaining(&peek)
    }
}

/// A call: when it began and ended, and how many hits it took for good.
#[derive(Clone, Copy, Debug)]
struct Call {
    begun: u64,
    ended: u64,
    hits: u64,
}

/// Makes a call and notes when it began and ended.
fn timed<R>(call: impl FnOnce() -> R) -> (R, Call) {
    let begun = boot_time();
    let answer = call();
    (answer, Call { begun, ended: boot_time(), hits: 0 })
}

/// Asserts that no stretch of an interval has more hits than the limit. A stretch in which `fresh` calls forgot the hits is
/// left out.
fn assert_within_limit(mut log: Vec<Call>, fresh: &[Call], limit: &SlidingWindow) {
    log.retain(|call| call.hits > 0);
    log.sort_by_key(|call| call.begun);
    let is_reset_within =
        |from, to| fresh.iter().any(|call| call.begun <= to && from <= call.ended);
    for (i, first) in log.iter().enumerate() {
        let end = first.begun + limit.interval();
        let mut within: Vec<&Call> = log[i..]
            .iter()
            .take_while(|call| call.begun < end)
            .filter(|call| call.ended < end)
            .collect();
        within.sort_by_key(|call| call.ended);
        let mut hits = 0;
        for call in within {
            if is_reset_within(first.begun, call.ended) {
                break;
            }
            hits += call.hits;
            assert!(hits <= limit.max_hits().into(), "{hits} hits from {first:?} to {call:?}");
        }
    }
}

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % n
    }
}

/// One worker of a window under calls of all sorts, for a time.
fn work(window: &Window, seed: u64, duration: u64) -> Vec<Call> {
    let (mut random, mut log) = (Random(seed), Vec::new());
    let end = boot_time() + duration;
    while boot_time() < end {
        let cost = [1, 1, 1, 2, 2, 3][random.below(6) as usize];
        let op = match random.below(4) {
            0 => Op::TakeUpTo { most: cost, least: 1, leave: 0 },
            _ => Op::Take { cost },
        };
        if random.below(4) == 0 {
            // As consume() asks.
            let (is_accepted, mut call) = timed(|| window.accepts(Op::Take { cost }));
            call.hits = if is_accepted { cost } else { 0 };
            log.push(call);
            continue;
        }
        let (decision, mut call) = timed(|| window.decide(op));
        call.hits = decision.taken;
        if decision.taken > 0 && random.below(3) == 0 {
            // Hits that have left by themselves stay in the log.
            let is_whole = window.refund(&decision);
            if is_whole.is_accepted() {
                call.hits = 0;
            }
        }
        log.push(call);
    }
    log
}

#[test]
fn threads_never_get_more_hits_than_the_limit_in_any_interval() {
    for (round, (limit, interval_ms)) in
        [(1, 5), (2, 3), (5, 20), (5, 1), (40, 25)].into_iter().enumerate()
    {
        let folder = Folder::new(&format!("threads-{round}"));
        let limit = SlidingWindow::new(limit, f64::from(interval_ms) / 1_000.0).unwrap();
        let window = || Window::new(&folder.0, "x", limit);
        let log: Vec<Call> = thread::scope(|scope| {
            let running: Vec<_> = (0..PROCESSES as u64)
                .map(|seed| {
                    let window = &window;
                    scope.spawn(move || work(&window(), seed * 977 + 1, SECOND / 2))
                })
                .collect();
            running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        let hits: u64 = log.iter().map(|call| call.hits).sum();
        assert!(hits > 20, "the window was used: {hits} hits");
        assert_within_limit(log, &[], &limit);
    }
}

#[test]
fn resets_and_blocks_let_no_call_in_that_the_window_denies() {
    for limit in [1, 4, 40] {
        reset_and_block(SlidingWindow::new(limit, 0.01).unwrap());
    }
}

/// Runs workers on a window that is reset and blocked again and again.
fn reset_and_block(limit: SlidingWindow) {
    let folder = Folder::new(&format!("resets-{}", limit.max_hits()));
    let window = || Window::new(&folder.0, "x", limit);
    const BLOCK: u64 = 2 * MILLISECOND;
    let (log, fresh, blocks) = thread::scope(|scope| {
        let running: Vec<_> = (1..PROCESSES as u64)
            .map(|seed| {
                let window = &window;
                scope.spawn(move || work(&window(), seed, SECOND))
            })
            .collect();
        let (window, mut fresh, mut blocks, mut random) =
            (window(), Vec::new(), Vec::new(), Random(5));
        let end = boot_time() + SECOND;
        while boot_time() < end {
            thread::sleep(Duration::from_millis(5 + random.below(30)));
            let op = if random.below(2) == 0 { Op::Reset } else { Op::Block { duration: BLOCK } };
            let (decision, mut call) = timed(|| window.decide(op));
            assert!(decision.is_accepted());
            if op != Op::Reset {
                blocks.push(Call { begun: call.ended, ended: call.begun + BLOCK, hits: 0 });
                // While it lasts, and until calls that began before it have ended, there are no hits.
                call.ended += BLOCK;
                thread::sleep(Duration::from_nanos(BLOCK));
            }
            fresh.push(call);
        }
        let log: Vec<Call> =
            running.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        (log, fresh, blocks)
    });
    assert!(blocks.len() > 2 && fresh.len() > blocks.len());
    for block in &blocks {
        let is_within = |call: &&Call| call.begun > block.begun && call.ended < block.ended;
        let accepted = log.iter().filter(|call| call.hits > 0).find(is_within);
        assert!(accepted.is_none(), "{accepted:?} during {block:?}");
    }
    assert_within_limit(log, &fresh, &limit);
}

#[test]
fn calls_of_one_hit_get_exactly_as_many_as_the_limit() {
    for round in 0..40 {
        let folder = Folder::new(&format!("one-{round}"));
        let limit = SlidingWindow::new([1, 3, 20, 100][round % 4], HOUR).unwrap();
        let barrier = Barrier::new(PROCESSES);
        let ask = |thread: usize| {
            let window = Window::new(&folder.0, "x", limit);
            let take = |i: usize| match (i + thread).is_multiple_of(2) {
                true => window.accepts(Op::Take { cost: 1 }),
                false => window.decide(Op::Take { cost: 1 }).is_accepted(),
            };
            window.taken();
            barrier.wait();
            let calls = (0..40).map(|i| timed(|| take(i)));
            calls.map(|(accepted, call)| Call { hits: accepted.into(), ..call }).collect::<Vec<_>>()
        };
        let calls: Vec<Call> = thread::scope(|scope| {
            let running: Vec<_> = (0..PROCESSES)
                .map(|thread| {
                    let ask = &ask;
                    scope.spawn(move || ask(thread))
                })
                .collect();
            running.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
        });
        let accepted: Vec<&Call> = calls.iter().filter(|call| call.hits > 0).collect();
        assert_eq!(accepted.len() as u64, u64::from(limit.max_hits()).min(40 * PROCESSES as u64));
        // A call that was denied ended after as many calls as the limit had begun.
        let last = accepted.iter().map(|call| call.begun).max().unwrap();
        let first_denial = calls.iter().filter(|call| call.hits == 0).map(|call| call.ended).min();
        assert!(first_denial.is_none_or(|ended| ended >= last), "denied while hits were left");
    }
}

#[test]
fn denied_calls_of_several_hits_take_none_in_the_end() {
    for round in 0..200 {
        let folder = Folder::new(&format!("several-{round}"));
        let limit = SlidingWindow::new([3, 7, 32][round % 3], HOUR).unwrap();
        let barrier = Barrier::new(PROCESSES);
        let ask = |seed: u64| {
            let (window, mut random) = (Window::new(&folder.0, "x", limit), Random(seed));
            let mut kept = 0;
            window.taken();
            barrier.wait();
            for _ in 0..400 {
                let decision = window.decide(Op::Take { cost: 1 + random.below(3) });
                let goes = decision.taken > 0 && random.below(2) == 0;
                if goes {
                    assert!(window.refund(&decision).is_accepted(), "no hit leaves within an hour");
                }
                kept += if goes { 0 } else { decision.taken };
            }
            kept
        };
        let kept: u64 = thread::scope(|scope| {
            let running: Vec<_> = (0..PROCESSES as u64)
                .map(|seed| {
                    let ask = &ask;
                    scope.spawn(move || ask(seed + 100 * round as u64))
                })
                .collect();
            running.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(Window::new(&folder.0, "x", limit).taken(), kept);
    }
}

/// Names the folder of a worker process; without it, the worker is no more than an empty test.
const WORKER: &str = "TOKEN_BUCKET_TEST_WORKER";

/// The environment of a worker process.
struct Worker {
    folder: PathBuf,
    number: usize,
    limit: SlidingWindow,
}

/// What a worker writes before and after each call. A write to a file survives the death of its process.
#[repr(u8)]
#[derive(Clone, Copy)]
enum Entry {
    Begin,
    Accepted,
    Denied,
    BeginRefund,
    Refunded,
}

/// A worker process, killed when it is dropped: also by a test that fails.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // SIGKILL, wherever it is.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Worker {
    fn spawn(folder: &Path, number: usize, limit: &SlidingWindow) -> Killed {
        let settings = [
            folder.to_str().unwrap().to_owned(),
            number.to_string(),
            limit.max_hits().to_string(),
            limit.interval().to_string(),
        ];
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "worker_process", "--nocapture", "--quiet"])
            .env(WORKER, settings.join(","))
            .stdout(Stdio::null())
            .spawn();
        Killed(child.unwrap())
    }

    fn from_environment() -> Option<Self> {
        let settings = std::env::var(WORKER).ok()?;
        let mut settings = settings.split(',');
        let mut next = || settings.next().unwrap();
        let (folder, number) = (PathBuf::from(next()), next().parse().unwrap());
        let (hits, interval): (i64, f64) = (next().parse().unwrap(), next().parse().unwrap());
        let limit = SlidingWindow::new(hits, interval / SECOND as f64).unwrap();
        Some(Self { folder, number, limit })
    }

    fn log_path(folder: &Path, number: usize) -> PathBuf {
        folder.join(format!("log-{number}"))
    }

    /// Calls until it is killed.
    fn run(&self) {
        let window = Window::new(&self.folder, "x", self.limit);
        let path = Self::log_path(&self.folder, self.number);
        let mut log = File::create(path).unwrap();
        let mut note = |entry: Entry, hits: u64| {
            let mut bytes = vec![entry as u8, hits as u8];
            bytes.extend(boot_time().to_le_bytes());
            log.write_all(&bytes).unwrap();
        };
        let mut random = Random(boot_time() ^ (self.number as u64) << 32);
        loop {
            let cost = 1 + random.below(3);
            note(Entry::Begin, cost);
            let decision = window.decide(Op::Take { cost });
            note(
                if decision.is_accepted() { Entry::Accepted } else { Entry::Denied },
                decision.taken,
            );
            // Gives back most of what it took, so that windows of an hour have hits left.
            if decision.is_accepted() && random.below(20) > 0 {
                note(Entry::BeginRefund, cost);
                // Hits that have left by themselves stay in the log.
                if window.refund(&decision).is_accepted() {
                    note(Entry::Refunded, cost);
                }
            }
        }
    }
}

/// Not a test by itself: the other tests start it in a process of its own.
#[test]
fn worker_process() {
    if let Some(worker) = Worker::from_environment() {
        worker.run();
    }
}

/// What the log of a worker says.
#[derive(Default)]
struct Journal {
    /// The accepted calls that gave nothing back.
    calls: Vec<Call>,
    /// The most and the fewest hits that the worker may have left: it may have been killed within a call.
    most: u64,
    fewest: u64,
}

impl Journal {
    fn read(folder: &Path, number: usize) -> Self {
        let mut bytes = Vec::new();
        let file = File::open(Worker::log_path(folder, number));
        file.map(|mut file| file.read_to_end(&mut bytes).unwrap()).unwrap_or_default();
        let mut journal = Self::default();
        let (mut begun, mut pending, mut refunded) = (0, 0, 0);
        for entry in bytes.as_chunks::<10>().0 {
            let (hits, at) =
                (u64::from(entry[1]), u64::from_le_bytes(entry[2..].try_into().unwrap()));
            match entry[0] {
                // A refund before that found no hits: they had left.
                e if e == Entry::Begin as u8 => (begun, pending, refunded) = (at, hits, 0),
                e if e == Entry::Accepted as u8 => {
                    journal.calls.push(Call { begun, ended: at, hits });
                    journal.most += hits;
                    journal.fewest += hits;
                    pending = 0;
                }
                e if e == Entry::Denied as u8 => pending = 0,
                e if e == Entry::BeginRefund as u8 => refunded = hits,
                _ => {
                    journal.calls.pop();
                    journal.most -= hits;
                    journal.fewest -= hits;
                    refunded = 0;
                }
            }
        }
        // The last call was killed: it may have taken hits, or given them back.
        journal.most += pending;
        journal.fewest -= refunded;
        if refunded > 0 {
            journal.calls.pop();
        }
        journal
    }
}

/// Runs workers for a time, in which `kills` of them are killed and replaced; then kills all.
fn run_workers(
    folder: &Path,
    limit: &SlidingWindow,
    kills: usize,
    pause: Duration,
) -> Vec<Journal> {
    let (mut random, mut spawned) = (Random(kills as u64), PROCESSES);
    let mut workers: Vec<Killed> =
        (0..PROCESSES).map(|number| Worker::spawn(folder, number, limit)).collect();
    for _ in 0..kills {
        thread::sleep(pause + Duration::from_micros(random.below(10_000)));
        let number = random.below(PROCESSES as u64) as usize;
        drop(workers.swap_remove(number));
        workers.push(Worker::spawn(folder, spawned, limit));
        spawned += 1;
    }
    thread::sleep(pause);
    drop(workers);
    (0..spawned).map(|number| Journal::read(folder, number)).collect()
}

#[test]
fn processes_that_are_killed_leave_at_most_what_they_took() {
    let folder = Folder::new("killed");
    let limit = SlidingWindow::new(1_000, HOUR).unwrap();
    let journals = run_workers(&folder.0, &limit, 60, Duration::from_millis(5));
    let taken = Window::new(&folder.0, "x", limit).taken();
    let most: u64 = journals.iter().map(|journal| journal.most).sum();
    let fewest: u64 = journals.iter().map(|journal| journal.fewest).sum();
    assert!(most > 100, "the window was used");
    assert!((fewest..=most).contains(&taken), "{taken} hits, {fewest} to {most} were taken");
}

#[test]
fn processes_that_are_killed_never_get_more_hits_than_the_limit_in_any_interval() {
    for (hits, interval) in [(6, 0.03), (2, 0.004)] {
        let folder = Folder::new(&format!("killed-{hits}"));
        let limit = SlidingWindow::new(hits, interval).unwrap();
        let journals = run_workers(&folder.0, &limit, 30, Duration::from_millis(20));
        let log: Vec<Call> = journals.into_iter().flat_map(|journal| journal.calls).collect();
        let taken: u64 = log.iter().map(|call| call.hits).sum();
        assert!(taken > 20, "the window was used: {taken} hits");
        assert_within_limit(log, &[], &limit);
    }
}
