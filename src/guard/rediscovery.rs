//! When this process finds its server anew, because the one that it has cannot be written to.
//!
//! Such a server is a replica, or a master that was cut off: after a failover the name in the DSN leads to another one, while this one
//! may keep the old connections. So they are closed, and the next call resolves the name again. Meanwhile such a server denies, for a
//! denial writes nothing.

use super::once_a_second::OnceASecond;
use crate::limit::SECOND;
use std::cell::Cell;

/// How often a process finds its server anew at most, in nanoseconds.
const INTERVAL: u64 = SECOND;

/// What this process has done about it since it last wrote.
#[derive(Default)]
pub struct Rediscovery {
    /// When it last did so, in nanoseconds since boot; 0 if not since it last wrote.
    closed_at: Cell<u64>,
    /// When it next notes in the host's file that it writes.
    write_noted: OnceASecond,
}

/// What it means that a server must not be written to.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Whether to find the server anew.
    pub must_rediscover: bool,
    /// Whether this process did so before, or connected for the first time, so that there may be no other server.
    pub is_confirmed: bool,
}

impl Rediscovery {
    /// Notes at `now` that a server said that it must not be written to. `is_first`: this process never had an answer of one before.
    pub fn note_refusal(&self, is_first: bool, now: u64) -> Refusal {
        let closed_at = self.closed_at.get();
        let must_rediscover = closed_at == 0 || now.saturating_sub(closed_at) >= INTERVAL;
        if must_rediscover {
            self.closed_at.set(now.max(1));
        }
        Refusal { must_rediscover, is_confirmed: is_first || must_rediscover && closed_at != 0 }
    }

    /// Whether a server refused what this process last wrote, at most some seconds before `now`.
    pub fn is_refused(&self, now: u64) -> bool {
        let closed_at = self.closed_at.get();
        closed_at != 0 && now.saturating_sub(closed_at) < 2 * INTERVAL
    }

    /// Notes that this process wrote in a call that began at `now`. Returns, about once a second, that the host is to know it.
    #[inline]
    pub fn note_write(&self, now: u64) -> bool {
        self.closed_at.set(0);
        self.write_noted.is_due(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(must_rediscover: bool, is_confirmed: bool) -> Refusal {
        Refusal { must_rediscover, is_confirmed }
    }

    #[test]
    fn server_is_found_anew_at_once_and_then_once_a_second() {
        let rediscovery = Rediscovery::default();
        let now = 5 * SECOND;
        assert_eq!(rediscovery.note_refusal(false, now), refusal(true, false));
        assert_eq!(rediscovery.note_refusal(false, now + SECOND - 1), refusal(false, false));
        assert_eq!(rediscovery.note_refusal(false, now + SECOND), refusal(true, true));
        assert!(
            rediscovery.is_refused(now + 2 * SECOND) && !rediscovery.is_refused(now + 3 * SECOND)
        );
        assert!(rediscovery.note_write(now + SECOND + 1));
        assert!(!rediscovery.is_refused(now + SECOND + 1));
        assert_eq!(rediscovery.note_refusal(false, now + SECOND + 2), refusal(true, false));
        assert!(!rediscovery.note_write(now + 2 * SECOND), "the host knows");
        assert!(rediscovery.note_write(now + 2 * SECOND + 1));
    }

    #[test]
    fn process_that_starts_on_a_replica_knows_at_once() {
        assert_eq!(Rediscovery::default().note_refusal(true, 0), refusal(true, true));
    }
}
