//! The scripts, and what they are given and return.

use crate::limit::{FixedWindow, Limit, MAX_NOW, Op, SECOND, Span, State, TokenBucket};
use crate::store::net::mark;
use crate::store::opcode::{EncodedOp, encode};
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
            bucket: source(concat!(include_str!("head.lua"), include_str!("bucket.lua"))),
            window: source(concat!(include_str!("head.lua"), include_str!("window.lua"))),
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
    let encoded = encode(limit, op);
    let opcode = [&[encoded.opcode as u8][..], &mark::new().to_be_bytes()].concat();
    let (numbers, extra) = match limit {
        Limit::TokenBucket(limit) => (bucket_numbers(limit, encoded), extra_argument(encoded, op)),
        Limit::FixedWindow(window) => (window_numbers(window, encoded), None),
    };
    let mut arguments = Vec::with_capacity(4);
    arguments.extend([opcode, numbers]);
    if now.is_some() || extra.is_some() {
        let mut frozen = Vec::with_capacity(9);
        now.inspect(|now| record::put_time(&mut frozen, *now));
        arguments.push(frozen);
    }
    arguments.extend(extra);
    arguments
}

fn bucket_numbers(limit: &TokenBucket, encoded: EncodedOp) -> Vec<u8> {
    let mut numbers = Vec::with_capacity(30);
    record::put_span(&mut numbers, limit.cost_in_time(encoded.cost));
    record::put_span(&mut numbers, limit.refill_time());
    numbers.extend((limit.parts() as u32).to_be_bytes());
    numbers
}

fn window_numbers(window: &FixedWindow, encoded: EncodedOp) -> Vec<u8> {
    let mut numbers = Vec::with_capacity(17);
    // Fits: a cost above the limit is not sent.
    numbers.extend((encoded.cost as u32).to_be_bytes());
    numbers.extend(window.limit().to_be_bytes());
    record::put_time(&mut numbers, window.interval());
    numbers
}

/// What some operations on a bucket need to know beside.
fn extra_argument(encoded: EncodedOp, op: Op) -> Option<Vec<u8>> {
    let span = match op {
        Op::Reserve { max_wait, .. } if encoded.opcode == 'R' => max_wait,
        Op::Start { missing } => missing,
        _ => return None,
    };
    let mut bytes = Vec::with_capacity(13);
    record::put_span(&mut bytes, Span::from_ns(span));
    Some(bytes)
}

/// What a script returned, without the mark of the call; nothing if that is another's.
pub fn unmarked(mut reply: Vec<u8>, arguments: &[Vec<u8>]) -> Option<Vec<u8>> {
    let (_, mark) = arguments.first()?.split_first()?;
    let end = reply.len().checked_sub(mark.len())?;
    let is_ours = reply.split_off(end) == *mark;
    is_ours.then_some(reply)
}

/// What a script returns, without the mark.
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
