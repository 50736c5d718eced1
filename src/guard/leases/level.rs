//! What a host knows of a bucket or window on a server while it has a lease of it.

use super::word::{Lease, NAME_BITS, Note, PART_BITS};
use crate::limit::{Decision, Limit, Op, Span, State, apply};
use crate::mapped::word::Word;
use crate::net::mark;

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
    /// The name of the state on the server. 0 if this host holds nothing of it.
    pub name: u32,
    /// How many tokens of it the server counts as held by this host.
    pub counted: u32,
}

impl Level {
    /// What the server's decision tells on a call that was sent at `sent`.
    pub fn new(limit: &Limit, decision: &Decision, sent: u64) -> Self {
        let expires_at = sent + (decision.expires_at - decision.now);
        let (window, hits) = match limit {
            Limit::TokenBucket(_) => (0, 0),
            _ => (decision.expires_at, missing(limit, decision)),
        };
        // Fits: a decision on another operation than a lease has no wait here.
        Self { expires_at, window, hits, name: decision.wait as u32, counted: 0 }
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
        let mut values = [(0, 0); 3];
        for (value, word) in values.iter_mut().zip(words) {
            *value = lease.noted_in(word.load())?;
        }
        let [(expires_at, low), (window, high), (hits, counted)] = values;
        Some(Self { expires_at, window, hits, name: high << PART_BITS | low, counted })
    }

    /// Notes it in the words beside a lease. Of two answers to calls of one fetch, which may arrive in another order, the smaller
    /// numbers count: a bucket must not be taken for emptier than it is.
    pub(super) fn note<W: Word>(&self, words: &[W], lease: &Lease) {
        let Self { expires_at, window, hits, name, counted } = *self;
        let parts = [name, name >> PART_BITS, counted].map(|part| part & ((1 << PART_BITS) - 1));
        for ((word, value), part) in words.iter().zip([expires_at, window, hits]).zip(parts) {
            loop {
                let seen = word.load();
                let noted = lease.noted_in(seen);
                let value = noted.map_or(value, |(noted, _)| noted.min(value));
                let note = Note { value, part, fetch: lease.fetch, tag: lease.tag };
                if word.replace(seen, note.to_word()) {
                    break;
                }
            }
        }
    }

    /// A name for a state that has none.
    pub(super) fn new_name() -> u32 {
        // Fits: the bits of a name.
        (mark::new() >> (u64::BITS - NAME_BITS)) as u32 | 1
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
