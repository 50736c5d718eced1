//! The scripts, and what they are given and return.

use crate::limit::{FixedWindow, Limit, MAX_NOW, Op, SECOND, Span, State, TokenBucket};
use crate::store::record;
use ::redis::Script;

/// A script that decides for one algorithm.
pub struct Source {
    /// Its name: the hash of its text.
    pub script: Script,
    /// Its text.
    pub text: &'static str,
}

/// The scripts, by algorithm.
pub struct Scripts {
    bucket: Source,
    window: Source,
}

impl Scripts {
    /// All of them.
    pub fn new() -> Self {
        let source = |text| Source { script: Script::new(text), text };
        Self {
            bucket: source(include_str!("bucket.lua")),
            window: source(include_str!("window.lua")),
        }
    }

    /// The one that decides for this limit.
    pub fn of(&self, limit: &Limit) -> &Source {
        match limit {
            Limit::TokenBucket(_) => &self.bucket,
            Limit::FixedWindow(_) => &self.window,
        }
    }
}

/// The script's arguments, which the scripts describe.
pub fn arguments(limit: &Limit, op: Op, now: Option<u64>) -> Vec<Vec<u8>> {
    match limit {
        Limit::TokenBucket(limit) => of_bucket(limit, op, now),
        Limit::FixedWindow(window) => of_window(window, op, now),
    }
}

fn of_bucket(limit: &TokenBucket, op: Op, now: Option<u64>) -> Vec<Vec<u8>> {
    let (letter, cost, rest) = match op {
        Op::Take { cost: 0 } | Op::Reserve { cost: 0, .. } => ("N", 0, None),
        Op::Take { cost } | Op::Reserve { cost, .. } if cost > limit.capacity() => ("D", 0, None),
        Op::Take { cost } => ("T", cost, None),
        Op::Peek { .. } => ("P", 0, None),
        Op::Check => ("C", 0, Some(limit.worth(1))),
        Op::Reserve { cost, max_wait } => ("R", cost, Some(Span::from_ns(max_wait))),
        Op::Refund { cost } => ("F", cost, None),
        Op::Reset => ("X", 0, None),
        Op::Start { missing } => ("S", 0, Some(Span::from_ns(missing))),
    };
    let mut worth = Vec::with_capacity(30);
    record::put_span(&mut worth, limit.worth(cost));
    record::put_span(&mut worth, limit.refill_time());
    worth.extend((limit.parts() as u32).to_be_bytes());
    let mut arguments = Vec::with_capacity(4);
    arguments.extend([letter.as_bytes().to_vec(), worth]);
    if rest.is_some() || now.is_some() {
        let mut bytes = Vec::new();
        rest.inspect(|rest| record::put_span(&mut bytes, *rest));
        arguments.push(bytes);
    }
    arguments.extend(now.map(frozen));
    arguments
}

fn of_window(window: &FixedWindow, op: Op, now: Option<u64>) -> Vec<Vec<u8>> {
    let limit = window.limit();
    let (letter, cost) = match op {
        Op::Take { cost: 0 } | Op::Reserve { cost: 0, .. } => ("N", 0),
        Op::Take { cost } | Op::Reserve { cost, .. } if cost > limit.into() => ("D", 0),
        Op::Take { cost } | Op::Reserve { cost, .. } => ("T", cost),
        Op::Check => ("T", 1),
        Op::Peek { .. } => ("P", 0),
        // More than there can be is all there is.
        Op::Refund { cost } => ("F", cost.min(limit.into())),
        Op::Reset => ("X", 0),
        Op::Start { .. } => ("D", 0),
    };
    let mut numbers = Vec::with_capacity(17);
    // Fits: a cost above the limit is not sent.
    numbers.extend((cost as u32).to_be_bytes());
    numbers.extend(limit.to_be_bytes());
    record::put_time(&mut numbers, window.interval());
    let mut arguments = vec![letter.as_bytes().to_vec(), numbers];
    arguments.extend(now.map(frozen));
    arguments
}

fn frozen(now: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(9);
    record::put_time(&mut bytes, now);
    bytes
}

/// What a script returns.
pub struct Reply {
    /// Whether the call was accepted.
    pub accepted: bool,
    /// The server's clock, in nanoseconds.
    pub now: u64,
    /// The state before the call.
    pub before: State,
}

impl Reply {
    /// Reads a reply, if it is one.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let (accepted, rest) = bytes.split_first()?;
        let mut parts = rest.splitn(3, |byte| *byte == b' ');
        let mut number = || std::str::from_utf8(parts.next()?).ok()?.parse::<u64>().ok();
        let (seconds, micros) = (number()?, number()?);
        let now = seconds.checked_mul(SECOND)?.checked_add(micros.checked_mul(1_000)?)?;
        let before = record::decode(parts.next()?);
        (now <= MAX_NOW).then_some(Self { accepted: *accepted == b'1', now, before })
    }
}
