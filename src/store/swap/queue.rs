//! The hot-key queue: processes of one host that swap the same value on a server go one after the
//! other, and each hands the next the state that it wrote.
//!
//! The next process then need not read the value first. The queue is never needed for correctness,
//! since the server compares before it swaps. A ticket that another process took over from a slow
//! one costs a try, as does a host that does not share the queue. A process that dies with its ticket
//! delays the others once, until the ticket expires.
//!
//! A set of eight words is the queue of its keys: the lock, then a hand-off.
//!
//! ```text
//! word 0     owner's process id, or key and HELD_OFF | the lock expires at
//! word 1     key                                     | version
//! words 2-3  length and bytes of the state's record
//! word 4     clock: time                             | sent at
//! word 5     clock: read at                          | handed off at
//! word 6     checksum of words 1 to 5
//! ```

use crate::clock::{Reading, boot_time};
use crate::limit::StoredState;
use crate::mapped::{Area, MappedFile};
use crate::store::shm::keys::Keys;
use crate::store::shm::set::{Set, locate};
use crate::store::{Key, record};
use portable_atomic::Ordering;
use siphasher::sip::SipHasher13;
use std::hash::Hasher;
use std::rc::Rc;
use std::time::Duration;

/// The longest lifetime of a ticket, in nanoseconds; also how long a key is held off.
const MAX_LIFETIME: u64 = 1_000_000_000;
/// Marks the owner of a lock as a key that is held off. No process has such an id.
const HELD_OFF: u64 = 1 << 63;
/// How long a hand-off is used, in nanoseconds. An older one is likely to be out of date.
const HANDOFF_LIFETIME: u64 = 50_000_000;
/// The most bytes of a record that a hand-off has room for, behind a byte for their number.
const MAX_RECORD: usize = 31;

/// The queues of a kind of store, in the file that the processes of a host share.
pub struct Queue {
    file: Rc<MappedFile>,
    keys: Keys,
    /// How long a ticket is valid, in nanoseconds.
    lifetime: u64,
}

impl Queue {
    /// The queues of a kind of store, whose tickets are valid for `lifetime`.
    pub fn new(kind: &str, lifetime: Duration, host_file: Rc<MappedFile>) -> Self {
        let mut hasher = SipHasher13::new();
        hasher.write(kind.as_bytes());
        let keys = Keys::new(hasher.finish().max(1));
        Self { file: host_file, keys, lifetime: lifetime.as_nanos() as u64 }
    }

    /// Queues for a hot key, at most for `timeout` nanoseconds, and does `work` with a ticket; without one if no file
    /// can be had.
    pub fn wait<R>(
        &self,
        key: &Key<'_>,
        timeout: u64,
        work: impl FnOnce(Option<&Ticket<'_>>) -> R,
    ) -> R {
        let region = self.file.open_if_due(boot_time()).ok().map(|()| self.file.region());
        let Some(region) = region.as_deref().and_then(Option::as_ref) else { return work(None) };
        let hash = self.keys.hash(key, region, self.file.number());
        match locate(region.area(Area::Queue), hash) {
            Some((set, _)) => {
                work(Some(&Ticket::wait(set, hash, region.secret(), self.lifetime, timeout)))
            }
            None => work(None),
        }
    }
}

/// A process's place in the queue for a key, given up when it is dropped.
pub struct Ticket<'a> {
    set: &'a Set,
    key: u64,
    secret: [u64; 2],
    /// The lock's value while this process holds it; none if the wait timed out.
    lock: Option<u128>,
    /// Whether a process of this host has held the key off (see [`hold_off`](Self::hold_off)).
    pub is_held_off: bool,
}

/// What the previous process wrote on the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handoff {
    /// The bucket's state.
    pub state: StoredState,
    /// By what the server, or the store, recognises this value.
    pub version: u64,
    /// The clock reading that the process decided by.
    pub clock: Reading,
}

