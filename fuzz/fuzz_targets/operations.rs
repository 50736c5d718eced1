//! Any operations on the stores of this host: as `limit::apply` decides, and as a slow reference in
//! exact numbers.

#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use std::cell::Cell;
use std::fs::File;
use token_bucket::clock::{boot_time, freeze};
use token_bucket::limit::{
    Decision, GRAIN, Limit, MAX_BLOCK, MAX_NOW, Op, SECOND, SlidingWindow, StoredState,
    TokenBucket, apply, whole_seconds,
};
use token_bucket::mapped::{Location, MIN_SIZE, Purpose};
use token_bucket::net::Timeouts;
use token_bucket::store::array::Array;
use token_bucket::store::shm::SharedMemory;
use token_bucket::store::shm::slot::Slot;
use token_bucket::store::{Key, KeyHash, LimitKind, Request, Store};
use token_bucket_fuzz::calls::{keeps_promises, limit, may_owe, operation, time};
use token_bucket_fuzz::folder::folder;

/// As many keys of each of two limits as a set has slots: wherever they are, none has to go.
const KEYS: usize = 4;
/// The states of all keys: of each kind of limit, and in shared memory of each sliding window.
const STATES: usize = 5 * KEYS;
/// A table that has more sets than a sliding window has places, so that no set has two of them.
const SIZE: u64 = 4 * MIN_SIZE;

fuzz_target!(|bytes: &[u8]| {
    let _ = play(&mut Unstructured::new(bytes));
});

fn play(u: &mut Unstructured<'_>) -> Result<()> {
    let limits = [limit(u)?, limit(u)?];
    let (array, shm) = (Array::default(), fresh());
    let places: [Cell<KeyHash>; STATES] = Default::default();
    let mut model: [StoredState; STATES] = std::array::from_fn(|_| StoredState::FULL);
    let mut model_of_shm = model.clone();
    let mut reference: [Option<Reference>; KEYS] = std::array::from_fn(|_| Some(Reference::FULL));
    let mut logs: [Option<Log>; STATES] = std::array::from_fn(|_| Some(Log::default()));
    // What the last call that took something took, and when its state expired.
    let mut last = [(0, 0); STATES];
    let mut now = 1_000_000 * SECOND;
    for _ in 0..64 {
        if u.is_empty() {
            break;
        }
        let (key, number) = (u.int_in_range(0..=KEYS - 1)?, u.int_in_range(0..=1usize)?);
        let limit = &limits[number];
        let kind = LimitKind::from(limit);
        let is_sliding = kind == LimitKind::SlidingWindow;
        let at = kind as usize * KEYS + key;
        // In shared memory a sliding window keeps its limit: a lower one sees fewer of its places.
        let at_in_shm = if is_sliding { at + number * KEYS } else { at };
        let op = match operation(u)? {
            // As a caller refunds a decision.
            Op::Refund { expiry: Some(0..10), .. } => {
                Op::Refund { cost: last[at].0, expiry: Some(last[at].1) }
            }
            op => op,
        };
        now = time(u, now)?;
        let call = format!("{op:?} of {limit:?} at {now}");

        let (expected, after) = apply(limit, &model[at], now, op);
        let owes = matches!(model[at], StoredState::Word(state) if may_owe(state, now));
        keeps_promises(limit, op, &expected, owes);
        if let Limit::TokenBucket(bucket) = limit {
            reference[key] = match reference[key].take() {
                Some(state) => state.judge(bucket, now, op, &expected, &call),
                None => matches!(op, Op::Reset).then_some(Reference::FULL),
            };
        }
        if let (Limit::FixedWindow(_), Op::Refund { cost, expiry: Some(expiry) }) = (limit, op) {
            let before = apply(limit, &model[at], now, Op::Peek { cost: 0 }).0;
            let [before, remaining] = [&before, &expected].map(|it| limit.remaining(it));
            let back = if expected.is_accepted() { cost } else { 0 };
            let most = before.saturating_add(back).min(limit.capacity());
            // A window in which other numbers allowed more may have no hit left all the same.
            assert!(remaining == most || before == 0 && remaining < most, "{call}");
            assert!(
                !expected.is_accepted() || expected.expires_at == expiry && now < expiry,
                "{call}"
            );
        }
        if expected.taken > 0 {
            last[at] = (expected.taken, expected.expires_at);
        }
        model[at] = after;
        let (key_hash, timeouts) = (Cell::default(), Timeouts::default());
        let name = named(key, b"", kind, &key_hash);
        freeze(Some(now));
        let request = Request { key: &name, limit, op: &op, now: boot_time(), timeouts: &timeouts };
        assert_eq!(array.decide(&request), Ok(expected.into()), "{call}");

        let (expected, after) = apply(limit, &model_of_shm[at_in_shm], now, op);
        if let Limit::SlidingWindow(window) = limit {
            keeps_promises(limit, op, &expected, false);
            logs[at_in_shm] = match logs[at_in_shm].take() {
                Some(log) => log.judge(window, now, op, &expected, &call),
                None => matches!(op, Op::Reset).then(Log::default),
            };
        }
        model_of_shm[at_in_shm] = match after {
            // A slot stores a debt less exactly.
            StoredState::Word(state) => Slot::committed(1, state).state().into(),
            hits => hits,
        };
        let number: &[u8] = if is_sliding && number == 1 { b"1" } else { b"" };
        let name = named(key, number, kind, &places[at_in_shm]);
        let request = Request { key: &name, ..request };
        if is_sliding && logs[at_in_shm].is_none() {
            // A place keeps a hit that has left, which counts again when the clock goes back.
            keeps_promises(
                limit,
                op,
                &shm.decide(&request).expect("the table is open").decision,
                false,
            );
        } else if op.may_repeat() && now % 2 == 0 {
            assert_eq!(shm.accepts(&request), Ok(expected.is_accepted().into()), "{call}");
        } else {
            assert_eq!(shm.decide(&request), Ok(expected.into()), "{call}");
        }
    }
    Ok(())
}

