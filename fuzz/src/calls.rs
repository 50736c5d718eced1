//! Limits, operations and times made of numbers that the fuzzer chooses.

use arbitrary::{Result, Unstructured};
use token_bucket::limit::{
    CalendarWindow, Decision, FixedWindow, Limit, MAX_BLOCK, MAX_HITS, MAX_NOW, MAX_SLIDING_HITS,
    Op, SECOND, SlidingWindow, State, TokenBucket,
};

/// How much the ends of one calendar window may differ, in nanoseconds.
const CALENDAR_SLACK: u64 = 600 * SECOND;

/// A number up to `most`: more often a small one, or one at the end of the range.
pub fn number(u: &mut Unstructured<'_>, most: u64) -> Result<u64> {
    let n = match u.int_in_range(0..=7u8)? {
        0..=3 => u64::from(u.arbitrary::<u8>()?) % 20,
        4 => u64::from(u.arbitrary::<u16>()?),
        5 => u64::from(u.arbitrary::<u32>()?),
        6 => u.arbitrary()?,
        _ => most - u64::from(u.arbitrary::<u8>()?).min(most),
    };
    Ok(n.min(most))
}

/// A valid limit.
pub fn limit(u: &mut Unstructured<'_>) -> Result<Limit> {
    let capacity = number(u, i32::MAX as u64)?.max(1) as i64;
    let limit = match u.int_in_range(0..=8u8)? {
        0 | 1 => TokenBucket::per_period(capacity, number(u, 126_230_400)?.max(1) as f64).ok(),
        2 => TokenBucket::per_second(capacity, number(u, SECOND)?.max(1) as f64).ok(),
        3 => TokenBucket::per_second(capacity, f64::from_bits(u.arbitrary()?).abs()).ok(),
        4 => {
            let (a, b) = (number(u, SECOND)?.max(1), number(u, u32::MAX.into())?.max(1));
            TokenBucket::per_second(capacity, a as f64 / b as f64).ok()
        }
        5 => return Ok(calendar(u, capacity)?.unwrap_or_else(any)),
        kind => {
            let interval = number(u, 126_230_400 * SECOND)?.max(1) as f64 / SECOND as f64;
            let limit = match kind {
                6 => FixedWindow::new(capacity.min(MAX_HITS.into()), interval).map(Limit::from),
                _ => {
                    // Mostly few hits: a store looks at each of them.
                    let is_long = u.ratio(1, 8)?;
                    let most = if is_long { i64::from(MAX_SLIDING_HITS) } else { 12 };
                    SlidingWindow::new(1 + (capacity - 1) % most, interval).map(Limit::from)
                }
            };
            return Ok(limit.unwrap_or_else(|_| any()));
        }
    };
    Ok(limit.map_or_else(any, Limit::from))
}

/// A calendar window near the times of the calls; its ends are an hour to a year apart.
fn calendar(u: &mut Unstructured<'_>, hits: i64) -> Result<Option<Limit>> {
    let mut length = || Ok((3_600 + number(u, 31_622_400 - 3_600)?) * SECOND);
    let [second, third] = [length()?, length()?];
    let first = time(u, 1_000_000 * SECOND)?;
    let ends = [first, first + second, first + second + third];
    Ok(CalendarWindow::new(hits.min(MAX_HITS.into()), ends).map(Limit::from).ok())
}

fn any() -> Limit {
    TokenBucket::per_period(7, 3.0).expect("a limit").into()
}

/// Chooses an operation.
pub fn operation(u: &mut Unstructured<'_>) -> Result<Op> {
    let mut cost = || number(u, u64::MAX);
    Ok(match cost()? % 15 {
        0..=2 => Op::Take { cost: cost()? },
        3 | 4 => Op::Check,
        5 => Op::Reserve { cost: cost()?, max_wait: cost()? },
        6 => Op::Refund { cost: cost()?, expiry: None },
        10 => Op::Refund { cost: cost()?, expiry: Some(cost()?) },
        11 | 12 => {
            let most = cost()?.max(1);
            let leave = if cost()? % 2 == 0 { 0 } else { cost()? };
            Op::TakeUpTo { most, least: cost()?.clamp(1, most), leave }
        }
        14 => Op::Settle { cost: cost()?, expiry: cost()? },
        // PHP refuses a block of no time.
        13 => Op::Block { duration: cost()?.max(1) },
        7 => Op::Peek { cost: cost()? },
        8 => Op::Start { missing: cost()? },
        _ => Op::Reset,
    })
}

