//! Keys whose value another session on the server keeps locked.
//!
//! Each call on such a key would leave a session on the server that waits for the lock. So the third call in a row that meets
//! the lock makes all calls of the host on the key no more than read, for a second: a denial needs no lock.
//!
//! A write whose packets are lost looks like one that waits. Where one packet of 50 is lost, two writes in a row have no answer once in
//! a few hundred calls, which would keep a busy key from the store for a good part of the time; three have none once in many thousand.

use super::hot_key::HotKey;
use crate::mapped::fields::fields;
use crate::mapped::word::Word;

/// How long calls only read, in nanoseconds.
const PAUSE: u64 = 1_000_000_000;

/// How many calls in a row meet the lock until others only read.
const MOST: u32 = 3;

/// A time counts in units of so many nanoseconds.
const UNIT: u64 = 4;

fields! {
    /// The word.
    struct Met: u128 {
        /// How often in a row the lock was met, three times at most.
        count: u32 = 2,
        /// When it was met last, or after the third time until when calls only read.
        at: u64 = 62,
        key: u64 = 64,
    }
}

/// Whether calls on the key must only read at `now`.
pub fn is_locked<W: Word>(hot_key: HotKey<'_, W>, now: u64) -> bool {
    // A later time is garbage.
    let is_now = |until: u64| now < until && until <= now + PAUSE;
    met(hot_key).is_some_and(|met| met.count == MOST && is_now(met.at * UNIT))
}

/// Notes that a lock kept the server from replacing the value of the key.
pub fn note_lock<W: Word>(hot_key: HotKey<'_, W>, now: u64) {
    // Calls of several processes may meet the lock at once, also when all fail already.
    let in_a_row = now.saturating_sub(2 * PAUSE) / UNIT..=(now + PAUSE) / UNIT;
    let before = met(hot_key).filter(|met| in_a_row.contains(&met.at));
    let count = before.map_or(1, |met| MOST.min(met.count + 1));
    let at = if count == MOST { now + PAUSE } else { now };
    let met = Met { count, at: at / UNIT, key: hot_key.key };
    hot_key.record.lock_seen.store(met.to_word());
}

/// Notes that the server has replaced the value of the key.
pub fn note_swapped<W: Word>(hot_key: HotKey<'_, W>) {
    if met(hot_key).is_some() {
        hot_key.record.lock_seen.store(0);
    }
}

/// What the word says. None if it is about another key.
fn met<W: Word>(hot_key: HotKey<'_, W>) -> Option<Met> {
    let met = Met::from_word(hot_key.record.lock_seen.load());
    (met.key == hot_key.key).then_some(met)
}

#[cfg(test)]
mod tests;
