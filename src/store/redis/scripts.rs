//! The scripts that decide on the server, their arguments and their replies.
//!
//! Paid: each algorithm stands here once more, in Lua, and the caller decides each call a second time. Got: one round trip a decision, and a
//! script that is wrong is noticed at its first wrong answer.
//!
//! A reply has the server's time and the state before the call. From these the caller makes the same decision with
//! [`apply`](crate::limit::apply), to have all its numbers; if the two disagree the call fails.

use crate::clock::frozen;
use crate::limit::{self, Leased, Limit, MAX_NOW, Op, SECOND, Span, StoredState, TokenBucket};
use crate::net::mark;
use crate::store::record;
use crate::store::request::JointRequest;
use ::redis::Script;
use once_cell::sync::Lazy;

/// A script, whose text is hashed once in a process.
pub struct ScriptSource {
    /// The script, which the server knows by the hash of its text.
    pub script: Script,
    /// The text.
    pub text: &'static str,
}

impl ScriptSource {
    /// Hashes the text.
    pub fn new(text: &'static str) -> Self {
        Self { script: Script::new(text), text }
    }
}

/// The script that these files make together. `one` is the function that decides on one key.
macro_rules! script {
    ($($file:literal),+ $(,)?) => {
        Lazy::new(|| ScriptSource::new(concat!($(include_str!($file)),+)))
    };
    ($($file:literal),+; one = $decide:ident) => {
        Lazy::new(|| ScriptSource::new(concat!(
            $(include_str!($file),)+
            "local decide = ", stringify!($decide), "\n",
            include_str!("one.lua")
        )))
    };
}

static BUCKET: Lazy<ScriptSource> = script!(
    "head.lua", "key.lua", "store.lua", "take.lua", "take_one.lua", "values.lua", "leased.lua",
    "bucket.lua";
    one = bucket
);
static WINDOW: Lazy<ScriptSource> = script!(
    "head.lua", "key.lua", "store.lua", "values.lua", "leased.lua", "window.lua";
    one = window
);
static SLIDING: Lazy<ScriptSource> = script!(
    "head.lua", "key.lua", "store.lua", "values.lua", "leased.lua", "sliding.lua";
    one = sliding
);
/// The script that takes from several keys or from none.
pub static ALL: Lazy<ScriptSource> = script!(
    "head.lua",
    "store.lua",
    "take.lua",
    "values.lua",
    "leased.lua",
    "bucket.lua",
    "window.lua",
    "sliding.lua",
    "all.lua",
);
/// The script that decides on permits.
pub static PERMITS: Lazy<ScriptSource> =
    script!("head.lua", "store.lua", "values.lua", "permits.lua");

/// The script that decides on one key under this limit.
pub fn script_for(limit: &Limit) -> &'static ScriptSource {
    match limit {
        Limit::TokenBucket(_) => &BUCKET,
        Limit::FixedWindow(_) | Limit::CalendarWindow(_) => &WINDOW,
        Limit::SlidingWindow(_) => &SLIDING,
    }
}

/// What a script does, as one letter. `head.lua` lists the opcodes.
type Opcode = u8;

/// What a script needs to know of an operation: the opcode, the numbers, and a further number of some.
type Operation = (Opcode, Vec<u8>, Option<Vec<u8>>);

/// The arguments of a call on one key, as `head.lua` and `one.lua` describe them: most calls have one, for the
/// server pays for each.
pub fn arguments(limit: &Limit, op: Op) -> Vec<Vec<u8>> {
    let (opcode, numbers, extra) = operation(limit, op);
    let mut arguments = vec![[with_mark(opcode), numbers].concat()];
    if frozen().is_some() || extra.is_some() {
        arguments.push(frozen_time());
    }
    arguments.extend(extra);
    arguments
}