impl<'a> Ticket<'a> {
    /// Waits until no other process has a ticket in the set, which all its keys share. After `timeout` nanoseconds
    /// it returns a ticket without a lock. Another process may take over a ticket that is older than
    /// `lifetime` nanoseconds.
    pub fn wait(set: &'a Set, key: u64, secret: [u64; 2], lifetime: u64, timeout: u64) -> Self {
        let mut ticket = Self { set, key, secret, lock: None, is_held_off: false };
        let [lock, ..] = &set.0;
        let start = boot_time();
        loop {
            let now = boot_time();
            let seen = lock.load(Ordering::Acquire);
            let expires_at = seen as u64;
            // A time beyond that of any ticket is garbage.
            let is_expired = expires_at <= now || expires_at > now + MAX_LIFETIME;
            let owner = (seen >> 64) as u64;
            if !is_expired && owner == key | HELD_OFF {
                ticket.is_held_off = true;
                return ticket;
            }
            // The mark of another key may be overwritten: it only spares the server some sessions.
            let is_free = is_expired || owner & HELD_OFF != 0;
            let own = pair(u64::from(std::process::id()), now + lifetime.min(MAX_LIFETIME));
            if is_free
                && lock.compare_exchange(seen, own, Ordering::AcqRel, Ordering::Acquire).is_ok()
            {
                ticket.lock = Some(own);
                return ticket;
            }
            if now > start + timeout {
                return ticket;
            }
            // Short beside the round trip of the process that is waited for.
            std::thread::sleep(Duration::from_micros(10 + now % 16));
        }
    }

    /// Holds the key off for a second: the processes of this host that queue for it fail at once.
    pub fn hold_off(&self) {
        let [lock, ..] = &self.set.0;
        lock.store(pair(self.key | HELD_OFF, boot_time() + MAX_LIFETIME), Ordering::Release);
    }

    /// What the previous process handed off, unless that was too long ago.
    pub fn handoff(&self) -> Option<Handoff> {
        self.lock?;
        let [_, a, b, c, d, e, f, ..] = &self.set.0;
        let words = [a, b, c, d, e, f].map(|word| word.load(Ordering::Acquire));
        let [key_and_version, first, second, clock, times, checksum] = words;
        let written_at = times as u64;
        let now = boot_time();
        let is_fresh = written_at <= now && now < written_at + HANDOFF_LIFETIME;
        // The checksum rejects a mix of what two processes wrote at once.
        if !is_fresh || self.checksum([key_and_version, first, second, clock, times]) != checksum {
            return None;
        }
        if (key_and_version >> 64) as u64 != self.key {
            return None;
        }
        let [length, bytes @ ..] = to_bytes([first, second]);
        let state = record::try_decode(bytes.get(..usize::from(length))?)?;
        let (time, read_at) = ((clock >> 64) as u64, (times >> 64) as u64);
        let clock = Reading { time, sent_at: clock as u64, read_at };
        Some(Handoff { state, version: key_and_version as u64, clock })
    }

    /// Hands the next process the state that is on the server now. A state whose record is too long
    /// is not handed off; the next process reads it.
    pub fn hand_off(&self, state: &StoredState, version: u64, clock: Reading) {
        if self.lock.is_none() {
            return;
        }
        let record = record::encode(state);
        if record.len() > MAX_RECORD {
            // What is there from before is out of date: a swap that begins with it would be lost.
            let [.., checksum, _] = &self.set.0;
            return checksum.store(0, Ordering::Release);
        }
        let mut bytes = [0; 32];
        // Fits: at most MAX_RECORD.
        bytes[0] = record.len() as u8;
        for (to, from) in bytes.iter_mut().skip(1).zip(record) {
            *to = from;
        }
        let [first, second] = to_words(bytes);
        let times = pair(clock.read_at, boot_time());
        let clock = pair(clock.time, clock.sent_at);
        let words = [pair(self.key, version), first, second, clock, times];
        let all = words.into_iter().chain([self.checksum(words)]);
        for (to, word) in self.set.0.iter().skip(1).zip(all) {
            to.store(word, Ordering::Release);
        }
    }

    fn checksum(&self, words: [u128; 5]) -> u128 {
        let [low, high] = self.secret;
        let mut hasher = SipHasher13::new_with_keys(low, high);
        for word in words {
            hasher.write_u128(word);
        }
        hasher.finish().into()
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let [lock, ..] = &self.set.0;
        if let Some(own) = self.lock {
            // Fails if the ticket has expired and another process has taken over the lock.
            let _ = lock.compare_exchange(own, 0, Ordering::AcqRel, Ordering::Acquire);
        }
    }
}