fn named<'a>(
    key: usize,
    number: &'a [u8],
    kind: LimitKind,
    key_hash: &'a Cell<KeyHash>,
) -> Key<'a> {
    let id: &[u8] = [b"a", b"b", b"c", b"d"][key];
    Key { parts: [b"tb:", id, number, b""], key_hash, kind }
}

/// An empty table.
fn fresh() -> SharedMemory {
    let (base, name) = (folder().to_owned(), "default".to_owned());
    let location = Location { base, name, size: SIZE, purpose: Purpose::Buckets };
    if let Ok(file) = File::options().write(true).open(location.path()) {
        // The header stays. No process has the file mapped.
        file.set_len(4096).and_then(|()| file.set_len(SIZE)).expect("a file in memory");
    }
    SharedMemory::new(location)
}

/// A sliding window as a textbook has it, for comparison: a log of all hits since the last reset or block.
///
/// The comparison ends when the clock goes back, and begins again with a reset.
#[derive(Default)]
struct Log {
    hits: Vec<Hit>,
    /// The end of a block; 0 if none was set.
    blocked_until: u64,
    /// The time of the last call.
    now: u64,
}

struct Hit {
    taken_at: u64,
    is_given_back: bool,
}

impl Log {
    fn judge(
        mut self,
        limit: &SlidingWindow,
        now: u64,
        op: Op,
        decision: &Decision,
        what: &str,
    ) -> Option<Self> {
        if now < self.now {
            return matches!(op, Op::Reset).then(Self::default);
        }
        self.now = now;
        let is_blocked = self.blocked_until > now;
        if let Op::Block { duration } = op {
            let until = self.blocked_until.max(now + duration.min(MAX_BLOCK));
            assert_eq!((decision.is_accepted(), decision.expires_at), (true, until), "{what}");
            return Some(Self { blocked_until: until, now, ..Self::default() });
        }
        if is_blocked && !matches!(op, Op::Reset) {
            assert!(!decision.is_accepted() && decision.is_blocked(), "{what}");
            assert_eq!(decision.expires_at, self.blocked_until, "{what}");
            return Some(self);
        }
        let (interval, most) = (limit.interval(), u64::from(limit.max_hits()));
        let counts = |hit: &Hit, at: u64| !hit.is_given_back && hit.taken_at + interval > at;
        let counted = |log: &Self, at| log.hits.iter().filter(|hit| counts(hit, at)).count() as u64;
        let left = most - counted(&self, now);
        let accepted = match op {
            Op::Take { cost } => {
                self.hit(if cost <= left { cost } else { 0 });
                cost <= left
            }
            Op::Reserve { cost, .. } => {
                self.hit(if cost <= left { cost } else { 0 });
                cost <= left
            }
            Op::Check => {
                self.hit(left.min(1));
                left > 0
            }
            Op::TakeUpTo { most, least, leave } => {
                let is_there = least.saturating_add(leave) <= left;
                self.hit(if is_there { most.min(left - leave) } else { 0 });
                is_there
            }
            Op::Settle { cost, .. } => {
                self.hit(cost.min(left));
                true
            }
            Op::Peek { cost } => cost <= left,
            Op::Refund { cost, expiry } => {
                let is_meant = |hit: &&mut Hit| {
                    counts(hit, now)
                        && expiry.is_none_or(|expiry| hit.taken_at + interval == expiry)
                };
                let goes = self.hits.iter_mut().rev().filter(is_meant).take(cost as usize);
                let gone = goes.map(|hit| hit.is_given_back = true).count();
                expiry.is_none() || gone > 0
            }
            Op::Reset => {
                self = Self { now, ..Self::default() };
                true
            }
            // `operation` chooses no lease.
            Op::Start { .. } | Op::Lease { .. } | Op::GiveBack { .. } => false,
            Op::Block { .. } => unreachable!("decided on above"),
        };
        assert!(!decision.is_blocked(), "{what}");
        assert_eq!(decision.is_accepted(), accepted, "{what}");
        assert_eq!(decision.available.count_hits(), most - counted(&self, now), "{what}");
        let expires_at = decision.expires_at;
        assert_eq!(counted(&self, expires_at), 0, "{what}");
        assert!(expires_at == now || counted(&self, expires_at - 1) > 0, "{what}");
        if !accepted && (1..=most).contains(&op.needs()) {
            let fits = |at| counted(&self, at) + op.needs() <= most;
            assert!(fits(decision.retry_at) && !fits(decision.retry_at - 1), "{what}");
        }
        Some(self)
    }

