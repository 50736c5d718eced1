//! A breaker that all processes of the host share: one process finds out that a server is down, and the others need not.
//!
//! Paid: while a breaker is open, `on_error` answers calls that the server might have answered by then: of stalls of 75 ms, 0.5 % of calls
//! where a plain client loses 0.4 %. Got: a server that dies costs each process the call that is on its way, and the host four more
//! in the first second, in place of a time-out for each call. Tried instead: a pause of a second from the first one on, by which such stalls cost 42 % of calls.
//!
//! By hand, 20 workers that called every 10 ms, default time-outs, a Redis that was silent every 2.3 s, six times each; phpredis had the same time-outs:
//!
//! ```text
//! silent for ms    by on_error    lost by phpredis
//!     55              0.1 %            0.3 %
//!     75              0.5 %            0.4 %
//!    100              0.8 %            0.4 %
//!    150              2.4 %            0.9 %
//! ```
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
use portable_atomic::{AtomicU64, Ordering};
use word::{MOST_FAILURES, Word};

mod word;

/// Whether a server of a store may be asked.
#[repr(C)]
#[derive(Default)]
pub struct Breaker {
    word: AtomicU64,
    /// When a process last had an answer, in nanoseconds since boot; at most [`RESOLUTION`] too early.
    answered_at: AtomicU64,
    /// When the first call failed since the last answer, in nanoseconds since boot; or, while the breaker is open, when a
    /// process last failed that asked on a connection which the server had not closed.
    failed_at: AtomicU64,
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

impl Breaker {
    /// Makes it one that was never used.
    pub fn reset(&self) {
        for word in [&self.word, &self.answered_at, &self.failed_at] {
            word.store(0, Ordering::Relaxed);
        }
    }

    /// Whether a call may ask the server at `now`. The call takes at most `longest` nanoseconds; while it probes the server, no
    /// other call may ask.
    pub fn access(&self, now: u64, longest: u64) -> Access {
        let seen = self.seen();
        match seen.time {
            _ if !seen.is_open => Access::Granted,
            until if now < until => Access::Denied { until },
            // The one call that replaces the word may probe; all others are denied.
            _ => {
                let until = now + longest.clamp(SHORTEST_SILENCE, LONGEST_PROBE);
                match self.replace(seen, Word::open(seen.failures, until)) {
                    true => Access::Probe,
                    false => Access::Denied { until: now },
                }
            }
        }
    }

    /// Whether a process that the server has not disconnected may ask at `now` although the breaker is open: unless
    /// another one has failed to within a tenth of a second. Each pays at most one time-out for it, which costs it the
    /// connection.
    pub fn may_try_connection(&self, now: u64) -> bool {
        now.saturating_sub(self.failed_at.load(Ordering::Relaxed)) >= BETWEEN_TRIES
    }

    /// Notes that a call with this access failed at `now`, which was sent at `sent`.
    pub fn note_failure(&self, access: Access, sent: u64, now: u64) -> FailureMeaning {
        let seen = self.seen();
        if !seen.is_open && self.is_silent_for_long(now) {
            return self.open(seen, MOST_FAILURES, sent, now);
        }
        match access {
            Access::Newcomer if !seen.is_open => FailureMeaning::CallAlone,
            _ => self.note_failure_of_known(seen, access, sent, now),
        }
    }

    /// Notes that a write with this access waited for a lock until `now`, which was sent at `sent`. However long no process has
    /// written, one such write opens nothing: it may concern its row alone.
    pub fn note_waiting_write(&self, access: Access, sent: u64, now: u64) -> FailureMeaning {
        let seen = self.seen();
        if self.answered_at() == 0 {
            self.note_answer(sent);
        }
        self.note_failure_of_known(seen, access, sent, now)
    }

    /// Notes that the server answered a call with this access, at `now`.
    ///
    /// A call that was granted access asked before the breaker was opened, and does not close it.
    pub fn note_success(&self, access: Access, now: u64) {
        let seen = self.seen();
        self.note_answer(now);
        if matches!(access, Access::Probe | Access::Connected) && seen.is_open {
            self.replace(seen, Word::closed(seen.failures, now));
        }
    }

    /// Notes that a call with this access could not ask the server. After a probe the next call may
    /// probe at once.
    pub fn give_back(&self, access: Access, now: u64) {
        let seen = self.seen();
        if access == Access::Probe && seen.is_open {
            self.replace(seen, Word::open(seen.failures, now));
        }
    }

    /// Whether the server answers.
    pub fn state(&self, now: u64) -> ServerState {
        let seen = self.seen();
        let is_down =
            seen.is_open && seen.failures > 0 && seen.time.saturating_add(ABANDONED) > now;
        match seen {
            _ if is_down => ServerState::Down,
            Word { is_open: true, failures: 1.., .. } => ServerState::Unknown,
            Word { time, .. } => ServerState::Up { since: time },
        }
    }

    fn seen(&self) -> Word {
        Word::from_word(self.word.load(Ordering::Acquire))
    }

    /// Replaces the word, unless another process was faster.
    fn replace(&self, seen: Word, new: Word) -> bool {
        let (order, failed) = (Ordering::AcqRel, Ordering::Acquire);
        self.word.compare_exchange(seen.to_word(), new.to_word(), order, failed).is_ok()
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

    /// Whether no process has had an answer for so long, or ever, that one failure is enough.
    fn is_silent_for_long(&self, now: u64) -> bool {
        let answered_at = self.answered_at();
        answered_at == 0 || now.saturating_sub(answered_at) >= LONG_SILENCE
    }

    /// Notes that a call with this access failed at `now`, which was sent at `sent`, of a server that has answered.
    fn note_failure_of_known(
        &self,
        seen: Word,
        access: Access,
        sent: u64,
        now: u64,
    ) -> FailureMeaning {
        match access {
            _ if !seen.is_open => {
                if !self.is_silent(seen, sent, now) {
                    return FailureMeaning::CallAlone;
                }
                let has_relapsed = now.saturating_sub(seen.time) < RELAPSE;
                let failures = if has_relapsed { seen.failures + 1 } else { 0 };
                self.open(seen, failures, sent, now)
            }
            Access::Probe => self.open(seen, seen.failures + 1, sent, now),
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
        let is_new = !seen.is_open && now.saturating_sub(seen.time) >= RELAPSE;
        let is_first = is_new || seen.failures == 0;
        self.failed_at.store(0, Ordering::Relaxed);
        let until = now + pause(failures, now.saturating_sub(sent), now);
        let is_noted = self.replace(seen, Word::open(failures, until));
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
        let was_stalled = seen.failures <= FAILURES_OF_STALL && seen.time != 0;
        if was_stalled && now.saturating_sub(seen.time) < PATIENCE && sent <= failed_at {
            return false;
        }
        let silent_since = failed_at.min(sent).max(answered_at);
        now.saturating_sub(silent_since) >= SHORTEST_SILENCE
    }
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
