//! The script that takes, renews and gives back permits on the server, its arguments and its reply.

use super::script_call::ScriptCall;
use super::scripts::{PERMITS, ScriptReply, frozen_time, parse, with_mark};
use super::{Redis, garbled};
use crate::error::{Error, Result};
use crate::hash::random;
use crate::limit::{MAX_PERMITS, PermitAnswer, PermitId, PermitOp, whole_seconds};
use crate::net::Timeouts;
use crate::store::key::Key;
use crate::store::name::key_name;
use crate::store::permits::PermitLists;
use crate::store::record;

/// The arguments of a call, as `permits.lua` describes them.
fn arguments(op: PermitOp) -> Vec<Vec<u8>> {
    let (opcode, lifetime, max, id) = match op {
        PermitOp::Acquire { id, max, lifetime } => (b'A', lifetime, max, id),
        PermitOp::Renew { id, lifetime } => (b'W', lifetime, 0, id),
        PermitOp::Release { id } => (b'L', 0, 0, id),
        PermitOp::Count => (b'G', 0, 0, 0),
        PermitOp::Reset => (b'X', 0, 0, 0),
    };
    let mut numbers = Vec::with_capacity(33);
    record::put_time(&mut numbers, lifetime);
    numbers.extend(whole_seconds(lifetime).to_be_bytes());
    numbers.extend(max.to_be_bytes());
    numbers.extend(id.to_be_bytes());
    vec![with_mark(opcode), frozen_time(), numbers]
}

/// The reply to a call on permits. None if the bytes are not one.
pub fn parse_permit_reply(bytes: &[u8]) -> Option<PermitAnswer> {
    let count = |rest: &[u8]| std::str::from_utf8(rest).ok()?.parse::<u32>().ok();
    let ScriptReply { accepted, before: active, .. } = parse(bytes, count)?;
    (active <= MAX_PERMITS).then_some(PermitAnswer { accepted, active })
}

/// Whether an answer can be that of an operation.
fn is_possible(op: PermitOp, PermitAnswer { accepted, active }: PermitAnswer) -> bool {
    match op {
        PermitOp::Acquire { max, .. } => active >= if accepted { 1 } else { max },
        PermitOp::Renew { .. } => !accepted || active > 0,
        PermitOp::Release { .. } => true,
        PermitOp::Count => accepted,
        PermitOp::Reset => accepted && active == 0,
    }
}

/// An id that no other permit has, on any host.
///
/// # Errors
///
/// [`ErrorKind::Local`](crate::error::ErrorKind::Local) if the system gives no random numbers.
fn new_id() -> Result<PermitId> {
    let id = random();
    let id =
        id.map_err(|error| Error::local(format!("Cannot make the id of a permit: {error}")))?;
    Ok(PermitId::from_be_bytes(id))
}

impl PermitLists for Redis {
    fn list_name(&self, key: &Key<'_>) -> Vec<u8> {
        key_name(key)
    }

    fn new_id(&self) -> Result<PermitId> {
        new_id()
    }

    /// Any operation may be repeated: one that acquires finds its id then.
    fn apply_to_list(
        &self,
        name: &[u8],
        timeouts: &Timeouts,
        op: PermitOp,
    ) -> Result<PermitAnswer> {
        let (names, arguments) = ([name.to_vec()], arguments(op));
        let script = ScriptCall { source: &PERMITS, names: &names, arguments: &arguments };
        let reply = self.run(&script, true, timeouts)?;
        parse_permit_reply(&reply).filter(|answer| is_possible(op, *answer)).ok_or_else(garbled)
    }
}
