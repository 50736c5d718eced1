//! The scripts that decide on the server, their arguments and their replies.

use crate::limit::{FixedWindow, Limit, MAX_NOW, Op, SECOND, Span, State, TokenBucket};
use crate::store::net::mark;
use crate::store::record;
use ::redis::Script;

/// A script that decides for one algorithm.
pub struct ScriptSource {
    /// The script, which the server knows by the hash of its text.
    pub script: Script,
    /// The text.
    pub text: &'static str,
}

/// The scripts, one for each algorithm.
pub struct Scripts {
    bucket: ScriptSource,
    window: ScriptSource,
}

impl Scripts {
    /// Hashes the texts of all scripts.
    pub fn new() -> Self {
        let source = |text| ScriptSource { script: Script::new(text), text };
        Self {
            bucket: source(concat!(include_str!("head.lua"), include_str!("bucket.lua"))),
            window: source(concat!(include_str!("head.lua"), include_str!("window.lua"))),
        }
    }

    /// The script that decides for this limit.
    pub fn script_for(&self, limit: &Limit) -> &ScriptSource {
        match limit {
            Limit::TokenBucket(_) => &self.bucket,
            Limit::FixedWindow(_) => &self.window,
        }
    }
}

/// What a script does, as one letter. `head.lua` lists the opcodes.
type Opcode = u8;

/// The arguments of a script, as `head.lua`, `bucket.lua` and `window.lua` describe them.
pub fn arguments(limit: &Limit, op: Op, frozen: Option<u64>) -> Vec<Vec<u8>> {
    let (opcode, numbers, extra) = match limit {
        Limit::TokenBucket(bucket) => bucket_arguments(bucket, op),
        Limit::FixedWindow(window) => window_arguments(window, op),
    };
    let opcode = [&[opcode][..], &mark::new().to_be_bytes()].concat();
    let mut arguments = Vec::with_capacity(4);
    arguments.extend([opcode, numbers]);
    if frozen.is_some() || extra.is_some() {
        let mut time = Vec::with_capacity(9);
        frozen.inspect(|frozen| record::put_time(&mut time, *frozen));
        arguments.push(time);
    }
    arguments.extend(extra);
    arguments
}

fn bucket_arguments(bucket: &TokenBucket, op: Op) -> (Opcode, Vec<u8>, Option<Vec<u8>>) {
    let most = bucket.capacity();
    let (opcode, cost, extra) = match op {
        Op::Take { cost: 0 } | Op::Reserve { cost: 0, .. } => (b'N', 0, None),
        Op::Take { cost } | Op::Reserve { cost, .. } if cost > most => (b'D', 0, None),
        Op::Take { cost } => (b'T', cost, None),
        Op::Reserve { cost, max_wait } => (b'R', cost, Some(max_wait)),
        Op::Check => (b'C', 1, None),
        Op::Refund { cost } => (b'F', cost, None),
        Op::Reset => (b'X', 0, None),
        Op::Start { missing } => (b'S', 0, Some(missing)),
        Op::Peek { .. } => (b'P', 0, None),
    };
    let mut numbers = Vec::with_capacity(30);
    record::put_span(&mut numbers, bucket.cost_in_time(cost));
    record::put_span(&mut numbers, bucket.refill_time());
    numbers.extend((bucket.parts() as u32).to_be_bytes());
    let extra = extra.map(|ns| {
        let mut bytes = Vec::with_capacity(13);
        record::put_span(&mut bytes, Span::from_ns(ns));
        bytes
    });
    (opcode, numbers, extra)
}

/// A window has no debts and no reservations: a check is a take of one hit, and a reservation a take that
/// waits for nothing.
fn window_arguments(window: &FixedWindow, op: Op) -> (Opcode, Vec<u8>, Option<Vec<u8>>) {
    let most = u64::from(window.limit());
    let (opcode, cost) = match op {
        Op::Take { cost: 0 } | Op::Reserve { cost: 0, .. } | Op::Refund { cost: 0 } => (b'N', 0),
        Op::Take { cost } | Op::Reserve { cost, .. } if cost > most => (b'D', 0),
        Op::Take { cost } | Op::Reserve { cost, .. } => (b'T', cost),
        Op::Check => (b'T', 1),
        Op::Refund { cost } => (b'F', cost.min(most)),
        Op::Reset => (b'X', 0),
        Op::Start { .. } => (b'D', 0),
        Op::Peek { .. } => (b'P', 0),
    };
    let mut numbers = Vec::with_capacity(17);
    // Fits: the cost is not above the limit, which is a `u32`.
    numbers.extend((cost as u32).to_be_bytes());
    numbers.extend(window.limit().to_be_bytes());
    record::put_time(&mut numbers, window.interval());
    (opcode, numbers, None)
}

/// Removes the mark of the call from the end of a reply. None if the mark is missing: the reply belongs to
/// another call.
pub fn remove_mark(mut reply: Vec<u8>, arguments: &[Vec<u8>]) -> Option<Vec<u8>> {
    let (_, mark) = arguments.first()?.split_first()?;
    let end = reply.len().checked_sub(mark.len())?;
    let is_ours = reply.split_off(end) == *mark;
    is_ours.then_some(reply)
}

/// What a script returns, without the mark.
pub struct ScriptReply {
    /// Whether the call was accepted.
    pub accepted: bool,
    /// The server's clock, in nanoseconds.
    pub now: u64,
    /// The state before the call.
    pub before: State,
}

impl ScriptReply {
    /// Parses a reply. None if it is not one of a script's.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let (accepted, rest) = bytes.split_first()?;
        let mut parts = rest.splitn(3, |byte| *byte == b' ');
        let mut number = || std::str::from_utf8(parts.next()?).ok()?.parse::<u64>().ok();
        let (seconds, micros) = (number()?, number()?);
        let now = seconds.checked_mul(SECOND)?.checked_add(micros.checked_mul(1_000)?)?;
        let before = record::decode(parts.next()?);
        (now <= MAX_NOW).then_some(Self { accepted: *accepted == b'1', now, before })
    }
}
