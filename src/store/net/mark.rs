//! A mark by which a reply is known to be the one to this call.
//!
//! A server sends the mark of a call back with its reply. So a reply that something on the way has
//! delayed, doubled or mixed up is not taken for another call's. A mark is no secret: it holds against
//! accidents, not against a server that lies.

use crate::clock::boot_time;
use std::hash::{BuildHasher, Hasher, RandomState};

/// A mark that no other call of this or another process has.
pub fn new() -> u64 {
    // Fuzzing plays a server that does not read what it is asked.
    if cfg!(fuzzing) {
        return u64::from_be_bytes(*b"fuzzmark");
    }
    // The state differs with each call, and the time from a parent's call to its child's.
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u64(boot_time());
    hasher.finish()
}
