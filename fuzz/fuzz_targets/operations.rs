//! Any operations on the stores of this host: as `limit::apply` decides, and as a slow reference in
//! exact numbers.

#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use std::cell::Cell;
use std::fs::File;
use token_bucket::limit::{
    Decision, Limit, MAX_BLOCK, MAX_NOW, Op, SECOND, State, TokenBucket, apply,
};
use token_bucket::store::array::Array;
use token_bucket::store::file::{Location, MIN_SIZE, Purpose};
use token_bucket::store::shm::SharedMemory;
use token_bucket::store::shm::slot::Slot;
use token_bucket::store::{Key, KeyHash, Request, Store, Time, Timeouts};
use token_bucket_fuzz::calls::{keeps_promises, limit, operation, time};
use token_bucket_fuzz::folder::folder;
use token_bucket_fuzz::table_file::kind;

/// Fewer than a set has slots: wherever they are, none has to go.
const KEYS: usize = 4;
const WINDOW: usize = KEYS;

fuzz_target!(|bytes: &[u8]| {
    let _ = play(&mut Unstructured::new(bytes));
});

fn play(u: &mut Unstructured<'_>) -> Result<()> {
    let limits = [limit(u)?, limit(u)?];
    let (array, shm) = (Array::default(), fresh());
    let places: [Cell<KeyHash>; 2 * KEYS] = Default::default();
    let mut model = [State::FULL; 2 * KEYS];
    let mut model_of_shm = model;
    let mut reference: [Option<Reference>; KEYS] = std::array::from_fn(|_| Some(Reference::FULL));
    // What the last call that took something took, and when its state expired.
    let mut last = [(0, 0); 2 * KEYS];
    let mut now = 1_000_000 * SECOND;
    for _ in 0..64 {
        if u.is_empty() {
            break;
        }
        let (key, limit) = (u.int_in_range(0..=KEYS - 1)?, &limits[u.int_in_range(0..=1usize)?]);
        let window = matches!(limit, Limit::FixedWindow(_));
        let at = if window { WINDOW + key } else { key };
        let op = match operation(u)? {
            // As a caller refunds a decision.
            Op::Refund { expiry: Some(0..10), .. } => {
                Op::Refund { cost: last[at].0, expiry: Some(last[at].1) }
            }
            op => op,
        };
        now = time(u, now)?;
        let call = format!("{op:?} of {limit:?} at {now}");

        let (expected, after) = apply(limit, model[at], now, op);
        keeps_promises(limit, op, &expected, matches!(model[at], State::Reserved { .. }));
        if let (Limit::TokenBucket(bucket), Some(state)) = (limit, reference[key].take()) {
            reference[key] = state.judge(bucket, now, op, &expected, &call);
        }
        if let (Limit::FixedWindow(_), Op::Refund { cost, expiry: Some(expiry) }) = (limit, op) {
            let before = apply(limit, model[at], now, Op::Peek { cost: 0 }).0;
            let [before, remaining] = [&before, &expected].map(|it| limit.remaining(it));
            let back = if expected.accepted { cost } else { 0 };
            assert_eq!(remaining, before.saturating_add(back).min(limit.capacity()), "{call}");
            assert!(!expected.accepted || expected.expires_at == expiry && now < expiry, "{call}");
        }
        if expected.taken > 0 {
            last[at] = (expected.taken, expected.expires_at);
        }
        model[at] = after;
        let (key_hash, timeouts, evicted) =
            (Cell::default(), Timeouts::default(), Cell::new(false));
        let name = named(key, window, &key_hash);
        let request = Request {
            key: &name,
            limit,
            op: &op,
            time: Time::Frozen(now),
            timeouts: &timeouts,
            evicted: &evicted,
        };
        assert_eq!(array.decide(&request), Ok(expected), "{call}");

        // A slot stores a debt less exactly.
        let (expected, after) = apply(limit, model_of_shm[at], now, op);
        model_of_shm[at] = Slot::committed(1, after).state();
        let name = named(key, window, &places[at]);
        let request = Request { key: &name, ..request };
        if op.may_repeat() && now % 2 == 0 {
            assert_eq!(shm.accepts(&request), Ok(expected.accepted), "{call}");
        } else {
            assert_eq!(shm.decide(&request), Ok(expected), "{call}");
        }
        assert!(!evicted.get());
    }
    Ok(())
}

