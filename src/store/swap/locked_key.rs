//! Keys whose value another session on the server keeps locked.
//!
//! Each call on such a key would leave a session on the server that waits for the lock. So the second call in a row that meets
//! the lock makes all calls of the host on the key fail at once, for a second.
//!
//! The word: the key | until when its calls fail, or when the lock was met for the first time.

use super::key_record::{Batches, Bell};

/// How long calls fail at once, in nanoseconds.
const PAUSE: u64 = 1_000_000_000;

/// Whether calls on the key fail at once at `now`.
pub fn is_locked<W: Bell, const R: usize>(batches: Batches<'_, W, R>, key: u64, now: u64) -> bool {
    let word = batches.record.lock_seen.load();
    let until = word as u64;
    // A later time is garbage.
    (word >> 64) as u64 == key && now < until && until <= now + PAUSE
}

/// Notes that a lock kept the server from replacing the value of the key.
pub fn note_lock<W: Bell, const R: usize>(batches: Batches<'_, W, R>, key: u64, now: u64) {
    let (word, again) = (batches.record.lock_seen.load(), now.saturating_sub(2 * PAUSE));
    // Calls of several processes may meet the lock at once, also when all fail already.
    let is_again = (word >> 64) as u64 == key && (again..=now + PAUSE).contains(&(word as u64));
    let until = if is_again { now + PAUSE } else { now };
    batches.record.lock_seen.store(u128::from(key) << 64 | u128::from(until));
}

/// Notes that the server has replaced the value of the key.
pub fn note_swapped<W: Bell, const R: usize>(batches: Batches<'_, W, R>, key: u64) {
    if (batches.record.lock_seen.load() >> 64) as u64 == key {
        batches.record.lock_seen.store(0);
    }
}

#[cfg(test)]
mod tests;