    /// Notes hits of now.
    fn hit(&mut self, hits: u64) {
        let taken_at = self.now;
        self.hits.extend((0..hits).map(|_| Hit { taken_at, is_given_back: false }));
    }
}

/// A token bucket as a textbook has it, for comparison: how much is missing, and since when. It counts in
/// the limit's parts of a nanosecond.
///
/// It has no debts, and nothing of what a clock which goes back makes of a bucket that was full too late: the comparison ends there, and
/// begins again with a reset.
#[derive(Clone, Copy)]
struct Reference {
    /// The end of a block, after which the bucket is full; 0 if none was set.
    blocked_until: u64,
    /// How long the block lasts from now on at most, in nanoseconds.
    asked: u64,
    /// How much was missing at the time `at`. The next limit may have another capacity.
    missing: u128,
    parts: u64,
    at: u64,
}

impl Reference {
    const FULL: Self = Self { blocked_until: 0, asked: 0, missing: 0, parts: 1, at: 0 };

    fn judge(
        self,
        limit: &TokenBucket,
        now: u64,
        op: Op,
        decision: &Decision,
        what: &str,
    ) -> Option<Self> {
        // The clock may have gone back.
        let until = self.blocked_until.min(now + self.asked);
        let (until, after) = match op {
            Op::Block { duration } => {
                let until = until.max(now + duration.min(MAX_BLOCK));
                let asked = MAX_BLOCK.min(u64::from(whole_seconds(until - now)) * SECOND);
                (until, Self { blocked_until: until, asked, ..Self::FULL })
            }
            // A peek stores nothing, not even that a block has ended.
            Op::Peek { .. } if self.blocked_until > 0 && until <= now => {
                return Self::FULL.judge_bucket(limit, now, op, decision, what).map(|_| self);
            }
            Op::Reset => return Self::FULL.judge_bucket(limit, now, op, decision, what),
            _ if until <= now => {
                let bucket = if self.blocked_until > 0 { Self::FULL } else { self };
                return bucket.judge_bucket(limit, now, op, decision, what);
            }
            Op::Peek { .. } => (until, self),
            _ => (until, Self { blocked_until: until, ..self }),
        };
        let retry_at = if op.needs() > limit.capacity() { Decision::NEVER } else { until };
        assert!(decision.is_blocked(), "{what}");
        assert_eq!(decision.is_accepted(), matches!(op, Op::Block { .. }), "{what}");
        assert_eq!((decision.retry_at, decision.expires_at), (retry_at, until), "{what}");
        Some(after)
    }

