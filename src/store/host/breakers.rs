//! Breakers that all processes of the host share: one process finds out that a server is
//! down, and the others need not.
//!
//! A breaker is one word, open or closed:
//!
//! ```text
//!  127                    64 63 62                   0
//! +-------------------------+--+----------------------+
//! | the server's id         | 0| open until, ns       |
//! +-------------------------+--+----------------------+
//! | the server's id         | 1| closed since, ns     |
//! +-------------------------+--+----------------------+
//! ```

use crate::limit::SECOND;
use crate::store::file::{BREAKERS_AT, Mappable, Region};
use portable_atomic::{AtomicU128, Ordering};

const COUNT: usize = 64;

/// The breakers of a host. Only a server that has failed has one.
#[repr(C, align(128))]
pub struct Breakers([AtomicU128; COUNT]);

// SAFETY: consists of atomics, of which any bits are a value.
unsafe impl Mappable for Breakers {}

impl Default for Breakers {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicU128::new(0)))
    }
}

/// How long a server that failed is not asked: about a second, with a spread so that the hosts of a
/// fleet do not all ask it at once.
const SHORTEST_PAUSE: u64 = 900_000_000;
const SPREAD: u64 = 200_000_000;

/// A failure so soon after a success belongs to the same outage: the success may have come from
/// another node of a cluster, which serves slots of the same breaker.
const RELAPSE: u64 = SECOND;

/// Marks a closed breaker.
const CLOSED: u64 = 1 << 63;

/// A breaker that could have been probed for so long is unused: no process needs the server.
const ABANDONED: u64 = 60 * SECOND;

/// Whether a server may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permit {
    /// It may: no process has found it down.
    Granted,
    /// It was down. This caller asks it, and no other does meanwhile.
    Probe,
    /// It is down, and must not be asked before this time.
    Denied {
        /// Nanoseconds since boot.
        until: u64,
    },
}

/// What a breaker tells of its server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerState {
    /// It answers.
    Up {
        /// Since when, in nanoseconds since boot; 0 if no failure was noted.
        since: u64,
    },
    /// It does not.
    Down,
    /// It did not, and no process has asked it for a minute.
    Unknown,
}

impl Breakers {
    /// The id of the n-th breaker of a store.
    pub fn id(store: u64, nth: u64) -> u64 {
        store.wrapping_add(nth.wrapping_mul(0x9e37_79b9_7f4a_7c15)).max(1)
    }

    /// The breakers in this file.
    pub fn in_file(region: &Region) -> &Self {
        region.in_header::<Self, BREAKERS_AT>()
    }

    /// Whether a call may ask the server of this id at `now`. The call takes at most `longest`
    /// nanoseconds; while it probes the server, no other call may ask.
    pub fn permit(&self, id: u64, now: u64, longest: u64) -> Permit {
        let Some((word, seen)) = self.find(id) else { return Permit::Granted };
        match seen as u64 {
            _ if is_closed(seen) => Permit::Granted,
            until if now < until => Permit::Denied { until },
            // The one call that replaces the word may probe; all others are denied.
            _ => match replace(word, seen, entry(id, now + pause(now).max(longest))) {
                true => Permit::Probe,
                false => Permit::Denied { until: now },
            },
        }
    }

    /// Notes that the server failed. Returns whether this begins an outage: the server was up.
    pub fn note_failure(&self, id: u64, now: u64) -> bool {
        let open = entry(id, now + pause(now));
        if let Some((word, seen)) = self.find(id) {
            let since = seen as u64 & !CLOSED;
            let was_up = is_closed(seen) && now.saturating_sub(since) >= RELAPSE;
            return replace(word, seen, open) && was_up;
        }
        // A breaker that was never used, is closed or abandoned; else the one that has been waiting
        // longest for a probe.
        let free = self.words(id).find(|(_, seen)| !is_open(*seen, now));
        let idle = || self.words(id).min_by_key(|(_, seen)| *seen as u64);
        free.or_else(|| idle().filter(|(_, seen)| (*seen as u64) < now))
            .is_none_or(|(word, seen)| replace(word, seen, open))
    }

    /// Notes that the server answered a call with this permit, at `now`.
    ///
    /// Only a probe closes the breaker: calls with another permit asked before it was opened.
    pub fn note_success(&self, id: u64, permit: Permit, now: u64) {
        if permit == Permit::Probe
            && let Some((word, seen)) = self.find(id)
            && !is_closed(seen)
        {
            replace(word, seen, entry(id, CLOSED | now));
        }
    }

    /// Notes that a call with this permit could not ask the server. After a probe the next call may
    /// probe at once.
    pub fn give_back(&self, id: u64, permit: Permit, now: u64) {
        if permit == Permit::Probe
            && let Some((word, seen)) = self.find(id)
            && !is_closed(seen)
        {
            replace(word, seen, entry(id, now));
        }
    }

    /// Whether the server of this id answers.
    pub fn state(&self, id: u64, now: u64) -> ServerState {
        match self.find(id) {
            Some((_, seen)) if is_open(seen, now) => ServerState::Down,
            Some((_, seen)) if is_closed(seen) => ServerState::Up { since: seen as u64 & !CLOSED },
            Some(_) => ServerState::Unknown,
            None => ServerState::Up { since: 0 },
        }
    }

    /// The number of servers that are down, without those that no process has asked for a minute.
    pub fn count_open(&self, now: u64) -> usize {
        self.words(0).filter(|(_, seen)| is_open(*seen, now)).count()
    }

