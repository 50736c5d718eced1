//! Keys whose value another session on the server keeps locked.
//!
//! Each call on such a key would leave a session on the server that waits for the lock. So the third call in a row that meets
//! the lock makes all calls of the host on the key no more than read, for a second: a denial needs no lock.
//!
//! A write whose packets are lost looks like one that waits. Where one packet of 50 is lost, two writes in a row have no answer once in
//! a few hundred calls, which would keep a busy key from the store for a good part of the time; three have none once in many thousand.
//!
//! The word: the key | how often in a row the lock was met, three times at most (2 bits), and in units of four nanoseconds when it was
//! met last, or after the third time until when calls only read (62 bits).

use super::key_record::{Batches, Bell};

/// How long calls only read, in nanoseconds.
const PAUSE: u64 = 1_000_000_000;

/// How many calls in a row meet the lock until others only read.
const MOST: u64 = 3;

/// Whether calls on the key must only read at `now`.
pub fn is_locked<W: Bell, const R: usize>(batches: Batches<'_, W, R>, key: u64, now: u64) -> bool {
    // A later time is garbage.
    let is_now = |until: u64| now < until && until <= now + PAUSE;
    seen(batches, key).is_some_and(|(count, until)| count == MOST && is_now(until))
}

/// Notes that a lock kept the server from replacing the value of the key.
pub fn note_lock<W: Bell, const R: usize>(batches: Batches<'_, W, R>, key: u64, now: u64) {
    // Calls of several processes may meet the lock at once, also when all fail already.
    let in_a_row = now.saturating_sub(2 * PAUSE) / 4 * 4..=now + PAUSE;
    let before = seen(batches, key).filter(|(_, at)| in_a_row.contains(at));
    let count = before.map_or(1, |(count, _)| MOST.min(count + 1));
    let at = if count == MOST { now + PAUSE } else { now };
    batches.record.lock_seen.store(u128::from(key) << 64 | u128::from(at / 4 * 4 + count));
}

/// Notes that the server has replaced the value of the key.
pub fn note_swapped<W: Bell, const R: usize>(batches: Batches<'_, W, R>, key: u64) {
    if (batches.record.lock_seen.load() >> 64) as u64 == key {
        batches.record.lock_seen.store(0);
    }
}

/// How often in a row the lock of the key was met, and the time in the word. None if it is about another key.
fn seen<W: Bell, const R: usize>(batches: Batches<'_, W, R>, key: u64) -> Option<(u64, u64)> {
    let word = batches.record.lock_seen.load();
    let low = word as u64;
    ((word >> 64) as u64 == key).then_some((low & 3, low / 4 * 4))
}

#[cfg(test)]
mod tests;