    /// Compares a call that no block decides.
    fn judge_bucket(
        self,
        limit: &TokenBucket,
        now: u64,
        op: Op,
        decision: &Decision,
        what: &str,
    ) -> Option<Self> {
        // The parts of one limit have no meaning under another one.
        if self.parts != limit.parts() && self.missing > 0 {
            return None;
        }
        let parts = u128::from(limit.parts());
        let span = |ns: u64| u128::from(ns) * parts;
        let exact = |tokens: u64| {
            let one = limit.cost_in_time(1);
            u128::from(tokens) * (span(one.ns) + u128::from(one.part))
        };
        let whole = exact(limit.capacity());
        // Time refills the bucket. If the clock went back more is missing, at most the whole bucket.
        let missing = match now >= self.at {
            true => self.missing.saturating_sub(span(now - self.at)),
            false => self.missing + span(self.at - now),
        };
        let is_too_late = missing > whole;
        if is_too_late && op.settles() {
            return None;
        }
        let (lowered, kept) = (missing.min(whole), self);
        let becomes =
            |missing: u128| Some(Self { missing, parts: limit.parts(), at: now, ..Self::FULL });
        let left = |missing: u128| ((whole - missing) / exact(1)) as u64;
        let remaining = Limit::from(*limit).remaining(decision);
        // As many as are there, which is a take of so many; else of those that are needed.
        let op = match op {
            Op::TakeUpTo { most, least, leave } => {
                let there = left(lowered);
                match least.saturating_add(leave) <= there {
                    true => Op::Take { cost: most.min(there - leave) },
                    false => Op::Take { cost: op.needs() },
                }
            }
            op => op,
        };
        let (accepted, after, in_it) = match op {
            Op::Take { cost: 0 } => (true, Some(kept), lowered),
            Op::Peek { cost } => {
                let fits = cost <= limit.capacity() && lowered + exact(cost) <= whole;
                (fits, Some(self), lowered)
            }
            Op::Take { cost } | Op::Reserve { cost, .. } if cost > limit.capacity() => {
                (false, Some(kept), lowered)
            }
            Op::Reserve { cost: 0, .. } => (true, Some(kept), lowered),
            Op::Take { cost } => match lowered + exact(cost) {
                missing if missing <= whole => (true, becomes(missing), missing),
                _ => (false, Some(kept), lowered),
            },
            Op::Check | Op::Reserve { .. } => {
                let cost = if let Op::Reserve { cost, .. } = op { cost } else { 1 };
                match lowered + exact(cost) {
                    missing if missing <= whole => (true, becomes(missing), missing),
                    // A debt.
                    _ => return None,
                }
            }
            Op::Refund { expiry: Some(expiry), .. } if expiry <= now => {
                (false, Some(kept), lowered)
            }
            Op::Refund { cost, expiry } => {
                let back = exact(cost.min(limit.capacity()));
                // No more than would still be missing without later calls, less what was rounded up.
                let missing = match expiry.map(|expiry| span(expiry - now)) {
                    Some(most) if most < back => match lowered > most {
                        true => lowered - most + span(1),
                        false => 0,
                    },
                    _ => lowered.saturating_sub(back),
                };
                let after = if missing == 0 { Some(Self::FULL) } else { becomes(missing) };
                (true, after, missing)
            }
            Op::Settle { cost, .. } => match lowered + exact(cost.min(2 * limit.capacity())) {
                missing if cost == 0 || missing == lowered => (true, Some(kept), lowered),
                missing if missing <= whole => (true, becomes(missing), missing),
                // Below empty.
                _ => return None,
            },
            Op::Reset => (true, Some(Self::FULL), 0),
            Op::Start { .. } if lowered > 0 => (false, Some(kept), lowered),
            Op::Start { missing } => {
                let missing = span(missing.min(MAX_NOW)).min(whole);
                (true, becomes(missing), missing)
            }
            Op::Lease { .. } | Op::GiveBack { .. } => unreachable!("`operation` chooses no lease"),
            Op::TakeUpTo { .. } | Op::Block { .. } => unreachable!("decided on above"),
        };
        assert!(!decision.is_blocked(), "{what}");
        assert_eq!(decision.is_accepted(), accepted, "{what}");
        assert_eq!(remaining, left(in_it), "{what}");
        // From when a bucket is empty that was full too late is kept in microseconds, rounded up.
        let is_near = |time: u64, exact: u128| {
            let most = if is_too_late { GRAIN } else { 1 };
            (0..u128::from(most)).contains(&u128::from(time).wrapping_sub(exact))
        };
        if decision.expires_at > now {
            assert!(is_near(decision.expires_at - now, in_it.div_ceil(parts)), "{what}");
        } else {
            assert_eq!(in_it, 0, "{what}");
        }
        if let (false, Op::Take { cost } | Op::Peek { cost }) = (accepted, op)
            && cost <= limit.capacity()
        {
            let short = lowered + exact(cost) - whole;
            assert!(is_near(decision.retry_at - now, short.div_ceil(parts)), "{what}");
        }
        match op {
            Op::Peek { .. } | Op::Reset => after,
            _ if is_too_late => None,
            _ => after,
        }
    }
}
