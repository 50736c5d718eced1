//! Stores that compare and swap, which a host asks for one call on a key after the other: as `src/store/swap`.
//!
//! Left out: a process that is given up because a trip takes it more than 20 ms.

use super::{Done, Event, Simulation, Stage, Trip};
use crate::host::{Handoff, Host, Turns};
use crate::server::decide;
use token_bucket::limit::Span;

/// As in `src/store/swap`, in nanoseconds.
const HANDOFF_LIFETIME: u64 = 50_000_000;
const SHORTEST_PAUSE: u64 = 20_000;
const MAX_TRIES: u32 = 64;
const LOST_BEFORE_LOCK: u32 = 2;
/// How long a sleep takes longer than it was asked to (Linux' timer slack is 50 µs).
const SLACK: u64 = 55_000;

impl Simulation<'_> {
    /// Asks the server if it is the call's turn, or waits for it.
    pub(super) fn take_turn(&mut self, id: usize) -> Done {
        let turns = self.turns(id)?;
        if turns.asking.is_none() {
            turns.asking = Some(id);
            return self.ask_in_turn(id);
        }
        turns.waiting.push_back(id);
        let now = self.now;
        let call = self.call(id)?;
        call.stage = Stage::AwaitsTurn;
        let (number, end) = (call.number, call.sent + call.timeout);
        self.at(end.max(now), Event::TimeOut(id, number));
        Ok(())
    }

    fn turns(&mut self, id: usize) -> Result<&mut Turns, String> {
        let call = self.call(id)?;
        let (host, client) = (call.host, call.client);
        let host = self.hosts.get_mut(host).ok_or("no such host")?;
        Ok(host.turns.entry(client).or_default())
    }

    /// A call was woken, for it is its turn.
    pub(super) fn ask_in_turn(&mut self, id: usize) -> Done {
        if !self.has_time(id)? {
            return self.end_turn(id);
        }
        let now = self.now;
        let handoff = self.turns(id)?.handoff;
        let call = self.call(id)?;
        (call.stage, call.tries, call.losses) = (Stage::Asks, 0, 0);
        self.attempt(id, handoff.filter(|handoff| now < handoff.at + HANDOFF_LIFETIME))
    }

    /// A call that waits for its turn gives up.
    pub(super) fn give_up_turn(&mut self, id: usize) -> Done {
        self.turns(id)?.waiting.retain(|waiting| *waiting != id);
        self.decided(id)
    }

    /// The call has its decision, or no more time. The next one has the turn.
    pub(super) fn end_turn(&mut self, id: usize) -> Done {
        let turns = self.turns(id)?;
        turns.asking = turns.waiting.pop_front();
        if let Some(next) = turns.asking {
            self.wake(next, Stage::WakesToAsk)?;
        }
        self.forget_idle_keys(id)?;
        self.decided(id)
    }

    /// Whether the call has time for a round trip: as `src/net/budget.rs`.
    fn has_time(&mut self, id: usize) -> Result<bool, String> {
        let now = self.now;
        let call = self.call(id)?;
        let (host, timeout) = (call.host, call.timeout);
        let left = (call.sent + timeout).saturating_sub(now);
        let round_trip = self.host(host)?.round_trip();
        Ok(left > round_trip.max(timeout / 8).min(timeout / 2))
    }

    /// Tries to decide the call.
    pub(super) fn attempt(&mut self, id: usize, handoff: Option<Handoff>) -> Done {
        let has_time = self.has_time(id)?;
        let has_locks = self.fleet.costs.has_row_locks;
        let call = self.call(id)?;
        call.tries += 1;
        call.is_handed_off = handoff.is_some();
        match handoff {
            _ if call.tries > MAX_TRIES || !has_time => self.end_turn(id),
            _ if call.losses >= LOST_BEFORE_LOCK && has_locks => self.request(id, Trip::Begin),
            None => self.request(id, Trip::Read),
            Some(Handoff { full_at, version, .. }) => {
                call.version = version;
                self.decide_on(id, full_at)
            }
        }
    }

    /// Decides on a state, and swaps it if that changes it.
    fn decide_on(&mut self, id: usize, full_at: Span) -> Done {
        let (limit, now) = (self.limit, self.now);
        let op = self.call(id)?.op;
        let (decision, after) = decide(&limit, full_at, op, now)?;
        let has_time = self.has_time(id)?;
        let call = self.call(id)?;
        (call.state, call.pending) = (after, Some(decision));
        match (call.trip == Trip::Lock, after != full_at) {
            (true, true) => self.request(id, Trip::Update),
            (true, false) => self.request(id, Trip::Rollback),
            (false, true) if has_time => self.request(id, Trip::Swap),
            (false, true) => self.end_turn(id),
            // A decision that changes nothing is not verified by a swap, so it needs a read.
            (false, false) if call.is_handed_off => self.attempt(id, None),
            (false, false) => self.end_with_decision(id),
        }
    }

    /// A reply has come to the call.
    pub(super) fn go_on(&mut self, id: usize) -> Done {
        let now = self.now;
        let call = self.call(id)?;
        let (host, trip, took, state) = (call.host, call.trip, now - call.trip_began, call.state);
        // A transaction counts as one trip.
        if matches!(trip, Trip::Read | Trip::Swap | Trip::Commit | Trip::Rollback) {
            self.hosts.get_mut(host).ok_or("no such host")?.note_round_trip(took);
        }
        match trip {
            Trip::Decide => self.decided(id),
            Trip::Begin => self.request(id, Trip::Lock),
            Trip::Read | Trip::Lock => self.decide_on(id, state),
            Trip::Update => self.request(id, Trip::Commit),
            Trip::Swap if self.call(id)?.is_lost => self.pause(id),
            Trip::Swap | Trip::Commit => {
                let handoff =
                    Handoff { full_at: state, version: self.call(id)?.version + 1, at: now };
                self.turns(id)?.handoff = Some(handoff);
                self.end_with_decision(id)
            }
            Trip::Rollback => self.end_with_decision(id),
        }
    }

    /// Waits for a random time that grows with the round trip and with every lost swap, up to a sixteenth of the call's time.
    fn pause(&mut self, id: usize) -> Done {
        let now = self.now;
        let call = self.call(id)?;
        let (host, lost) = (call.host, call.losses);
        call.losses += 1;
        let left = (call.sent + call.timeout).saturating_sub(now);
        let longest = (call.timeout / 16).max(SHORTEST_PAUSE);
        let round_trip = self.host(host)?.round_trip().max(SHORTEST_PAUSE);
        let spread = ((2 * round_trip) << lost.min(4)).min(longest);
        let pause = self.random.below(spread).min(left / 2) + SLACK;
        self.at(now + pause, Event::Resume(id));
        Ok(())
    }

    fn end_with_decision(&mut self, id: usize) -> Done {
        self.counts.swap_decisions += 1;
        let call = self.call(id)?;
        call.decision = call.pending;
        self.end_turn(id)
    }

    fn forget_idle_keys(&mut self, id: usize) -> Done {
        let (now, host) = (self.now, self.call(id)?.host);
        let Host { turns, .. } = self.hosts.get_mut(host).ok_or("no such host")?;
        if turns.len() > 10_000 {
            let is_fresh = |it: Handoff| now < it.at + HANDOFF_LIFETIME;
            turns.retain(|_, Turns { asking, handoff, .. }| {
                asking.is_some() || handoff.is_some_and(is_fresh)
            });
        }
        Ok(())
    }
}