fn named<'a>(key: usize, window: bool, key_hash: &'a Cell<KeyHash>) -> Key<'a> {
    let id: &[u8] = [b"a", b"b", b"c", b"d"][key];
    Key { parts: [b"tb:", id, b"", b""], key_hash, kind: kind(window) }
}

/// An empty table.
fn fresh() -> SharedMemory {
    let (base, name) = (folder().to_owned(), "default".to_owned());
    let location = Location { base, name, size: MIN_SIZE, purpose: Purpose::Buckets };
    if let Ok(file) = File::options().write(true).open(location.path()) {
        // The header stays. No process has the file mapped.
        file.set_len(4096).and_then(|()| file.set_len(MIN_SIZE)).expect("a file in memory");
    }
    SharedMemory::new(location)
}

/// A token bucket as a textbook has it, for comparison: how much is missing, and since when. It counts in
/// the limit's parts of a nanosecond.
///
/// It has no debts: the comparison ends with the first one.
#[derive(Clone, Copy)]
struct Reference {
    /// The end of a block, after which the bucket is full; 0 if none was set.
    blocked_until: u64,
    /// How much was missing at the time `at`. The next limit may have another capacity.
    missing: u128,
    parts: u64,
    at: u64,
}

impl Reference {
    const FULL: Self = Self { blocked_until: 0, missing: 0, parts: 1, at: 0 };

    fn judge(
        self,
        limit: &TokenBucket,
        now: u64,
        op: Op,
        decision: &Decision,
        what: &str,
    ) -> Option<Self> {
        // The clock may have gone back.
        let until = self.blocked_until.min(now + MAX_BLOCK);
        let (until, after) = match op {
            Op::Block { duration } => {
                let until = until.max(now + duration.min(MAX_BLOCK));
                (until, Self { blocked_until: until, ..Self::FULL })
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
        let retry_at = if op.least() > limit.capacity() { Decision::NEVER } else { until };
        assert!(decision.is_blocked, "{what}");
        assert_eq!(decision.accepted, matches!(op, Op::Block { .. }), "{what}");
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
        // Time refills the bucket. If the clock went back more is missing, at most the whole bucket, and
        // the correction is stored.
        let missing = match now >= self.at {
            true => self.missing.saturating_sub(span(now - self.at)),
            false => self.missing + span(self.at - now),
        };
        let lowered = missing.min(whole);
        let kept = match missing > whole {
            true => Self { missing: whole, parts: limit.parts(), at: now, ..Self::FULL },
            false => self,
        };
        let becomes =
            |missing: u128| Some(Self { missing, parts: limit.parts(), at: now, ..Self::FULL });
        let left = |missing: u128| ((whole - missing) / exact(1)) as u64;
        let remaining = Limit::from(*limit).remaining(decision);
        // As many as are there, which is a take of so many; else of the least.
        let op = match op {
            Op::TakeUpTo { most, least } => Op::Take { cost: most.min(left(lowered)).max(least) },
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
            Op::Reset => (true, Some(Self::FULL), 0),
            Op::Start { .. } if lowered > 0 => (false, Some(kept), lowered),
            Op::Start { missing } => {
                let missing = span(missing.min(MAX_NOW)).min(whole);
                (true, becomes(missing), missing)
            }
            Op::TakeUpTo { .. } | Op::Block { .. } => unreachable!("decided on above"),
        };
        assert!(!decision.is_blocked, "{what}");
        assert_eq!(decision.accepted, accepted, "{what}");
        assert_eq!(remaining, left(in_it), "{what}");
        if decision.expires_at > now {
            assert_eq!(u128::from(decision.expires_at - now), in_it.div_ceil(parts), "{what}");
        } else {
            assert_eq!(in_it, 0, "{what}");
        }
        if let (false, Op::Take { cost } | Op::Peek { cost }) = (accepted, op)
            && cost <= limit.capacity()
        {
            let short = lowered + exact(cost) - whole;
            assert_eq!(u128::from(decision.retry_at - now), short.div_ceil(parts), "{what}");
        }
        after
    }
}