/// A time near `now`, before or after it; sometimes any time.
pub fn time(u: &mut Unstructured<'_>, now: u64) -> Result<u64> {
    let near = number(u, MAX_NOW)?;
    let unit = [1, 1_000, SECOND / 1_000, SECOND][u.int_in_range(0..=3usize)?];
    let step = near.saturating_mul(unit);
    Ok(match u.int_in_range(0..=7u8)? {
        0 => now.saturating_sub(step),
        1 => near,
        _ => now.saturating_add(step),
    }
    .min(MAX_NOW))
}

/// Whether a sliding window in shared memory denied a call although it may have hits left: its table has no room, or
/// other processes were faster at every try.
pub fn is_busy(limit: &Limit, decision: &Decision) -> bool {
    let is_sliding = matches!(limit, Limit::SlidingWindow(_));
    is_sliding && !decision.is_accepted() && decision.retry_at == decision.now + SECOND / 1_000
}

/// Whether a state may be further from full than an empty bucket, by a reservation or by what a call cost beyond its estimate.
pub fn may_owe(state: State, now: u64) -> bool {
    match state {
        State::Reserved { .. } => true,
        // The highest eight bits of 30 tell what it owes, beside a time beyond now.
        State::Emptied { at, reach } => at > now || reach >> 22 > 0,
        _ => false,
    }
}

