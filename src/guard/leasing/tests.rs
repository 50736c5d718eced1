//! Calls on busy buckets: which ones the host decides by tokens that it has taken ahead, and when it asks the server.

use super::*;
use crate::clock::{at, unix_time_at_boot};
use crate::error::Error;
use crate::guard::breaker::Access;
use crate::guard::decide;
use crate::guard::leases::LIFETIME;
use crate::guard::tests::{Folder, Process, TIMEOUTS, host_in, limit, settings, with_request};
use crate::limit::{CalendarWindow, FixedWindow, Limit, SECOND};
use crate::settings::{OnError, Settings};
use crate::store::Store;
use portable_atomic::Ordering;

const TAKE: Op = Op::Take { cost: 1 };

/// A cost above the largest batch.
const MUCH: Op = Op::Take { cost: 20 };

fn process(folder: &Folder) -> Process {
    let settings = Settings { lease: 16, ..settings(OnError::Closed) };
    Process::new(host_in(&folder.files()), settings)
}

/// A process that has made so many calls for one token of a full bucket. Its batches were of 1, 2, 4, 8 and 16 tokens.
fn after_calls(folder: &Folder, calls: u32) -> Process {
    let process = process(folder);
    (0..calls).for_each(|_| _ = process.call(TAKE));
    process.server.take_asked();
    process
}

/// What decided on a call, and what it says is left in the bucket.
fn decided(report: &Report) -> (DecidedBy, u64) {
    (report.decided_by, limit().remaining(report.answer.as_ref().unwrap()))
}

fn peek(process: &Process, cost: u64) -> (DecidedBy, u64) {
    decided(&process.call(Op::Peek { cost }))
}

fn is_leased(process: &Process) -> bool {
    process.call(TAKE).decided_by == DecidedBy::Lease
}

/// The most tokens that each call asked the server for.
fn most_asked(process: &Process) -> Vec<u64> {
    process.server.take_asked().iter().map(|op| op.cost()).collect()
}

/// Corrects what an earlier call took.
fn correct_by(process: &Process, op: Op, is_by_lease: bool) -> Report<Option<Decision>> {
    with_request(&limit(), op, |request| correct(&process.guard, request, is_by_lease))
}

const fn refund(cost: u64) -> Op {
    Op::Refund { cost, expiry: None }
}

#[test]
fn busy_bucket_is_decided_by_tokens_taken_ahead() {
    let folder = Folder::new();
    let process = process(&folder);
    for calls in 1..=30 {
        let report = process.call(TAKE);
        assert_eq!(decided(&report).1, 100 - calls);
        let decision = report.answer.unwrap();
        assert!(decision.is_accepted());
        assert_eq!(decision.taken, 1);
        assert_eq!((decision.reset_after() / 10_000.0).round(), calls as f64);
    }
    assert_eq!(most_asked(&process), [1, 2, 4, 8, 16]);
}

#[test]
fn peek_is_answered_by_what_the_host_and_the_server_hold_together() {
    let folder = Folder::new();
    // The server has 85 tokens, and the host five.
    let process = after_calls(&folder, 10);
    assert_eq!(peek(&process, 5), (DecidedBy::Lease, 90));
    assert_eq!(peek(&process, 6), (DecidedBy::Store, 90));
    assert_eq!(peek(&process, 0), (DecidedBy::Store, 90));
    assert_eq!(peek(&process, 86), (DecidedBy::Store, 85), "the server denies it");
    assert_eq!(process.server.take_asked().len(), 3);
    assert_eq!(process.call(Op::Peek { cost: 1 }).answer.unwrap().taken, 0);
}

#[test]
fn tokens_that_were_taken_ahead_go_back_to_where_they_came_from() {
    let folder = Folder::new();
    let process = after_calls(&folder, 10);
    assert_eq!(decided(&process.call(refund(1))), (DecidedBy::Lease, 91));
    let report = correct_by(&process, refund(1), true);
    assert_eq!(report.decided_by, DecidedBy::Lease);
    assert_eq!(limit().remaining(&report.answer.unwrap().unwrap()), 92);
    assert_eq!(process.server.take_asked(), []);
    assert_eq!(peek(&process, 7), (DecidedBy::Lease, 92));
    for (op, is_by_lease) in [(refund(1), false), (Op::Settle { cost: 1, expiry: 1 }, true)] {
        let report = correct_by(&process, op, is_by_lease);
        assert_eq!((report.decided_by, report.answer.unwrap().is_some()), (DecidedBy::Store, true));
        assert_eq!(process.server.take_asked(), [op]);
    }
}

#[test]
fn refund_without_room_in_the_lease_goes_to_the_server() {
    let folder = Folder::new();
    // The server has 69 tokens, and the host eleven of fifteen that it took ahead.
    let process = after_calls(&folder, 20);
    assert_eq!(decided(&process.call(refund(6))), (DecidedBy::Store, 71));
    assert_eq!(process.server.take_asked(), [refund(2)]);
    assert_eq!(peek(&process, 15), (DecidedBy::Lease, 86));
    // What the host holds stays charged.
    assert_eq!(decided(&process.call(refund(1_000))), (DecidedBy::Store, 85));
    assert_eq!(peek(&process, 15), (DecidedBy::Lease, 100));
    assert_eq!(peek(&process, 16).0, DecidedBy::Store);
}

