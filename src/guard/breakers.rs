//! Breakers that all processes of the host share: one process finds out that a server is
//! down, and the others need not.
//!
//! A breaker opens at the second failure in a row, if no process has had an answer for 40 ms by then, or at the
//! first if no process has had one for a second. A call that fails beside others that succeed opens nothing: a
//! lost packet or a refused connection says nothing of the server. A process that never had an answer opens it only after that
//! second: the server may have no connection left for it.
//!
//! A pause is as long as what is known. A server that answered within the last second is probed at once, by the next call: it may
//! be stalled, by a fork or a script of others, and the probe waits for it. If the probe fails, the outage begins. The pause before the
//! next probe is as long as that one took, and twice as long after each further failure, up to a second. A server that fails
//! again within a second after it answered goes on where its pauses were. If it has been back after two probes at most, then for a
//! minute the second call of a process must fail, too: a plain client would ask again as well.
//!
//! A breaker of *writes* is the same, for a server that answers reads while writes wait for a lock.

use crate::limit::SECOND;
use crate::mapped::{BREAKERS_AT, HOST_BODY_AT, Mappable, Region};
use portable_atomic::{AtomicU64, AtomicU128, Ordering};
use word::{MOST_FAILURES, Word};

mod word;

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

/// The longest pause, of a server that has failed again and again or was not heard of for a second.
const LONGEST_PAUSE: u64 = SECOND;

/// A failure so soon after a success belongs to the same outage: the success may have come from
/// another node of a cluster, which serves slots of the same breaker.
const RELAPSE: u64 = SECOND;

/// For how long a server that was back soon is given more time if it is silent again.
const PATIENCE: u64 = 60 * SECOND;

