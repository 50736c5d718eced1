//! A request, for tests of what is asked.

use super::*;
use crate::clock::boot_time;
use crate::limit::{Limit, Op};
use crate::net::Timeouts;
use crate::store::{Key, LimitKind};
use std::cell::Cell;

/// Runs `work` on a request of a call on some key.
pub fn with_request<R>(limit: &Limit, op: Op, work: impl FnOnce(&Request<'_>) -> R) -> R {
    let (key_hash, parts) = (Cell::default(), [&b"x"[..], b"", b"", b""]);
    let key = Key { parts, kind: LimitKind::TokenBucket, key_hash: &key_hash };
    let timeouts = &Timeouts::default();
    work(&Request { key: &key, limit, op: &op, now: boot_time(), timeouts })
}