#[test]
fn refund_that_the_server_may_have_done_leaves_the_lease() {
    let folder = Folder::new();
    let process = after_calls(&folder, 20);
    process.server.fail(Error::refused("no such bucket"));
    let report = correct_by(&process, refund(6), true);
    assert_eq!((report.answer, report.has_failed), (Ok(None), true));
    process.server.failure.take();
    assert!(is_leased(&process));
}

#[test]
fn refund_that_the_server_was_not_asked_for_leaves_the_lease() {
    let folder = Folder::new();
    let process = after_calls(&folder, 20);
    let later = boot_time() + 3_600 * SECOND;
    process.guard.host.record(|it| it.breaker(0).note_failure(Access::Granted, later, later));
    assert!(!process.call(refund(6)).has_failed);
    assert_eq!(process.server.take_asked(), []);
    assert!(is_leased(&process));
}

#[test]
fn call_that_changes_the_bucket_otherwise_ends_the_lease() {
    for op in [Op::Reset, Op::Block { duration: SECOND }, Op::Start { missing: 5 }] {
        let folder = Folder::new();
        let process = after_calls(&folder, 10);
        assert_eq!(process.call(op).decided_by, DecidedBy::Store);
        assert!(!is_leased(&process));
    }
}

#[test]
fn lease_ends_when_the_server_tells_of_a_block_by_another_host() {
    for told_by in [MUCH, refund(50)] {
        let folder = Folder::new();
        let process = after_calls(&folder, 10);
        with_request(&limit(), Op::Block { duration: 3_600 * SECOND }, |request| {
            process.server.decide(request).unwrap()
        });
        let report = process.call(told_by);
        assert!(report.answer.unwrap().is_blocked());
        assert!(!is_leased(&process));
    }
    let folder = Folder::new();
    let process = after_calls(&folder, 10);
    assert_eq!(process.call(MUCH).decided_by, DecidedBy::Store);
    assert!(is_leased(&process), "no block");
}

#[test]
fn tokens_that_no_call_has_used_in_time_go_back_to_the_server() {
    let folder = Folder::new();
    let process = after_calls(&folder, 10);
    let report = process.call_at(TAKE, boot_time() + LIFETIME + SECOND / 2);
    assert_eq!(decided(&report), (DecidedBy::Store, 89));
    assert!(matches!(process.server.take_asked()[0], Op::GiveBack { cost: 5, known: 1.. }));
}

#[test]
fn empty_bucket_gives_no_batch() {
    let folder = Folder::new();
    let process = process(&folder);
    assert!(process.call(Op::Take { cost: 100 }).answer.unwrap().is_accepted());
    for decided_by in [DecidedBy::Store, DecidedBy::DenyCache, DecidedBy::DenyCache] {
        let report = process.call(TAKE);
        assert_eq!(decided(&report), (decided_by, 0));
        let decision = report.answer.unwrap();
        assert_eq!((decision.is_accepted(), decision.taken), (false, 0));
    }
}

#[test]
fn lease_is_neither_made_nor_used_by_the_clock_of_a_test() {
    let folder = Folder::new();
    let process = after_calls(&folder, 10);
    let frozen = |op| {
        with_request(&limit(), op, |request| {
            at(Some(boot_time()), || decide(&process.guard, request, boot_time()).decided_by)
        })
    };
    assert_eq!([TAKE, refund(50)].map(frozen), [DecidedBy::Store; 2]);
    let report = with_request(&limit(), refund(50), |request| {
        at(Some(boot_time()), || correct(&process.guard, request, false))
    });
    assert_eq!(report.decided_by, DecidedBy::Store);
    let held = with_request(&limit(), TAKE, |request| {
        let now = boot_time();
        with_lease(&process.guard, request, now, |lease| lease.available(now)).flatten()
    });
    assert_eq!(held.unwrap().rest, 5);
}

#[test]
fn process_without_leases_asks_the_server() {
    let folder = Folder::new();
    let process = Process::new(host_in(&folder.files()), settings(OnError::Closed));
    assert!((0..20).all(|_| process.call(TAKE).decided_by == DecidedBy::Store));
}

#[test]
fn call_waits_for_the_batch_of_another_process_with_half_of_its_time() {
    let folder = Folder::new();
    let process = after_calls(&folder, 1);
    let timeouts = Timeouts { connect: Duration::from_secs(60), ..TIMEOUTS };
    let report = with_request(&limit(), TAKE, |request| {
        let (now, longest) = (boot_time(), timeouts.longest());
        let take = |lease: &LeaseKey<'_>| lease.take(1, now, longest);
        let other = host_in(&folder.files());
        let key = crate::store::Key { key_hash: &Default::default(), ..*request.key };
        let step = other.with_lease(&key, request.limit, 16, now, take);
        assert!(matches!(step, Some(Step::Fetch(_))));
        decide(&process.guard, &Request { timeouts: &timeouts, ..*request }, now)
    });
    assert_eq!(decided(&report), (DecidedBy::Store, 98));
    let asked = process.server.asked.take();
    let [(op, left)] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!(*op, TAKE);
    assert!(left.call < timeouts.call && left.connect == timeouts.connect);
}