/// The arguments of a call on several keys, as `head.lua` and `all.lua` describe them. `is_peek`: nothing is changed,
/// whatever the limits say.
pub fn arguments_for_all(requests: &[JointRequest<'_>], is_peek: bool) -> Vec<Vec<u8>> {
    let mut arguments = Vec::with_capacity(2 + 2 * requests.len());
    let opcode = if is_peek { b'P' } else { b'T' };
    arguments.extend([with_mark(opcode), frozen_time()]);
    for JointRequest { request, is_enforced } in requests {
        // The caller decides on a peek, from the states that the script returns.
        let op = if is_peek { Op::Take { cost: 0 } } else { *request.op };
        let (opcode, numbers, extra) = operation(request.limit, op);
        let algorithm = match request.limit {
            Limit::TokenBucket(_) => b'b',
            Limit::FixedWindow(_) | Limit::CalendarWindow(_) => b'w',
            Limit::SlidingWindow(_) => b's',
        };
        let denies = if *is_enforced { b'r' } else { b'-' };
        let how = [algorithm, opcode, denies].into_iter().chain(extra.into_iter().flatten());
        arguments.push(how.collect());
        arguments.push(numbers);
    }
    arguments
}

/// The beginning of the first argument of every script: the opcode and the mark of the call.
pub fn with_mark(opcode: Opcode) -> Vec<u8> {
    [&[opcode][..], &mark::new().to_be_bytes()].concat()
}

/// The second argument of every script: the time of a test's clock, if there is one.
pub fn frozen_time() -> Vec<u8> {
    frozen().map(time).unwrap_or_default()
}

fn time(ns: u64) -> Vec<u8> {
    let mut time = Vec::with_capacity(9);
    record::put_time(&mut time, ns);
    time
}

fn operation(limit: &Limit, op: Op) -> Operation {
    match (limit, op) {
        (_, Op::Block { duration }) => {
            // A script reads the numbers of every call.
            let (_, numbers, _) = operation(limit, Op::Reset);
            (b'B', numbers, Some(time(duration)))
        }
        (_, Op::Lease { most, least, known, fresh, spent }) => {
            let up_to = Op::TakeUpTo { most, least, leave: 0 };
            let (opcode, numbers, up_to) = operation(limit, up_to);
            let opcode = if opcode == b'U' { b'L' } else { opcode };
            (opcode, numbers, up_to.map(|it| [held(limit, [known, fresh], spent), it].concat()))
        }
        (_, Op::GiveBack { cost, known }) => {
            let (_, numbers, _) = operation(limit, Op::Refund { cost, expiry: None });
            (b'G', numbers, Some(held(limit, [known, 0], cost)))
        }
        (Limit::TokenBucket(bucket), _) => bucket_operation(bucket, op),
        _ => {
            let (opcode, mut numbers, extra) =
                window_operation(limit.capacity(), limit.window(), op);
            if let Limit::CalendarWindow(window) = limit {
                window.ends().iter().for_each(|end| record::put_time(&mut numbers, *end));
            }
            (opcode, numbers, extra)
        }
    }
}

/// What leased.lua reads first.
fn held(limit: &Limit, [known, fresh]: [u32; 2], spent: u64) -> Vec<u8> {
    let held = Leased { name: fresh, held: limit::held(limit, spent) };
    [known.to_be_bytes().to_vec(), record::encode_leased(held)].concat()
}

fn bucket_operation(bucket: &TokenBucket, op: Op) -> Operation {
    let capacity = bucket.capacity();
    let (opcode, cost, extra) = match op {
        Op::Take { cost: 0 } | Op::Reserve { cost: 0, .. } => (b'N', 0, None),
        Op::Take { cost } | Op::Reserve { cost, .. } if cost > capacity => (b'D', 0, None),
        Op::TakeUpTo { .. } if op.needs() > capacity => (b'D', 0, None),
        Op::Take { cost } => (b'T', cost, None),
        Op::TakeUpTo { most, least, leave } => {
            (b'U', 1, Some(tokens(&[most.min(capacity), least, leave])))
        }
        Op::Reserve { cost, max_wait } => (b'R', cost, Some(span(max_wait))),
        Op::Check => (b'C', 1, None),
        Op::Refund { cost, expiry } => (b'F', cost, expiry.map(time)),
        Op::Settle { cost, .. } => (b'E', cost.min(2 * capacity), None),
        Op::Start { missing } => (b'S', 0, Some(span(missing))),
        Op::Peek { .. } => (b'P', 0, None),
        // Lease and GiveBack became others in `operation`.
        Op::Reset | Op::Block { .. } | Op::Lease { .. } | Op::GiveBack { .. } => (b'X', 0, None),
    };
    let mut numbers = Vec::with_capacity(30);
    record::put_span(&mut numbers, bucket.cost_in_time(cost));
    record::put_span(&mut numbers, bucket.refill_time());
    numbers.extend((bucket.parts() as u32).to_be_bytes());
    (opcode, numbers, extra)
}

fn span(ns: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(13);
    record::put_span(&mut bytes, Span::from_ns(ns));
    bytes
}

/// Numbers of tokens or hits, of which each fits a `u32`.
fn tokens(counts: &[u64]) -> Vec<u8> {
    counts.iter().flat_map(|count| (*count as u32).to_be_bytes()).collect()
}

/// A window has no debts and no reservations: a check is a take of one hit, and a reservation a take that
/// waits for nothing.
fn window_operation(limit: u64, interval: u64, op: Op) -> Operation {
    let (opcode, cost, extra) = match op {
        Op::Take { cost: 0 } | Op::Reserve { cost: 0, .. } => (b'N', 0, None),
        Op::Take { cost } | Op::Reserve { cost, .. } if cost > limit => (b'D', 0, None),
        Op::TakeUpTo { .. } if op.needs() > limit => (b'D', 0, None),
        Op::Take { cost } | Op::Reserve { cost, .. } => (b'T', cost, None),
        Op::TakeUpTo { most, least, leave } => {
            (b'U', most.min(limit), Some(tokens(&[least, leave])))
        }
        Op::Check => (b'T', 1, None),
        // Not cut to the limit: there may be more hits, of a limit that was larger.
        Op::Refund { cost, expiry } => (b'F', cost.min(u32::MAX.into()), expiry.map(time)),
        Op::Settle { cost, expiry } => (b'E', cost.min(u32::MAX.into()), Some(time(expiry))),
        Op::Start { .. } => (b'D', 0, None),
        Op::Peek { .. } => (b'P', 0, None),
        // Lease and GiveBack became others in `operation`.
        Op::Reset | Op::Block { .. } | Op::Lease { .. } | Op::GiveBack { .. } => (b'X', 0, None),
    };
    let mut numbers = tokens(&[cost, limit]);
    record::put_time(&mut numbers, interval);
    (opcode, numbers, extra)
}

/// Removes the mark of the call from the end of a reply. None if the mark is missing: the reply belongs to
/// another call.
pub fn remove_mark(mut reply: Vec<u8>, arguments: &[Vec<u8>]) -> Option<Vec<u8>> {
    let mark = arguments.first()?.get(1..=size_of::<u64>())?;
    let end = reply.len().checked_sub(mark.len())?;
    let is_ours = reply.split_off(end) == *mark;
    is_ours.then_some(reply)
}

/// What a script returns, without the mark.
pub struct ScriptReply<B> {
    /// Whether the call was accepted.
    pub accepted: bool,
    /// The server's clock, in nanoseconds.
    pub now: u64,
    /// The state before the call, or the states of all keys. Of permits, how many are held.
    pub before: B,
}

/// The reply to a call on one key. None if the bytes are not one.
pub fn parse_reply(bytes: &[u8]) -> Option<ScriptReply<StoredState>> {
    parse(bytes, |value| Some(record::decode(value)))
}

/// The reply to a call on so many keys. None if the bytes are not one.
pub fn parse_reply_for_all(bytes: &[u8], keys: usize) -> Option<ScriptReply<Vec<StoredState>>> {
    let states = |mut rest: &[u8]| {
        let mut states = Vec::with_capacity(keys);
        for _ in 0..keys {
            let (length, after) = rest.split_first_chunk()?;
            let (value, after) = after.split_at_checked(u16::from_be_bytes(*length).into())?;
            states.push(record::decode(value));
            rest = after;
        }
        rest.is_empty().then_some(states)
    };
    parse(bytes, states)
}

/// The reply of a script; `before` reads what follows the clock. None if the bytes are not one.
pub fn parse<B>(bytes: &[u8], before: impl FnOnce(&[u8]) -> Option<B>) -> Option<ScriptReply<B>> {
    let (accepted, rest) = bytes.split_first()?;
    let mut parts = rest.splitn(3, |byte| *byte == b' ');
    let mut number = || std::str::from_utf8(parts.next()?).ok()?.parse::<u64>().ok();
    let (seconds, micros) = (number()?, number()?);
    let now = seconds.checked_mul(SECOND)?.checked_add(micros.checked_mul(1_000)?)?;
    let before = before(parts.next()?)?;
    (now <= MAX_NOW).then_some(ScriptReply { accepted: *accepted == b'1', now, before })
}
