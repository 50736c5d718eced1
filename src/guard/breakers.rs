//! Breakers that all processes of the host share: one process finds out that a server is
//! down, and the others need not.
//!
//! A breaker opens at the second failure in a row, if no process has had an answer for 40 ms by then, or at the
//! first if no process has had one for a second. A call that fails beside others that succeed opens nothing: a
//! lost packet or a refused connection says nothing of the server.
//!
//! A breaker's state is one word, open or closed:
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
use crate::mapped::{BREAKERS_AT, HOST_BODY_AT, Mappable, Region};
use portable_atomic::{AtomicU64, AtomicU128, Ordering};

const COUNT: usize = 256;

/// The breakers of a host. Each server that a process has asked has one.
#[repr(C, align(128))]
pub struct Breakers([Breaker; COUNT]);

// SAFETY: consists of atomics, of which any bits are a value.
unsafe impl Mappable for Breakers {}

#[repr(C)]
struct Breaker {
    state: AtomicU128,
    /// When a process last had an answer, in nanoseconds since boot; at most [`RESOLUTION`] too early.
    answered_at: AtomicU64,
    /// When the first call failed since the last answer, in nanoseconds since boot; or, while the breaker is open, when a
    /// process last failed that asked on a connection which the server had not closed.
    failed_at: AtomicU64,
}

impl Default for Breakers {
    fn default() -> Self {
        let breaker = || Breaker {
            state: AtomicU128::new(0),
            answered_at: AtomicU64::new(0),
            failed_at: AtomicU64::new(0),
        };
        Self(std::array::from_fn(|_| breaker()))
    }
}

/// How long a server that failed is not asked: about a second, with a spread so that the hosts of a
/// fleet do not all ask it at once.
const SHORTEST_PAUSE: u64 = 900_000_000;
const SPREAD: u64 = 200_000_000;

/// A failure so soon after a success belongs to the same outage: the success may have come from
/// another node of a cluster, which serves slots of the same breaker.
const RELAPSE: u64 = SECOND;

/// Without an answer for so long to any process, the first failure is an outage.
const LONG_SILENCE: u64 = SECOND;

/// The shortest time without an answer that failures in a row must show to be an outage. Several processes that
/// are refused at the same moment show none, and it is rare that lost packets keep all processes waiting for so
/// long. Calls that time out after 50 ms show it when they are on their way as the server dies.
pub const SHORTEST_SILENCE: u64 = 40_000_000;

/// How long a probe keeps other processes from the server at most, in nanoseconds: its process may have been killed.
const LONGEST_PROBE: u64 = 3 * SECOND;

/// How long no process asks on an open connection after one has failed to while the breaker is open.
const BETWEEN_TRIES: u64 = 100_000_000;

/// How often an answer is noted at most, unless a call has failed since the last: each note takes the cache
/// line from the other processes.
const RESOLUTION: u64 = 1_000_000;

/// Marks a closed breaker.
const CLOSED: u64 = 1 << 63;

/// A breaker that could have been probed for so long is unused: no process needs the server.
const ABANDONED: u64 = 60 * SECOND;

/// Whether a server may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It may: no process has found it down.
    Granted,
    /// It was down. This caller asks it, and no other does meanwhile.
    Probe,
    /// It may be down, but has not closed the connection of this caller, which asks on it.
    Connected,
    /// It is down, and must not be asked before this time.
    Denied {
        /// Nanoseconds since boot.
        until: u64,
    },
}