const fn pair(high: u64, low: u64) -> u128 {
    (high as u128) << 64 | low as u128
}

fn to_words(bytes: [u8; 32]) -> [u128; 2] {
    let (first, second) = bytes.split_at(16);
    [first, second].map(|half| half.iter().fold(0, |word, byte| word << 8 | u128::from(*byte)))
}

fn to_bytes([first, second]: [u128; 2]) -> [u8; 32] {
    let mut bytes = [0; 32];
    let both = first.to_be_bytes().into_iter().chain(second.to_be_bytes());
    bytes.iter_mut().zip(both).for_each(|(to, from)| *to = from);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::{Hits, SECOND, Span, State};
    use portable_atomic::AtomicU128;

    const CLOCK: Reading = Reading { time: 5, sent_at: 6, read_at: 7 };

    fn set() -> Set {
        Set(std::array::from_fn(|_| AtomicU128::new(0)))
    }

    #[test]
    fn next_process_gets_what_was_handed_off() {
        let set = set();
        for state in [
            State::Filling { full_at: Span { ns: 7, part: 3 } },
            State::Reserved { full_at: 1 << 61, fraction: 5, ahead: 57 },
            State::Overdrawn { forgiven_at: 500, debt: 1_000 },
            State::Window { ends_at: 1 << 60, hits: 9 },
            State::Blocked { until: 1 << 60 },
        ] {
            let state = StoredState::Word(state);
            let ticket = Ticket::wait(&set, 1, [2, 3], SECOND, SECOND);
            ticket.hand_off(&state, 99, CLOCK);
            drop(ticket);
            let next = Ticket::wait(&set, 1, [2, 3], SECOND, SECOND);
            let handoff = next.handoff().unwrap();
            assert_eq!((handoff.state, handoff.version, handoff.clock), (state, 99, CLOCK));
            drop(next);
            assert_eq!(
                Ticket::wait(&set, 2, [2, 3], SECOND, SECOND).handoff(),
                None,
                "a hand-off of another key"
            );
        }
        set.0[2].fetch_add(1, Ordering::SeqCst);
        assert_eq!(
            Ticket::wait(&set, 1, [2, 3], SECOND, SECOND).handoff(),
            None,
            "the words do not match the checksum"
        );
    }

    #[test]
    fn handoff_of_a_state_that_no_record_can_hold_is_ignored() {
        let set = set();
        let ticket = Ticket::wait(&set, 1, [2, 3], SECOND, SECOND);
        for state in [
            State::Reserved { full_at: u64::MAX, fraction: 1, ahead: 0 },
            State::Overdrawn { forgiven_at: 500, debt: 1 << 62 },
        ] {
            let state = StoredState::Word(state);
            ticket.hand_off(&state, 99, CLOCK);
            assert_eq!(ticket.handoff(), None, "{state:?}");
        }
    }

    #[test]
    fn state_too_long_for_a_handoff_ends_the_one_before() {
        let set = set();
        let hits = |count| StoredState::Hits(Hits::new(vec![SECOND; count]));
        let ticket = Ticket::wait(&set, 1, [2, 3], SECOND, SECOND);
        ticket.hand_off(&hits(3), 99, CLOCK);
        assert_eq!(ticket.handoff().unwrap().state, hits(3));
        ticket.hand_off(&hits(4), 100, CLOCK);
        assert_eq!(ticket.handoff(), None);
    }

    #[test]
    fn held_off_key_is_held_off_for_all_processes_of_the_host() {
        let set = set();
        let ticket = Ticket::wait(&set, 1, [0, 0], SECOND, SECOND);
        ticket.hold_off();
        drop(ticket);
        assert!(Ticket::wait(&set, 1, [0, 0], SECOND, SECOND).is_held_off);
        let other = Ticket::wait(&set, 2, [0, 0], SECOND, SECOND);
        assert!(!other.is_held_off && other.lock.is_some(), "another key");
    }

    #[test]
    fn lock_of_a_dead_process_is_taken_over() {
        let set = set();
        std::mem::forget(Ticket::wait(&set, 1, [0, 0], 1_000, SECOND));
        let next = Ticket::wait(&set, 1, [0, 0], 1_000, SECOND);
        assert!(next.lock.is_some());
    }
}