    /// All words, beginning with the one that `id` prefers.
    fn words(&self, id: u64) -> impl Iterator<Item = (&AtomicU128, u128)> {
        let (before, from) = self.0.split_at(id as usize % COUNT);
        from.iter().chain(before).map(|word| (word, word.load(Ordering::Acquire)))
    }

    /// The word of a server. Words are never zeroed again, so the search ends at the first zero.
    fn find(&self, id: u64) -> Option<(&AtomicU128, u128)> {
        self.words(id)
            .take_while(|(_, seen)| *seen != 0)
            .find(|(_, seen)| (*seen >> 64) as u64 == id)
    }
}

fn entry(id: u64, until: u64) -> u128 {
    u128::from(id) << 64 | u128::from(until)
}

fn is_closed(seen: u128) -> bool {
    seen as u64 & CLOSED != 0
}

/// Whether the server of this word is down, and was asked for within the last minute.
fn is_open(seen: u128, now: u64) -> bool {
    seen != 0 && !is_closed(seen) && (seen as u64).saturating_add(ABANDONED) > now
}

fn pause(now: u64) -> u64 {
    SHORTEST_PAUSE + now % SPREAD
}

fn replace(word: &AtomicU128, old: u128, new: u128) -> bool {
    word.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_call_notes_an_outage_and_one_call_probes() {
        let breakers = Breakers::default();
        assert_eq!(breakers.permit(7, 5, 0), Permit::Granted);
        assert!(breakers.note_failure(7, 5));
        assert!(!breakers.note_failure(7, 6), "the second failure is of the same outage");
        let Permit::Denied { until } = breakers.permit(7, 7, 0) else {
            panic!("the breaker is open")
        };
        assert!((SHORTEST_PAUSE..=7 + SHORTEST_PAUSE + SPREAD).contains(&until));
        assert_eq!(
            breakers.permit(8, 7, 0),
            Permit::Granted,
            "another server has a breaker of its own"
        );
        assert_eq!(breakers.permit(7, until, 0), Permit::Probe);
        assert!(matches!(breakers.permit(7, until, 0), Permit::Denied { .. }));
        assert!(!breakers.note_failure(7, until), "the same outage");
        breakers.note_success(7, Permit::Probe, until);
        assert_eq!(breakers.permit(7, until + 1, 0), Permit::Granted);
        assert!(breakers.note_failure(7, until + RELAPSE), "a new outage");
    }

    #[test]
    fn probe_lasts_as_long_as_its_call_may_take() {
        let breakers = Breakers::default();
        breakers.note_failure(7, 5);
        let now = 2 * SECOND;
        assert_eq!(breakers.permit(7, now, 16 * SECOND), Permit::Probe);
        let later = now + 15 * SECOND;
        assert!(matches!(breakers.permit(7, later, 16 * SECOND), Permit::Denied { .. }));
        breakers.note_success(7, Permit::Probe, later);
        assert_eq!(breakers.permit(7, later, 16 * SECOND), Permit::Granted);
    }

    #[test]
    fn answer_to_a_call_sent_before_the_outage_does_not_end_it() {
        let breakers = Breakers::default();
        let permit = breakers.permit(7, 4, 0);
        assert!(breakers.note_failure(7, 5));
        breakers.note_success(7, permit, 6);
        assert!(matches!(breakers.permit(7, 7, 0), Permit::Denied { .. }));
    }

    #[test]
    fn probe_that_was_given_back_goes_to_the_next_call() {
        let breakers = Breakers::default();
        breakers.note_failure(7, 5);
        let now = 2 * SECOND;
        let permit = breakers.permit(7, now, 0);
        assert_eq!(permit, Permit::Probe);
        breakers.give_back(7, permit, now + 5);
        assert_eq!(breakers.permit(7, now + 5, 0), Permit::Probe);
        breakers.give_back(7, Permit::Granted, now + 5);
        assert!(matches!(breakers.permit(7, now + 6, 0), Permit::Denied { .. }));
    }

    #[test]
    fn failure_soon_after_a_success_is_the_same_outage() {
        let breakers = Breakers::default();
        assert!(breakers.note_failure(7, 5));
        let mut now = 2 * SECOND;
        breakers.note_success(7, breakers.permit(7, now, 0), now);
        assert_eq!(breakers.permit(7, now, 0), Permit::Granted);
        assert!(!breakers.note_failure(7, now + RELAPSE - 1));
        now = 5 * SECOND;
        breakers.note_success(7, breakers.permit(7, now, 0), now);
        assert!(breakers.note_failure(7, now + RELAPSE), "another outage");
    }

    #[test]
    fn breaker_of_a_server_that_is_up_is_reused() {
        let breakers = Breakers::default();
        for id in 1..1_000 {
            assert!(breakers.note_failure(id, 1));
            breakers.note_success(id, Permit::Probe, 1);
        }
        assert_eq!(breakers.count_open(1), 0);
        for id in 1..=COUNT as u64 {
            breakers.note_failure(id, 1);
        }
        assert_eq!(breakers.count_open(1), COUNT);
        assert!(
            breakers.note_failure(9_999, 1),
            "without a breaker each call finds the server down"
        );
        assert_eq!(breakers.permit(9_999, 2, 0), Permit::Granted);
        // All but one are probed again; that one is replaced.
        let now = 2 * SECOND;
        for id in (1..=COUNT as u64).filter(|id| *id != 17) {
            assert_eq!(breakers.permit(id, now, 0), Permit::Probe);
        }
        assert!(breakers.note_failure(9_999, now));
        assert!(!breakers.note_failure(9_999, now), "noted once");
        assert!(matches!(breakers.permit(9_999, now, 0), Permit::Denied { .. }));
        assert_eq!(breakers.permit(17, now, 0), Permit::Granted);
    }
}