/// What the failure of a call means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureMeaning {
    /// It may concern this call alone: it is the first in a row, or other calls were answered a moment ago.
    CallAlone,
    /// The server is down, and this failure has opened the breaker.
    OutageBegins,
    /// The server is still down.
    OutageContinues,
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
        region.in_header::<Self, BREAKERS_AT, HOST_BODY_AT>()
    }

    /// Whether a call may ask the server of this id at `now`. The call takes at most `longest`
    /// nanoseconds; while it probes the server, no other call may ask.
    pub fn access(&self, id: u64, now: u64, longest: u64) -> Access {
        let Some((breaker, seen)) = self.find(id) else { return Access::Granted };
        match seen as u64 {
            _ if is_closed(seen) => Access::Granted,
            until if now < until => Access::Denied { until },
            // The one call that replaces the word may probe; all others are denied.
            _ => {
                let until = now + pause(now).max(longest.min(LONGEST_PROBE));
                match replace(&breaker.state, seen, entry(id, until)) {
                    true => Access::Probe,
                    false => Access::Denied { until: now },
                }
            }
        }
    }

    /// Whether a process that the server has not disconnected may ask at `now` although the breaker is open: unless
    /// another one has failed to within a tenth of a second. Each pays at most one time-out for it, which costs it the
    /// connection.
    pub fn may_try_connection(&self, id: u64, now: u64) -> bool {
        let Some((breaker, _)) = self.find(id) else { return true };
        now.saturating_sub(breaker.failed_at.load(Ordering::Relaxed)) >= BETWEEN_TRIES
    }

    /// Notes that a call with this access failed at `now`, which was sent at `sent`.
    pub fn note_failure(&self, id: u64, access: Access, sent: u64, now: u64) -> FailureMeaning {
        let open = entry(id, now + pause(now));
        if let Some((breaker, seen)) = self.find(id) {
            if is_closed(seen) && !breaker.is_silent(sent, now) {
                return FailureMeaning::CallAlone;
            }
            // A call that was sent before the outage must not end the time of another one's probe.
            let is_probed_by_another = access == Access::Granted && seen > open;
            if !is_closed(seen) && access == Access::Connected {
                breaker.failed_at.store(now, Ordering::Relaxed);
            }
            if !is_closed(seen) && (is_probed_by_another || access == Access::Connected) {
                return FailureMeaning::OutageContinues;
            }
            breaker.failed_at.store(0, Ordering::Relaxed);
            let since = seen as u64 & !CLOSED;
            let was_up = is_closed(seen) && now.saturating_sub(since) >= RELAPSE;
            return match replace(&breaker.state, seen, open) && was_up {
                true => FailureMeaning::OutageBegins,
                false => FailureMeaning::OutageContinues,
            };
        }
        // Else the closed breaker that answered longest ago, else the one that has been waiting longest for a
        // probe.
        let closed = || self.breakers(id).filter(|(_, seen)| !is_open(*seen, now));
        let oldest = || closed().min_by_key(|(breaker, _)| breaker.answered_at());
        let idle = || self.breakers(id).min_by_key(|(_, seen)| *seen as u64);
        let idle = || idle().filter(|(_, seen)| (*seen as u64) < now);
        match self.unused(id, now).or_else(oldest).or_else(idle) {
            Some((breaker, seen)) if !replace(&breaker.state, seen, open) => {
                FailureMeaning::OutageContinues
            }
            _ => FailureMeaning::OutageBegins,
        }
    }

    /// Notes that the server answered a call with this access, at `now`.
    ///
    /// A call that was granted access asked before the breaker was opened, and does not close it.
    pub fn note_success(&self, id: u64, access: Access, now: u64) {
        let Some((breaker, seen)) = self.find(id) else { return self.claim_for_answers(id, now) };
        breaker.note_answer(now);
        if matches!(access, Access::Probe | Access::Connected) && !is_closed(seen) {
            replace(&breaker.state, seen, entry(id, CLOSED | now));
        }
    }

    /// Gives the server of this id a breaker, which notes its answers, unless all are in use. One is free, too, if it is
    /// closed and the next failure would open it in any case, or if no process has asked for a probe since a second.
    #[cold]
    fn claim_for_answers(&self, id: u64, now: u64) {
        let is_free = |breaker: &Breaker, seen| match is_closed(seen) {
            true => now.saturating_sub(breaker.answered_at()) >= LONG_SILENCE,
            false => now.saturating_sub(seen as u64) >= LONG_SILENCE,
        };
        let free = || self.breakers(id).find(|(breaker, seen)| is_free(breaker, *seen));
        if let Some((breaker, seen)) = self.unused(id, now).or_else(free) {
            // Before the id, or a failure meanwhile would be judged by the answers of another server.
            breaker.note_answer(now);
            replace(&breaker.state, seen, entry(id, CLOSED));
        }
    }

    /// A breaker that was never used, or whose server no process has had an answer of for a minute.
    fn unused(&self, id: u64, now: u64) -> Option<(&Breaker, u128)> {
        self.breakers(id).find(|(breaker, seen)| {
            let is_silent = breaker.answered_at().saturating_add(ABANDONED) < now;
            *seen == 0 || !is_open(*seen, now) && is_silent
        })
    }

    /// Notes that a call with this access could not ask the server. After a probe the next call may
    /// probe at once.
    pub fn give_back(&self, id: u64, access: Access, now: u64) {
        if access == Access::Probe
            && let Some((breaker, seen)) = self.find(id)
            && !is_closed(seen)
        {
            replace(&breaker.state, seen, entry(id, now));
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
        self.breakers(0).filter(|(_, seen)| is_open(*seen, now)).count()
    }

    /// All breakers with their states, beginning with the one that `id` prefers.
    fn breakers(&self, id: u64) -> impl Iterator<Item = (&Breaker, u128)> {
        let (before, from) = self.0.split_at(id as usize % COUNT);
        let all = from.iter().chain(before);
        all.map(|breaker| (breaker, breaker.state.load(Ordering::Acquire)))
    }

    /// The breaker of a server. States are never zeroed again, so the search ends at the first zero.
    fn find(&self, id: u64) -> Option<(&Breaker, u128)> {
        self.breakers(id)
            .take_while(|(_, seen)| *seen != 0)
            .find(|(_, seen)| (*seen >> 64) as u64 == id)
    }
}

