//! What the workers of one host share: leases and denials, which are the extension's own code, and turns.

use crate::random::mix;
use portable_atomic::AtomicU128;
use std::collections::{HashMap, VecDeque};
use token_bucket::guard::denials;
use token_bucket::guard::denials::KnownDenial;
use token_bucket::guard::leases::{LeaseKey, Step};
use token_bucket::limit::{Decision, Limit, Op, Span, State, TokenBucket, apply};
use token_bucket::mapped::set::{Set, WAYS, locate};

/// The sets of a file of leases.
const LEASE_SETS: usize = 16_352;
/// The sets of the denials in a file of a host, at its default size.
const DENIAL_SETS: usize = 8_160;
/// The longest call with the default time-outs, in nanoseconds.
const LONGEST_CALL: u64 = 150_000_000;

/// A host.
pub struct Host {
    leases: Box<[Set]>,
    denials: Box<[Set]>,
    /// The calls that wait for a batch of a client's lease.
    pub waiting: HashMap<u32, Vec<usize>>,
    /// Whose turn it is, by client.
    pub turns: HashMap<u32, Turns>,
    /// The time of a round trip, smoothed, and by how much it differs, in nanoseconds.
    round_trip: [u64; 2],
}

/// The turns of the calls on a key.
#[derive(Default)]
pub struct Turns {
    /// The call that has the turn.
    pub asking: Option<usize>,
    /// Those that wait for it, in the order in which they came.
    pub waiting: VecDeque<usize>,
    pub handoff: Option<Handoff>,
}

/// The state that the last process of the host wrote.
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
            leases: sets(if has_leases { LEASE_SETS } else { 0 }),
            denials: sets(DENIAL_SETS),
            waiting: HashMap::new(),
            turns: HashMap::new(),
            round_trip: [0; 2],
        }
    }

    /// Notes how long a round trip took: as `src/net/kept_connection.rs`.
    pub fn note_round_trip(&mut self, took: u64) {
        let [smoothed, deviation] = self.round_trip;
        self.round_trip = match smoothed {
            0 => [took, took / 2],
            _ => [smoothed * 7 / 8 + took / 8, deviation * 3 / 4 + took.abs_diff(smoothed) / 4],
        };
    }

    /// How long a round trip takes as a rule.
    pub fn round_trip(&self) -> u64 {
        let [smoothed, deviation] = self.round_trip;
        smoothed + 4 * deviation
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
        Some(LeaseKey { set, tag, limit: LeaseKey::limit_hash(&(*limit).into())?, max })
    }

    /// Whether this host knows that the server denies a call for a token.
    pub fn knows_denial(&self, client: u32, limit: &Limit, now: u64) -> bool {
        let Some((set, tag)) = locate(&self.denials, mix(u64::from(client))) else {
            return false;
        };
        match denials::find(&set.0, tag, now) {
            Some(KnownDenial::FullAt(full_at)) => {
                let state = State::Filling { full_at: Span::from_ns(full_at) };
                !apply(limit, &state.into(), now, Op::Take { cost: 1 }).0.is_accepted()
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
