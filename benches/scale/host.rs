//! What the workers of one host share: leases and denials, which are the extension's own code, and the hot-key queue.

use crate::random::mix;
use portable_atomic::AtomicU128;
use std::collections::{HashMap, VecDeque};
use token_bucket::guard::denials;
use token_bucket::guard::denials::KnownDenial;
use token_bucket::guard::leases::{LeaseKey, Step};
use token_bucket::limit::{Decision, Limit, Op, Span, State, TokenBucket, apply};
use token_bucket::store::shm::set::{Set, WAYS, locate};

/// The sets of a file of leases, and of the denials in a file of a host, at their default sizes.
const SETS: usize = 8_160;
/// The longest call with the default time-outs, in nanoseconds.
const LONGEST_CALL: u64 = 150_000_000;

/// A host.
pub struct Host {
    leases: Box<[Set]>,
    denials: Box<[Set]>,
    pub queues: HashMap<u32, Queue>,
}

/// The hot-key queue of a key.
#[derive(Default)]
pub struct Queue {
    pub is_taken: bool,
    pub waiting: VecDeque<usize>,
    pub handoff: Option<Handoff>,
}

/// The state that the last holder of the queue wrote.
#[derive(Clone, Copy)]
pub struct Handoff {
    pub full_at: Span,
    pub version: u32,
    pub at: u64,
}

impl Host {
    pub fn new(has_leases: bool) -> Self {
        let sets = |count: usize| (0..count).map(|_| empty_set()).collect();
        Self {
            leases: sets(if has_leases { SETS } else { 0 }),
            denials: sets(SETS),
            queues: HashMap::new(),
        }
    }

    /// Takes a token from the lease of a client, or says what to ask the server.
    pub fn take(&self, client: u32, limit: &TokenBucket, max: u32, now: u64) -> Step {
        self.lease(client, limit, max).map_or(Step::Ask, |lease| lease.take(1, now, LONGEST_CALL))
    }

    /// Runs `work` on the lease of a client.
    pub fn with_lease(
        &self,
        client: u32,
        limit: &TokenBucket,
        max: u32,
        work: impl FnOnce(&LeaseKey<'_>),
    ) {
        if let Some(lease) = self.lease(client, limit, max) {
            work(&lease);
        }
    }

    fn lease(&self, client: u32, limit: &TokenBucket, max: u32) -> Option<LeaseKey<'_>> {
        let (set, tag) = locate(&self.leases, mix(u64::from(client)))?;
        Some(LeaseKey { set, tag, limit: LeaseKey::limit_hash(limit), max })
    }

    /// Whether this host knows that the server denies a call for a token.
    pub fn knows_denial(&self, client: u32, limit: &Limit, now: u64) -> bool {
        let Some((set, tag)) = locate(&self.denials, mix(u64::from(client))) else {
            return false;
        };
        match denials::find(&set.0, tag, now) {
            Some(KnownDenial::FullAt(full_at)) => {
                let state = State::Filling { full_at: Span::from_ns(full_at) };
                !apply(limit, &state.into(), now, Op::Take { cost: 1 }).0.accepted
            }
            Some(KnownDenial::BlockedUntil(_)) => true,
            None => false,
        }
    }

    /// Remembers a denial of a call that was sent at `sent`.
    pub fn note_denial(&self, client: u32, denial: &Decision, sent: u64, now: u64) {
        if let Some((set, tag)) = locate(&self.denials, mix(u64::from(client))) {
            let full_at = KnownDenial::FullAt(sent + (denial.expires_at - denial.now));
            denials::note(&set.0, tag, full_at, sent, now);
        }
    }
}

fn empty_set() -> Set {
    Set([const { AtomicU128::new(0) }; WAYS])
}
