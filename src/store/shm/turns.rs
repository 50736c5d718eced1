//! Taking turns at a key: processes of one host that would compare and swap at the same key of
//! a server at the same time go one after the other, and hand on what they left there.
//!
//! Who has the turn finds what the one before has written, and the token to replace it with: he
//! needs not read it first. Nothing rests on that: the server compares, so a turn that was taken
//! from someone who slept too long, or a host that knows nothing of it, costs a try and no more.
//! A process that dies with the turn keeps the others waiting for ten milliseconds, once.

use super::file::Set;
use crate::clock::boot_time;
use crate::limit::{Span, State};
use crate::store::record;
use portable_atomic::{AtomicU128, Ordering};
use siphasher::sip::SipHasher13;
use std::hash::Hasher;
use std::time::Duration;

/// The longest turn; who has not finished by then may be overtaken. A round trip is a hundredth of
/// that, but a machine with more to do than processors lets a process wait for some milliseconds.
const LONGEST: u64 = 10_000_000;
/// For how long what was handed on is worth a try.
const FRESH: u64 = 50_000_000;

/// A turn at a key; ends when it is dropped.
pub struct Turn<'a> {
    set: &'a Set,
    key: u64,
    secret: [u64; 2],
    /// What stands in the lock while it is ours; none where we go without.
    ours: Option<u128>,
}

/// What the one before us left at the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// The bucket's state.
    pub state: State,
    /// The token that the server gave for it.
    pub cas: u64,
}

impl<'a> Turn<'a> {
    /// Waits for the turn at a key of this hash, at most for `patience` nanoseconds; then goes
    /// without.
    pub fn wait(set: &'a Set, key: u64, secret: [u64; 2], patience: u64) -> Self {
        let mut turn = Self { set, key, secret, ours: None };
        let Some(lock) = set.0.first() else { return turn };
        let begun = boot_time();
        loop {
            let now = boot_time();
            let seen = lock.load(Ordering::Acquire);
            let free = seen as u64 == 0 || seen as u64 <= now || seen as u64 > now + LONGEST;
            let ours = u128::from(std::process::id()) << 64 | u128::from(now + LONGEST);
            if free
                && lock.compare_exchange(seen, ours, Ordering::AcqRel, Ordering::Acquire).is_ok()
            {
                turn.ours = Some(ours);
                return turn;
            }
            if now > begun + patience {
                return turn;
            }
            // About the time of a round trip, which is what we wait for.
            std::thread::sleep(Duration::from_micros(10 + now % 16));
        }
    }

    /// What the one before has left, unless that is too long ago or before `since`.
    pub fn left(&self, since: u64) -> Option<Left> {
        self.ours?;
        let [_, key_and_cas, times, rest, at_and_sum, ..] = &self.set.0;
        let words = [key_and_cas, times, rest].map(|word| word.load(Ordering::Acquire));
        let [key_and_cas, times, rest] = words;
        let at_and_sum = at_and_sum.load(Ordering::Acquire);
        let at = (at_and_sum >> 64) as u64;
        let now = boot_time();
        let fresh = at > since && at <= now && now < at + FRESH;
        // Written by two at once, it does not add up.
        if !fresh
            || self.sum(words, at) != at_and_sum as u64
            || (key_and_cas >> 64) as u64 != self.key
        {
            return None;
        }
        let (first, second) = ((times >> 64) as u64, times as u64);
        let state = match (rest >> 64) as u64 {
            0 => State::Filling { full_at: Span { ns: first, part: second } },
            1 => State::Reserved { full_at: first, fraction: second as u32, ahead: rest as u8 },
            2 => State::Overdrawn { forgiven_at: first, debt: second },
            _ => State::Window { ends_at: first, hits: second as u32 },
        };
        // What no server could keep has not been left at one.
        let kept = record::decode(&record::encode(state)) == state;
        kept.then_some(Left { state, cas: key_and_cas as u64 })
    }

    /// Leaves for the next what is now at the server.
    pub fn leave(&self, Left { state, cas }: Left) {
        if self.ours.is_none() {
            return;
        }
        let (kind, first, second, third) = match state {
            State::Filling { full_at } => (0u64, full_at.ns, full_at.part, 0),
            State::Reserved { full_at, fraction, ahead } => (1, full_at, fraction.into(), ahead),
            State::Overdrawn { forgiven_at, debt } => (2, forgiven_at, debt, 0),
            State::Window { ends_at, hits } => (3, ends_at, hits.into(), 0),
        };
        let words = [pair(self.key, cas), pair(first, second), pair(kind, third.into())];
        let at = boot_time();
        let all = words.into_iter().chain([pair(at, self.sum(words, at))]);
        for (to, word) in self.set.0.iter().skip(1).zip(all) {
            to.store(word, Ordering::Release);
        }
    }

    fn sum(&self, words: [u128; 3], at: u64) -> u64 {
        let [low, high] = self.secret;
        let mut hasher = SipHasher13::new_with_keys(low, high);
        for word in words {
            hasher.write_u128(word);
        }
        hasher.write_u64(at);
        hasher.finish()
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if let (Some(ours), Some(lock)) = (self.ours, self.set.0.first()) {
            // Unless someone has taken it from us.
            let _ = lock.compare_exchange(ours, 0, Ordering::AcqRel, Ordering::Acquire);
        }
    }
}

fn pair(high: u64, low: u64) -> u128 {
    u128::from(high) << 64 | u128::from(low)
}

const _: () = assert!(size_of::<Set>() / size_of::<AtomicU128>() >= 5);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::SECOND;

    fn set() -> Set {
        Set(std::array::from_fn(|_| AtomicU128::new(0)))
    }

    #[test]
    fn what_is_left_is_found_by_the_next() {
        let set = set();
        for state in [
            State::Filling { full_at: Span { ns: 7, part: 3 } },
            State::Reserved { full_at: 1 << 61, fraction: 5, ahead: 57 },
            State::Overdrawn { forgiven_at: 500, debt: 1_000 },
        ] {
            let turn = Turn::wait(&set, 1, [2, 3], SECOND);
            turn.leave(Left { state, cas: 99 });
            drop(turn);
            let next = Turn::wait(&set, 1, [2, 3], SECOND);
            assert_eq!(next.left(0), Some(Left { state, cas: 99 }));
            assert_eq!(next.left(boot_time()), None, "from before the connection stood");
            drop(next);
            assert_eq!(Turn::wait(&set, 2, [2, 3], SECOND).left(0), None, "another key's");
        }
        set.0[2].fetch_add(1, Ordering::SeqCst);
        assert_eq!(Turn::wait(&set, 1, [2, 3], SECOND).left(0), None, "torn");
    }

    #[test]
    fn what_no_server_could_keep_was_left_by_nobody() {
        let set = set();
        for state in [
            State::Filling { full_at: Span { ns: 7, part: 1 << 32 } },
            State::Reserved { full_at: u64::MAX, fraction: 1, ahead: 0 },
            State::Overdrawn { forgiven_at: 500, debt: 1 << 62 },
            State::Window { ends_at: 7, hits: 1 << 24 },
        ] {
            let turn = Turn::wait(&set, 1, [2, 3], SECOND);
            turn.leave(Left { state, cas: 99 });
            assert_eq!(turn.left(0), None, "{state:?}");
        }
    }

    #[test]
    fn a_turn_that_is_not_given_back_is_taken() {
        let set = set();
        std::mem::forget(Turn::wait(&set, 1, [0, 0], SECOND));
        let next = Turn::wait(&set, 1, [0, 0], SECOND);
        assert!(next.ours.is_some());
    }
}