impl Breaker {
    fn answered_at(&self) -> u64 {
        self.answered_at.load(Ordering::Relaxed)
    }

    /// Notes that a process had an answer.
    fn note_answer(&self, now: u64) {
        let noted = self.answered_at();
        if now >= noted.saturating_add(RESOLUTION)
            || noted <= self.failed_at.load(Ordering::Relaxed)
        {
            self.answered_at.fetch_max(now, Ordering::Relaxed);
        }
    }

    /// Whether a call that was sent at `sent` and failed at `now` shows that the server answers no process.
    fn is_silent(&self, sent: u64, now: u64) -> bool {
        let answered_at = self.answered_at();
        if now.saturating_sub(answered_at) >= LONG_SILENCE {
            return true;
        }
        let mut failed_at = self.failed_at.load(Ordering::Relaxed);
        if failed_at <= answered_at {
            let (order, word) = (Ordering::Relaxed, &self.failed_at);
            match word.compare_exchange(failed_at, now, order, order) {
                Ok(_) => return false,
                Err(noted) => failed_at = noted,
            }
        }
        let silent_since = failed_at.min(sent).max(answered_at);
        now.saturating_sub(silent_since) >= SHORTEST_SILENCE
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

    /// Notes a failure of a call that was sent at the time of its failure. Returns whether an outage begins.
    fn begins_outage(breakers: &Breakers, id: u64, now: u64) -> bool {
        breakers.note_failure(id, Access::Granted, now, now) == FailureMeaning::OutageBegins
    }

    #[test]
    fn answers_are_noted_although_each_breaker_had_a_server_a_moment_ago() {
        let breakers = Breakers::default();
        let servers = || 1..=COUNT as u64;
        servers().for_each(|id| breakers.note_success(id, Access::Granted, SECOND));
        let (id, now) = (1_000, SECOND + LONG_SILENCE);
        breakers.note_success(id, Access::Granted, now);
        assert!(!begins_outage(&breakers, id, now + 1));
        assert_eq!(servers().filter(|id| breakers.find(*id).is_none()).count(), 1);
        breakers.note_success(2_000, Access::Granted, now);
        servers().skip(1).for_each(|id| breakers.note_success(id, Access::Granted, now));
        assert!(breakers.find(id).is_some(), "a server that has just answered keeps its breaker");
    }

    #[test]
    fn one_call_notes_an_outage_and_one_call_probes() {
        let breakers = Breakers::default();
        assert_eq!(breakers.access(7, 5, 0), Access::Granted);
        assert!(begins_outage(&breakers, 7, 5));
        assert!(!begins_outage(&breakers, 7, 6), "the second failure is of the same outage");
        let Access::Denied { until } = breakers.access(7, 7, 0) else {
            panic!("the breaker is open")
        };
        assert!((SHORTEST_PAUSE..=7 + SHORTEST_PAUSE + SPREAD).contains(&until));
        assert_eq!(
            breakers.access(8, 7, 0),
            Access::Granted,
            "another server has a breaker of its own"
        );
        assert_eq!(breakers.access(7, until, 0), Access::Probe);
        assert!(matches!(breakers.access(7, until, 0), Access::Denied { .. }));
        assert!(!begins_outage(&breakers, 7, until), "the same outage");
        breakers.note_success(7, Access::Probe, until);
        assert_eq!(breakers.access(7, until + 1, 0), Access::Granted);
        assert!(begins_outage(&breakers, 7, until + RELAPSE), "a new outage");
    }

    #[test]
    fn probe_lasts_as_long_as_its_call_may_take() {
        let breakers = Breakers::default();
        breakers.note_failure(7, Access::Granted, 5, 5);
        let now = 2 * SECOND;
        assert_eq!(breakers.access(7, now, 2 * SECOND), Access::Probe);
        let later = now + 2 * SECOND - 1;
        breakers.note_failure(7, Access::Granted, now - 1, now + 1);
        assert!(matches!(breakers.access(7, later, 2 * SECOND), Access::Denied { .. }));
        breakers.note_success(7, Access::Probe, later);
        assert_eq!(breakers.access(7, later, 2 * SECOND), Access::Granted);
    }

    #[test]
    fn probe_of_a_process_that_was_killed_keeps_others_for_three_seconds_at_most() {
        let breakers = Breakers::default();
        breakers.note_failure(7, Access::Granted, 5, 5);
        let now = 2 * SECOND;
        assert_eq!(breakers.access(7, now, 60 * SECOND), Access::Probe);
        assert_eq!(breakers.access(7, now + LONGEST_PROBE, 60 * SECOND), Access::Probe);
    }

    #[test]
    fn process_that_is_connected_closes_what_others_that_cannot_connect_keep_open() {
        let breakers = Breakers::default();
        breakers.note_failure(7, Access::Granted, 5, 5);
        let now = SECOND / 2;
        assert!(matches!(breakers.access(7, now, 0), Access::Denied { .. }));
        assert!(breakers.may_try_connection(7, now));
        breakers.note_failure(7, Access::Connected, now, now);
        assert!(!breakers.may_try_connection(7, now + BETWEEN_TRIES - 1));
        assert!(breakers.may_try_connection(7, now + BETWEEN_TRIES));
        assert_eq!(breakers.access(7, 2 * SECOND, 0), Access::Probe, "no pause is longer for it");
        assert!(breakers.may_try_connection(7, 2 * SECOND));
        breakers.note_success(7, Access::Connected, 2 * SECOND);
        assert_eq!(breakers.access(7, 2 * SECOND, 0), Access::Granted);
    }

    #[test]
    fn answer_to_a_call_sent_before_the_outage_does_not_end_it() {
        let breakers = Breakers::default();
        let access = breakers.access(7, 4, 0);
        assert!(begins_outage(&breakers, 7, 5));
        breakers.note_success(7, access, 6);
        assert!(matches!(breakers.access(7, 7, 0), Access::Denied { .. }));
    }

    #[test]
    fn probe_that_was_given_back_goes_to_the_next_call() {
        let breakers = Breakers::default();
        breakers.note_failure(7, Access::Granted, 5, 5);
        let now = 2 * SECOND;
        let access = breakers.access(7, now, 0);
        assert_eq!(access, Access::Probe);
        breakers.give_back(7, access, now + 5);
        assert_eq!(breakers.access(7, now + 5, 0), Access::Probe);
        breakers.give_back(7, Access::Granted, now + 5);
        assert!(matches!(breakers.access(7, now + 6, 0), Access::Denied { .. }));
    }

    #[test]
    fn failure_soon_after_a_success_is_the_same_outage() {
        let breakers = Breakers::default();
        assert!(begins_outage(&breakers, 7, 5));
        let mut now = 2 * SECOND;
        breakers.note_success(7, breakers.access(7, now, 0), now);
        assert_eq!(breakers.access(7, now, 0), Access::Granted);
        assert!(!begins_outage(&breakers, 7, now + RELAPSE - 1));
        now = 5 * SECOND;
        breakers.note_success(7, breakers.access(7, now, 0), now);
        assert!(begins_outage(&breakers, 7, now + RELAPSE), "another outage");
    }

    /// Breakers of a server that has just answered at the time returned.
    fn answered() -> (Breakers, u64) {
        let (breakers, now) = (Breakers::default(), 100 * SECOND);
        breakers.note_success(7, Access::Granted, now);
        (breakers, now)
    }

    const TIMEOUT: u64 = 50_000_000;

    #[test]
    fn second_failure_without_an_answer_between_opens_the_breaker() {
        let (breakers, sent) = answered();
        let failed = sent + TIMEOUT;
        assert_eq!(
            breakers.note_failure(7, Access::Granted, sent, failed),
            FailureMeaning::CallAlone
        );
        assert_eq!(breakers.access(7, failed, 0), Access::Granted);
        assert_eq!(
            breakers.note_failure(7, Access::Granted, failed, failed + TIMEOUT),
            FailureMeaning::OutageBegins
        );
        assert!(matches!(breakers.access(7, failed + TIMEOUT, 0), Access::Denied { .. }));
    }

    #[test]
    fn calls_on_their_way_when_the_server_dies_open_the_breaker_together() {
        let (breakers, sent) = answered();
        let failed = sent + TIMEOUT;
        assert_eq!(
            breakers.note_failure(7, Access::Granted, sent, failed),
            FailureMeaning::CallAlone
        );
        assert_eq!(
            breakers.note_failure(7, Access::Granted, sent + 1_000, failed + 1_000),
            FailureMeaning::OutageBegins
        );
    }

    #[test]
    fn failure_between_answers_opens_nothing() {
        let (breakers, mut now) = answered();
        for _ in 0..1_000 {
            assert_eq!(
                breakers.note_failure(7, Access::Granted, now, now + TIMEOUT),
                FailureMeaning::CallAlone
            );
            now += TIMEOUT + 1;
            breakers.note_success(7, Access::Granted, now);
        }
        assert_eq!(breakers.access(7, now, 0), Access::Granted);
    }

    #[test]
    fn processes_refused_at_one_moment_open_nothing() {
        let (breakers, mut now) = answered();
        for _ in 0..100 {
            for _ in 0..10 {
                now += 10_000;
                assert_eq!(
                    breakers.note_failure(7, Access::Granted, now - 9_000, now),
                    FailureMeaning::CallAlone
                );
            }
            breakers.note_success(7, Access::Granted, now + 1);
        }
    }

    #[test]
    fn failure_without_an_answer_for_a_second_opens_the_breaker() {
        let (breakers, now) = answered();
        let failed = now + LONG_SILENCE;
        assert_eq!(
            breakers.note_failure(7, Access::Granted, failed - TIMEOUT, failed),
            FailureMeaning::OutageBegins
        );
    }

    #[test]
    fn breaker_of_a_server_that_is_up_is_reused() {
        let breakers = Breakers::default();
        for id in 1..1_000 {
            assert!(begins_outage(&breakers, id, 1));
            breakers.note_success(id, Access::Probe, 1);
        }
        assert_eq!(breakers.count_open(1), 0);
        for id in 1..=COUNT as u64 {
            breakers.note_failure(id, Access::Granted, 1, 1);
        }
        assert_eq!(breakers.count_open(1), COUNT);
        assert!(
            begins_outage(&breakers, 9_999, 1),
            "without a breaker each call finds the server down"
        );
        assert_eq!(breakers.access(9_999, 2, 0), Access::Granted);
        // All but one are probed again; that one is replaced.
        let now = 2 * SECOND;
        for id in (1..=COUNT as u64).filter(|id| *id != 17) {
            assert_eq!(breakers.access(id, now, 0), Access::Probe);
        }
        assert!(begins_outage(&breakers, 9_999, now));
        assert!(!begins_outage(&breakers, 9_999, now), "noted once");
        assert!(matches!(breakers.access(9_999, now, 0), Access::Denied { .. }));
        assert_eq!(breakers.access(17, now, 0), Access::Granted);
    }
}
