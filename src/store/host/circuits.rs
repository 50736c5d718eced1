//! Circuit breakers that all processes of the host share: one learns that a server is down, the
//! others need not.
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
use portable_atomic::{AtomicU128, Ordering};

/// The breakers of a host. Only a server that has failed has one.
#[repr(C, align(128))]
pub struct Circuits([AtomicU128; COUNT]);

const COUNT: usize = 64;

impl Default for Circuits {
    fn default() -> Self {
        Self(std::array::from_fn(|_| AtomicU128::new(0)))
    }
}

/// For how long a server that failed is left alone: a second, more or less, so that the
/// hosts of a fleet do not all come back at once.
const SHORTEST: u64 = 900_000_000;
const SPREAD: u64 = 200_000_000;

/// A server that fails again so soon after it was tried had not come back: who answered was another
/// node of a cluster, that serves slots of the same breaker.
const RELAPSE: u64 = SECOND;

const CLOSED: u64 = 1 << 63;

/// After this time nobody asks for that server any more.
const ABANDONED: u64 = 60 * SECOND;

/// Whether a server may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permit {
    /// It may: as far as anyone knows it is up.
    Granted,
    /// It was down; this caller is the one to try it again.
    Probe,
    /// It is down, and not to be asked before this time.
    Denied {
        /// Nanoseconds since boot.
        until: u64,
    },
}

impl Circuits {
    /// Whether the server of this id may be asked, at `now`, by a call that takes `longest` nanoseconds at
    /// most: while one process tries a server again, no other does.
    pub fn permit(&self, id: u64, now: u64, longest: u64) -> Permit {
        let Some((word, seen)) = self.find(id) else { return Permit::Granted };
        match seen as u64 {
            _ if is_closed(seen) => Permit::Granted,
            until if now < until => Permit::Denied { until },
            // Of all that come now, one gets to try; the others wait for what he finds.
            _ => match replace(word, seen, entry(id, now + pause(now).max(longest))) {
                true => Permit::Probe,
                false => Permit::Denied { until: now },
            },
        }
    }

    /// Notes that the server failed; whether that is news, for it was up.
    pub fn failed(&self, id: u64, now: u64) -> bool {
        let open = entry(id, now + pause(now));
        if let Some((word, seen)) = self.find(id) {
            let since = seen as u64 & !CLOSED;
            let was_up = is_closed(seen) && now.saturating_sub(since) >= RELAPSE;
            return replace(word, seen, open) && was_up;
        }
        // One that was never had, or whose server is up again, or asked for by nobody; else the one that
        // was asked for least lately.
        let free = self.words(id).find(|(_, seen)| !is_open(*seen, now));
        let idle = || self.words(id).min_by_key(|(_, seen)| *seen as u64);
        free.or_else(|| idle().filter(|(_, seen)| (*seen as u64) < now))
            .is_none_or(|(word, seen)| replace(word, seen, open))
    }

    /// Notes that the server answered who had this permit, at `now`.
    ///
    /// Only who was sent to try it closes the breaker: others have asked before it was opened.
    pub fn succeeded(&self, id: u64, permit: Permit, now: u64) {
        if permit == Permit::Probe
            && let Some((word, seen)) = self.find(id)
            && !is_closed(seen)
        {
            replace(word, seen, entry(id, CLOSED | now));
        }
    }

    /// Notes that the process that was to try the server could not ask it: the next one may.
    pub fn give_back(&self, id: u64, permit: Permit, now: u64) {
        if permit == Permit::Probe
            && let Some((word, seen)) = self.find(id)
            && !is_closed(seen)
        {
            replace(word, seen, entry(id, now));
        }
    }

    /// How many servers are down, of those that someone asks for.
    pub fn open(&self, now: u64) -> usize {
        self.words(0).filter(|(_, seen)| is_open(*seen, now)).count()
    }

    /// All words, first the one that `id` would rather have.
    fn words(&self, id: u64) -> impl Iterator<Item = (&AtomicU128, u128)> {
        let (before, from) = self.0.split_at(id as usize % COUNT);
        from.iter().chain(before).map(|word| (word, word.load(Ordering::Acquire)))
    }

