//! Breakers that all processes of the host share: one process finds out that a server is
//! down, and the others need not.
//!
//! A breaker opens at the second failure in a row, if no process has had an answer for 40 ms by then, or at the
//! first if no process has had one for a second. A call that fails beside others that succeed opens nothing: a
//! lost packet or a refused connection says nothing of the server. A process that never had an answer opens it only after that
//! second: the server may have no connection left for it.
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
#[derive(Default)]
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
        Self(std::array::from_fn(|_| Breaker::default()))
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
    /// It may: no process has found it down. But this process has never had an answer.
    Newcomer,
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
            if is_closed(seen) {
                let is_silent = match access {
                    Access::Newcomer => breaker.is_silent_for_long(now),
                    _ => breaker.is_silent(sent, now),
                };
                if !is_silent {
                    return FailureMeaning::CallAlone;
                }
            } else if access == Access::Connected {
                breaker.failed_at.store(now, Ordering::Relaxed);
                return FailureMeaning::OutageContinues;
            } else if access != Access::Probe && seen > open {
                // A call that was sent before the outage must not end the time of another one's probe.
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

    /// Whether no process has had an answer for so long that one failure is enough.
    fn is_silent_for_long(&self, now: u64) -> bool {
        now.saturating_sub(self.answered_at()) >= LONG_SILENCE
    }

    /// Whether a call that was sent at `sent` and failed at `now` shows that the server answers no process.
    fn is_silent(&self, sent: u64, now: u64) -> bool {
        if self.is_silent_for_long(now) {
            return true;
        }
        let answered_at = self.answered_at();
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
mod tests;