/// The most failures of an outage that was a short stall.
const FAILURES_OF_STALL: u32 = 1;

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
    /// The server is silent for the moment. The next call probes it.
    Stall,
    /// The server is down. This failure has opened the breaker, or is that of the first probe.
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
        match seen.time() {
            _ if seen.is_closed() => Access::Granted,
            until if now < until => Access::Denied { until },
            // The one call that replaces the word may probe; all others are denied.
            _ => {
                let until = now + longest.clamp(SHORTEST_SILENCE, LONGEST_PROBE);
                match breaker.replace(seen, Word::open(id, seen.failures(), until)) {
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
        let Some((breaker, seen)) = self.find(id) else { return self.claim_for_outage(id, now) };
        if seen.is_closed() && breaker.is_silent_for_long(now) {
            return breaker.open(seen, MOST_FAILURES, sent, now);
        }
        match access {
            Access::Newcomer if seen.is_closed() => FailureMeaning::CallAlone,
            _ => breaker.note_failure(seen, access, sent, now),
        }
    }

    /// Notes that a write with this access waited for a lock until `now`, which was sent at `sent`. However long no process has
    /// written, one such write opens nothing: it may concern its row alone.
    pub fn note_waiting_write(
        &self,
        id: u64,
        access: Access,
        sent: u64,
        now: u64,
    ) -> FailureMeaning {
        if self.find(id).is_none() {
            self.claim_for_answers(id, sent);
        }
        match self.find(id) {
            Some((breaker, seen)) => breaker.note_failure(seen, access, sent, now),
            None => FailureMeaning::CallAlone,
        }
    }

    /// Gives the server of this id, which has failed at `now`, an open breaker. Else no process has had an answer of it.
    #[cold]
    fn claim_for_outage(&self, id: u64, now: u64) -> FailureMeaning {
        // Else the closed breaker that answered longest ago, else the one that has been waiting longest for a
        // probe.
        let closed = || self.breakers(id).filter(|(_, seen)| !is_open(*seen, now));
        let oldest = || closed().min_by_key(|(breaker, _)| breaker.answered_at());
        let idle = || self.breakers(id).filter(|(_, seen)| !seen.is_closed() && seen.time() < now);
        let idle = || idle().min_by_key(|(_, seen)| seen.time());
        let open = Word::open(id, MOST_FAILURES, now + pause(MOST_FAILURES, 0, now));
        match self.unused(id, now).or_else(oldest).or_else(idle) {
            Some((breaker, seen)) if !breaker.replace(seen, open) => {
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
        if matches!(access, Access::Probe | Access::Connected) && !seen.is_closed() {
            breaker.replace(seen, Word::closed(id, seen.failures(), now));
        }
    }

    /// Gives the server of this id a breaker, which notes its answers, unless all are in use. One is free, too, if it is
    /// closed and the next failure would open it in any case, or if no process has asked for a probe since a second.
    #[cold]
    fn claim_for_answers(&self, id: u64, now: u64) {
        let is_free = |breaker: &Breaker, seen: Word| match seen.is_closed() {
            true => now.saturating_sub(breaker.answered_at()) >= LONG_SILENCE,
            false => now.saturating_sub(seen.time()) >= LONG_SILENCE,
        };
        let free = || self.breakers(id).find(|(breaker, seen)| is_free(breaker, *seen));
        if let Some((breaker, seen)) = self.unused(id, now).or_else(free) {
            // Before the id, or a failure meanwhile would be judged by the answers of another server.
            breaker.note_answer(now);
            breaker.replace(seen, Word::closed(id, 0, 0));
        }
    }

    /// A breaker that was never used, or whose server no process has had an answer of for a minute.
    fn unused(&self, id: u64, now: u64) -> Option<(&Breaker, Word)> {
        self.breakers(id).find(|(breaker, seen)| {
            let is_silent = breaker.answered_at().saturating_add(ABANDONED) < now;
            seen.is_unused() || !is_open(*seen, now) && is_silent
        })
    }

    /// Notes that a call with this access could not ask the server. After a probe the next call may
    /// probe at once.
    pub fn give_back(&self, id: u64, access: Access, now: u64) {
        if access == Access::Probe
            && let Some((breaker, seen)) = self.find(id)
            && !seen.is_closed()
        {
            breaker.replace(seen, Word::open(id, seen.failures(), now));
        }
    }

    /// Whether the server of this id answers.
    pub fn state(&self, id: u64, now: u64) -> ServerState {
        match self.find(id) {
            Some((_, seen)) if is_open(seen, now) => ServerState::Down,
            Some((_, seen)) if seen.is_closed() || seen.failures() == 0 => {
                ServerState::Up { since: seen.time() }
            }
            Some(_) => ServerState::Unknown,
            None => ServerState::Up { since: 0 },
        }
    }

    /// The number of servers that are down, without those that no process has asked for a minute.
    pub fn count_open(&self, now: u64) -> usize {
        self.breakers(0).filter(|(_, seen)| is_open(*seen, now)).count()
    }

    /// All breakers with their words, beginning with the one that `id` prefers.
    fn breakers(&self, id: u64) -> impl Iterator<Item = (&Breaker, Word)> {
        let (before, from) = self.0.split_at(id as usize % COUNT);
        let all = from.iter().chain(before);
        all.map(|breaker| (breaker, Word(breaker.state.load(Ordering::Acquire))))
    }

    /// The breaker of a server. Words are never zeroed again, so the search ends at the first zero.
    fn find(&self, id: u64) -> Option<(&Breaker, Word)> {
        let mut used = self.breakers(id).take_while(|(_, seen)| !seen.is_unused());
        used.find(|(_, seen)| seen.id() == id)
    }
}

impl Breaker {
    /// Replaces the word, unless another process was faster.
    fn replace(&self, seen: Word, new: Word) -> bool {
        let (order, failed) = (Ordering::AcqRel, Ordering::Acquire);
        self.state.compare_exchange(seen.0, new.0, order, failed).is_ok()
    }

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

    /// Notes that a call with this access failed at `now`, which was sent at `sent`.
    fn note_failure(&self, seen: Word, access: Access, sent: u64, now: u64) -> FailureMeaning {
        match access {
            _ if seen.is_closed() => {
                if !self.is_silent(seen, sent, now) {
                    return FailureMeaning::CallAlone;
                }
                let has_relapsed = now.saturating_sub(seen.time()) < RELAPSE;
                let failures = if has_relapsed { seen.failures() + 1 } else { 0 };
                self.open(seen, failures, sent, now)
            }
            Access::Probe => self.open(seen, seen.failures() + 1, sent, now),
            Access::Connected => {
                self.failed_at.store(now, Ordering::Relaxed);
                FailureMeaning::OutageContinues
            }
            // It was sent before the outage, and must not end the time of another one's probe.
            _ => FailureMeaning::OutageContinues,
        }
    }

    /// Opens this breaker, or keeps it open, after so many failures in a row.
    fn open(&self, seen: Word, failures: u32, sent: u64, now: u64) -> FailureMeaning {
        let is_new = seen.is_closed() && now.saturating_sub(seen.time()) >= RELAPSE;
        let is_first = is_new || seen.failures() == 0;
        self.failed_at.store(0, Ordering::Relaxed);
        let until = now + pause(failures, now.saturating_sub(sent), now);
        let is_noted = self.replace(seen, Word::open(seen.id(), failures, until));
        match failures {
            0 => FailureMeaning::Stall,
            _ if is_first && is_noted => FailureMeaning::OutageBegins,
            _ => FailureMeaning::OutageContinues,
        }
    }

    /// Whether a call that was sent at `sent` and failed at `now` shows that the server answers no process.
    fn is_silent(&self, seen: Word, sent: u64, now: u64) -> bool {
        let answered_at = self.answered_at();
        let mut failed_at = self.failed_at.load(Ordering::Relaxed);
        // One that is long ago does not make this failure the second in a row, also if nothing was answered since.
        if failed_at <= answered_at || now.saturating_sub(failed_at) >= ABANDONED {
            let (order, word) = (Ordering::Relaxed, &self.failed_at);
            match word.compare_exchange(failed_at, now, order, order) {
                Ok(_) => return false,
                Err(noted) => failed_at = noted,
            }
        }
        let was_stalled = seen.failures() <= FAILURES_OF_STALL && seen.time() != 0;
        if was_stalled && now.saturating_sub(seen.time()) < PATIENCE && sent <= failed_at {
            return false;
        }
        let silent_since = failed_at.min(sent).max(answered_at);
        now.saturating_sub(silent_since) >= SHORTEST_SILENCE
    }
}

/// Whether the server of this word is down, and was asked for within the last minute.
fn is_open(seen: Word, now: u64) -> bool {
    !seen.is_closed() && seen.failures() > 0 && seen.time().saturating_add(ABANDONED) > now
}

/// The pause after so many failures in a row, the last of which took so long. It is spread by a tenth, so that the hosts of a
/// fleet do not all ask at once.
fn pause(failures: u32, took: u64, now: u64) -> u64 {
    let first = took.clamp(SHORTEST_SILENCE, LONGEST_PAUSE);
    match failures {
        0 => 0,
        _ => {
            let pause = (first << (failures.min(MOST_FAILURES) - 1)).min(LONGEST_PAUSE);
            pause - pause / 10 + now % (pause / 5)
        }
    }
}

#[cfg(test)]
mod tests;