    /// The word of a server. It is not behind one that nobody ever had: none is given back.
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

/// Whether the server of this word is down, and someone asks for it.
fn is_open(seen: u128, now: u64) -> bool {
    seen != 0 && !is_closed(seen) && (seen as u64).saturating_add(ABANDONED) > now
}

fn pause(now: u64) -> u64 {
    SHORTEST + now % SPREAD
}

fn replace(word: &AtomicU128, old: u128, new: u128) -> bool {
    word.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_outage_is_noted_once_and_probed_by_one() {
        let circuits = Circuits::default();
        assert_eq!(circuits.permit(7, 5, 0), Permit::Granted);
        assert!(circuits.failed(7, 5));
        assert!(!circuits.failed(7, 6), "the second to fail says nothing");
        let Permit::Denied { until } = circuits.permit(7, 7, 0) else { panic!("open") };
        assert!((SHORTEST..=7 + SHORTEST + SPREAD).contains(&until));
        assert_eq!(circuits.permit(8, 7, 0), Permit::Granted, "another server is not concerned");
        assert_eq!(circuits.permit(7, until, 0), Permit::Probe);
        assert!(matches!(circuits.permit(7, until, 0), Permit::Denied { .. }));
        assert!(!circuits.failed(7, until), "still the same outage");
        circuits.succeeded(7, Permit::Probe, until);
        assert_eq!(circuits.permit(7, until + 1, 0), Permit::Granted);
        assert!(circuits.failed(7, until + RELAPSE), "a new one");
    }

    #[test]
    fn one_process_tries_for_as_long_as_its_call_may_take() {
        let circuits = Circuits::default();
        circuits.failed(7, 5);
        let now = 2 * SECOND;
        assert_eq!(circuits.permit(7, now, 16 * SECOND), Permit::Probe);
        let later = now + 15 * SECOND;
        assert!(matches!(circuits.permit(7, later, 16 * SECOND), Permit::Denied { .. }));
        circuits.succeeded(7, Permit::Probe, later);
        assert_eq!(circuits.permit(7, later, 16 * SECOND), Permit::Granted);
    }

    #[test]
    fn an_answer_to_who_asked_before_an_outage_does_not_end_it() {
        let circuits = Circuits::default();
        let permit = circuits.permit(7, 4, 0);
        assert!(circuits.failed(7, 5));
        circuits.succeeded(7, permit, 6);
        assert!(matches!(circuits.permit(7, 7, 0), Permit::Denied { .. }));
    }

    #[test]
    fn process_that_could_not_try_lets_the_next_one() {
        let circuits = Circuits::default();
        circuits.failed(7, 5);
        let now = 2 * SECOND;
        let permit = circuits.permit(7, now, 0);
        assert_eq!(permit, Permit::Probe);
        circuits.give_back(7, permit, now + 5);
        assert_eq!(circuits.permit(7, now + 5, 0), Permit::Probe);
        circuits.give_back(7, Permit::Granted, now + 5);
        assert!(matches!(circuits.permit(7, now + 6, 0), Permit::Denied { .. }));
    }

    #[test]
    fn a_relapse_is_no_news() {
        let circuits = Circuits::default();
        assert!(circuits.failed(7, 5));
        let mut now = 2 * SECOND;
        circuits.succeeded(7, circuits.permit(7, now, 0), now);
        assert_eq!(circuits.permit(7, now, 0), Permit::Granted);
        assert!(!circuits.failed(7, now + RELAPSE - 1));
        now = 5 * SECOND;
        circuits.succeeded(7, circuits.permit(7, now, 0), now);
        assert!(circuits.failed(7, now + RELAPSE), "another outage");
    }

    #[test]
    fn there_is_room_for_servers_that_come_and_go() {
        let circuits = Circuits::default();
        for id in 1..1_000 {
            assert!(circuits.failed(id, 1));
            circuits.succeeded(id, Permit::Probe, 1);
        }
        assert_eq!(circuits.open(1), 0);
        for id in 1..=COUNT as u64 {
            circuits.failed(id, 1);
        }
        assert_eq!(circuits.open(1), COUNT);
        assert!(circuits.failed(9_999, 1), "without room everyone finds out for himself");
        assert_eq!(circuits.permit(9_999, 2, 0), Permit::Granted);
        // All but one are asked for again; that one makes room.
        let now = 2 * SECOND;
        for id in (1..=COUNT as u64).filter(|id| *id != 17) {
            assert_eq!(circuits.permit(id, now, 0), Permit::Probe);
        }
        assert!(circuits.failed(9_999, now));
        assert!(!circuits.failed(9_999, now), "told once");
        assert!(matches!(circuits.permit(9_999, now, 0), Permit::Denied { .. }));
        assert_eq!(circuits.permit(17, now, 0), Permit::Granted);
    }
}