/// Asserts what holds for any decision, whatever a store remembers. `owes`: the state may be further from full than a refill.
pub fn keeps_promises(limit: &Limit, op: Op, decision: &Decision, owes: bool) {
    let Decision { now, retry_at, expires_at, taken, wait, .. } = *decision;
    let (accepted, is_blocked) = (decision.is_accepted(), decision.is_blocked());
    let remaining = limit.remaining(decision);
    assert!(remaining <= limit.capacity(), "remaining exceeds the capacity");
    assert!(expires_at >= now);
    assert!(decision.retry_after() >= 0.0 && decision.reset_after().is_finite());
    if is_blocked || matches!(op, Op::Block { .. }) {
        let is_set = matches!(op, Op::Block { .. });
        assert!(
            is_blocked && accepted == is_set,
            "a block that does not deny: {op:?} of {limit:?}: {decision:?}"
        );
        assert!(!matches!(op, Op::Reset), "a reset does not lift the block");
        assert!(expires_at > now || is_set, "denied by a block that has ended");
        assert!(expires_at - now <= MAX_BLOCK, "blocked for too long");
        let is_possible = op.needs() <= limit.capacity();
        assert_eq!(retry_at, if is_possible { expires_at } else { Decision::NEVER });
        assert_eq!((remaining, taken, wait), (0, 0, 0));
        return;
    }
    match op {
        Op::Take { cost } | Op::Reserve { cost, .. } if accepted => assert_eq!(taken, cost),
        Op::TakeUpTo { most, least, leave } if accepted => {
            assert!((least..=most).contains(&taken));
            assert!(taken + remaining <= limit.capacity());
            assert!(remaining >= leave, "took what it had to leave");
            assert!(taken == most || remaining == leave, "took less than was there");
        }
        Op::Check if accepted => assert_eq!(taken, 1),
        // As much as there can be, also if it is not there.
        Op::Settle { cost, .. } => assert!(taken <= cost.min(2 * limit.capacity())),
        _ => assert_eq!(taken, 0, "took tokens without need"),
    }
    let (most, grain) = match limit {
        Limit::TokenBucket(bucket) => (bucket.refill_time().ceil(), 1_000),
        Limit::FixedWindow(window) => (window.interval(), 1),
        Limit::CalendarWindow(window) => {
            let [_, second, third] = window.ends();
            let end = window.ends().into_iter().find(|end| now < *end);
            let left = end
                .unwrap_or_else(|| now + third - second - (now - third) % (third - second))
                - now;
            // Shortly before an end a later one is taken for that of the next window, by another process's clock.
            (if left > CALENDAR_SLACK { left } else { 2 * MAX_NOW }, CALENDAR_SLACK)
        }
        Limit::SlidingWindow(window) => (window.interval(), 0),
    };
    // The longest debt, and the longest wait for a reservation.
    const LONGEST: u64 = 1 << 57;
    let owed = match (owes, limit) {
        (false, _) => 0,
        // A clock that goes back leaves the time from which it counts up to a refill beyond now.
        (true, Limit::TokenBucket(_)) => LONGEST + most,
        (true, _) => LONGEST,
    };
    let furthest = most + grain + owed;
    match op {
        Op::Take { cost } | Op::Peek { cost } | Op::Reserve { cost, .. }
            if cost > limit.capacity() =>
        {
            assert!(!accepted && retry_at == Decision::NEVER, "a cost above the capacity");
            return;
        }
        Op::TakeUpTo { .. } if op.needs() > limit.capacity() => {
            assert!(!accepted && retry_at == Decision::NEVER, "a cost above the capacity");
            return;
        }
        Op::Take { cost: 0 } | Op::Peek { cost: 0 } | Op::Reserve { cost: 0, .. } => {
            assert!(accepted);
        }
        Op::Take { cost } if accepted => assert!(remaining <= limit.capacity() - cost),
        Op::Peek { cost } if accepted => assert!(remaining >= cost),
        Op::TakeUpTo { .. } if !accepted => {
            assert!(remaining < op.needs(), "denied what was there");
        }
        Op::Refund { expiry: Some(_), .. } => {}
        // The window that was charged may have ended.
        Op::Settle { .. } if matches!(limit, Limit::FixedWindow(_) | Limit::CalendarWindow(_)) => {}
        Op::Refund { .. } | Op::Settle { .. } | Op::Reset => {
            assert!(accepted, "{op:?} of {limit:?}: {decision:?}")
        }
        _ => {}
    }
    match (accepted, op) {
        // What a sliding window accepts tells when its first hit leaves.
        (true, _) if matches!(limit, Limit::SlidingWindow(_)) => {
            // A settlement leaves the hits of other numbers as they are.
            let latest = if op.settles() { u64::MAX } else { now + furthest };
            assert!((now..=latest).contains(&retry_at), "{op:?} of {limit:?}: {decision:?}");
        }
        (true, _) => assert_eq!(retry_at, now),
        // A denied start, refund or settlement has no time to retry.
        (false, Op::Start { .. } | Op::Refund { .. } | Op::Settle { .. }) => {}
        (false, _) => {
            assert!(retry_at > now, "denied, with a retry at once");
            let is_soon = retry_at - now <= furthest;
            assert!(is_soon, "denied for longer than a refill: {op:?} of {limit:?}: {decision:?}");
        }
    }
    if let Limit::SlidingWindow(_) = limit {
        // No hit counts for longer than an interval, and one that is taken now counts for all of it. Servers may
        // decide by a clock that is a little ahead of the one that they tell.
        let skew = if owes { 2 * SECOND } else { 0 };
        // A settlement leaves the hits of other numbers as they are.
        let is_too_late = !op.settles() && expires_at - now > most + skew;
        assert!(!is_too_late, "a hit that counts for too long: {op:?} of {limit:?}: {decision:?}");
        assert!(taken == 0 || expires_at - now >= most, "a hit that counts too short");
        assert!(remaining == limit.capacity() || expires_at > now, "hits that do not leave");
        assert!(accepted || op.needs() > remaining || op.needs() == 0, "denied what was there");
        assert_eq!(wait, 0);
        return;
    }
    // A reservation is added to the debt.
    let added = if matches!(op, Op::Reserve { .. }) { most } else { 0 };
    // A settlement leaves times from the future as they are.
    let ends = op.settles() || expires_at - now <= furthest + LONGEST + added;
    assert!(ends, "remembered for too long: {op:?} of {limit:?}: {decision:?}");
    assert!(wait == 0 || matches!(op, Op::Reserve { max_wait, .. } if wait <= max_wait));
}