#[test]
fn lease_whose_level_on_the_server_is_not_known_is_not_used() {
    let folder = Folder::new();
    let process = after_calls(&folder, 10);
    with_request(&limit(), TAKE, |request| {
        with_lease(&process.guard, request, boot_time(), |lease| {
            let notes = lease.set.0.chunks(4).flat_map(|words| &words[1..]);
            notes.for_each(|note| note.store(0, Ordering::Relaxed));
        });
    });
    assert_eq!(peek(&process, 1), (DecidedBy::Store, 85));
    assert_eq!(decided(&process.call(TAKE)), (DecidedBy::Store, 84));
    assert_eq!(process.server.take_asked(), [Op::Peek { cost: 1 }, TAKE], "what it held is lost");
}

/// Windows of 100 hits in an hour.
fn windows() -> [Limit; 2] {
    let now = boot_time();
    let begin = unix_time_at_boot(now) + now - 600 * SECOND;
    let ends = [0, 3_600, 7_200].map(|seconds| begin + seconds * SECOND);
    [FixedWindow::new(100, 3_600.0).unwrap().into(), CalendarWindow::new(100, ends).unwrap().into()]
}

/// The decision on a call under a limit, and what made it.
fn decide_on(process: &Process, limit: &Limit, op: Op) -> (DecidedBy, Decision) {
    let report = with_request(limit, op, |it| decide(&process.guard, it, boot_time()));
    (report.decided_by, report.answer.unwrap())
}

#[test]
fn busy_window_is_decided_by_hits_taken_ahead_and_named_by_the_servers_clock() {
    for limit in windows() {
        let folder = Folder::new();
        let process = process(&folder);
        let (_, first) = decide_on(&process, &limit, TAKE);
        for calls in 2..=30 {
            let (_, decision) = decide_on(&process, &limit, TAKE);
            assert_eq!((decision.is_accepted(), decision.taken), (true, 1));
            assert_eq!(limit.remaining(&decision), 100 - calls);
            assert_eq!(decision.expires_at, first.expires_at, "it names the window");
            assert!(decision.now >= first.now && decision.reset_after() <= first.reset_after());
        }
        assert_eq!(most_asked(&process), [1, 2, 4, 8, 16]);
        let (by, decision) = decide_on(&process, &limit, Op::Peek { cost: 1 });
        assert_eq!((by, limit.remaining(&decision)), (DecidedBy::Lease, 70));
        // The last quarter is decided on by the server.
        let rest: Vec<_> = (0..80).map(|_| decide_on(&process, &limit, TAKE)).collect();
        assert_eq!(rest.iter().filter(|(_, decision)| decision.is_accepted()).count(), 70);
        assert!(rest[70..].iter().all(|(by, _)| *by != DecidedBy::Lease));
    }
}

#[test]
fn call_in_a_window_is_settled_only_there() {
    for limit in windows() {
        let folder = Folder::new();
        let process = process(&folder);
        let decisions: Vec<_> = (0..10).map(|_| decide_on(&process, &limit, TAKE)).collect();
        let (by, decision) = decisions[9];
        assert_eq!(by, DecidedBy::Lease);
        process.server.take_asked();
        let correct = |op| with_request(&limit, op, |it| correct(&process.guard, it, true));
        let left = |report: Report<Option<Decision>>| {
            let decision = report.answer.unwrap().unwrap();
            (report.decided_by, decision.is_accepted(), limit.remaining(&decision))
        };
        assert_eq!(left(correct(decision.settle(0))), (DecidedBy::Lease, true, 91));
        // The server has 85, and the lease six.
        assert_eq!(left(correct(decision.settle(4))), (DecidedBy::Store, true, 82));
        let earlier = Decision { expires_at: decision.expires_at - 3_600 * SECOND, ..decision };
        for cost in [0, 4] {
            assert_eq!(left(correct(earlier.settle(cost))), (DecidedBy::Store, false, 82));
        }
        let (by, decision) = decide_on(&process, &limit, TAKE);
        assert_eq!((by, limit.remaining(&decision)), (DecidedBy::Lease, 90), "it has its hits");
    }
}

#[test]
fn hits_that_no_call_has_used_go_back_to_their_own_window() {
    for limit in windows() {
        let folder = Folder::new();
        let process = process(&folder);
        (0..10).for_each(|_| _ = decide_on(&process, &limit, TAKE));
        process.server.take_asked();
        let later = boot_time() + LIFETIME + SECOND / 2;
        let report = with_request(&limit, TAKE, |it| decide(&process.guard, it, later));
        assert!(matches!(process.server.take_asked()[0], Op::GiveBack { cost: 5, known: 1.. }));
        assert_eq!(limit.remaining(&report.answer.unwrap()), 89);
    }
}
