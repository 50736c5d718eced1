//! What a host knows of a bucket or window on a server while it has a lease of it.

use super::word::{Lease, Note};
use crate::limit::{Decision, Limit, Op, Span, State, apply};
use crate::mapped::word::Word;

/// A bucket or window on a server, after the last call for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level {
    /// When the bucket is full or the window ends, by this host's clock. Of a window no later than by the server's, for it
    /// reads its clock after the call was sent; of a clock reading that was handed off the later bound counts.
    pub expires_at: u64,
    /// When the window ends, by the server's clock: what names it there. 0 of a bucket.
    pub window: u64,
    /// The hits in the window. 0 of a bucket.
    pub hits: u64,
}

impl Level {
    /// What the server's decision tells on a call that was sent at `sent`.
    pub fn new(limit: &Limit, decision: &Decision, sent: u64) -> Self {
        let expires_at = sent + (decision.expires_at - decision.now);
        match limit {
            Limit::TokenBucket(_) => Self { expires_at, window: 0, hits: 0 },
            _ => Self { expires_at, window: decision.expires_at, hits: missing(limit, decision) },
        }
    }

    /// What the server would tell at `now`. Of a window by the server's clock, as far as it is known; so a settlement names the window.
    pub fn at(&self, limit: &Limit, now: u64) -> Decision {
        let (state, now) = match limit {
            Limit::TokenBucket(_) => {
                (State::Filling { full_at: Span::from_ns(self.expires_at) }, now)
            }
            _ => {
                // A call may have begun before the one that opened the window.
                let left = self.expires_at.saturating_sub(now).min(limit.window());
                // Fits: they are at most the limit.
                let hits = self.hits as u32;
                let ends_at = self.window.saturating_sub(1);
                (State::Window { ends_at, hits }, self.window.saturating_sub(left))
            }
        };
        apply(limit, &state.into(), now, Op::Peek { cost: 0 }).0
    }

    /// Until when tokens may be handed out that may be until `until`: those of a window end with it.
    pub(super) fn cut(&self, until: u64) -> u64 {
        if self.is_of_window() { until.min(self.expires_at) } else { until }
    }

    /// Reads what the words beside a lease say. None if they are of another fetch.
    pub(super) fn read<W: Word>(words: &[W], lease: &Lease) -> Option<Self> {
        let mut values = [0; 3];
        for (value, word) in values.iter_mut().zip(words) {
            *value = lease.noted_in(word.load())?;
        }
        let [expires_at, window, hits] = values;
        Some(Self { expires_at, window, hits })
    }

    /// Notes it in the words beside a lease. Of two answers to calls of one fetch, which may arrive in another order, the smaller
    /// numbers count: a bucket must not be taken for emptier than it is.
    pub(super) fn note<W: Word>(&self, words: &[W], lease: &Lease) {
        for (word, value) in words.iter().zip([self.expires_at, self.window, self.hits]) {
            loop {
                let seen = word.load();
                let value = lease.noted_in(seen).map_or(value, |noted| noted.min(value));
                let note = Note { value, fetch: lease.fetch, tag: lease.tag };
                if word.replace(seen, note.to_word()) {
                    break;
                }
            }
        }
    }

    /// Whether it is a window's.
    pub(super) const fn is_of_window(&self) -> bool {
        self.window != 0
    }
}

/// How many tokens or hits a bucket or window lacks after a decision.
pub fn missing(limit: &Limit, decision: &Decision) -> u64 {
    limit.capacity().saturating_sub(limit.remaining(decision))
}

/// Whether a decision leaves so little that the next batch is one token.
pub fn is_scarce(limit: &Limit, decision: &Decision) -> bool {
    limit.remaining(decision) < quarter(limit)
}

/// What a batch leaves of a bucket for other hosts.
pub fn quarter(limit: &Limit) -> u64 {
    limit.capacity() / 4
}
