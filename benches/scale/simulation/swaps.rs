//! Stores that compare and swap, whose calls are decided in batches: as `src/store/swap`.
//!
//! A call joins the open batch of its key. While no process of the host asks the server, a member of it asks for all of them. Left out:
//! a process that is given up because a trip takes it more than 20 ms.

use super::{Done, Event, Simulation, Stage, Trip};
use crate::host::{Batches, Handoff, Host};
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
    /// Joins the open batch, and asks the server if no process does.
    pub(super) fn join(&mut self, id: usize) -> Done {
        let op = self.call(id)?.op;
        let batches = self.batches(id)?;
        batches.join(id, op);
        if batches.may_ask(id) { self.close_batch(id) } else { self.await_batch(id) }
    }

    fn batches(&mut self, id: usize) -> Result<&mut Batches, String> {
        let call = self.call(id)?;
        let (host, client) = (call.host, call.client);
        let host = self.hosts.get_mut(host).ok_or("no such host")?;
        Ok(host.batches.entry(client).or_default())
    }

    fn await_batch(&mut self, id: usize) -> Done {
        let now = self.now;
        let call = self.call(id)?;
        call.stage = Stage::AwaitsBatch;
        let (number, end) = (call.number, call.sent + call.timeout);
        self.at(end.max(now), Event::TimeOut(id, number));
        Ok(())
    }

    /// A member that was woken asks the server, unless another process does by now.
    pub(super) fn look(&mut self, id: usize) -> Done {
        match self.batches(id)?.may_ask(id) {
            true if self.has_time(id)? => self.close_batch(id),
            true => self.leave_batch(id),
            false => {
                self.await_batch(id)?;
                self.wake_next(id)
            }
        }
    }

    /// A member gives up.
    pub(super) fn leave_batch(&mut self, id: usize) -> Done {
        self.batches(id)?.leave(id);
        self.wake_next(id)?;
        self.decided(id)
    }

    /// Wakes a member of the next batch, if no process asks the server.
    fn wake_next(&mut self, id: usize) -> Done {
        let batches = self.batches(id)?;
        let next = batches.open.front().filter(|_| batches.asked.is_none());
        let members = next.map(|batch| batch.members.clone()).unwrap_or_default();
        for member in members.into_iter().flatten() {
            match self.call(member)?.stage {
                Stage::AwaitsBatch => return self.wake(member, Stage::WakesToAsk),
                Stage::WakesToAsk => return Ok(()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Asks the server for all that are members now: swaps the state that was handed off, or reads.
    fn close_batch(&mut self, id: usize) -> Done {
        let now = self.now;
        let batches = self.batches(id)?;
        batches.asked = batches.open.pop_front();
        let handoff = batches.handoff.filter(|handoff| now < handoff.at + HANDOFF_LIFETIME);
        let call = self.call(id)?;
        (call.stage, call.tries, call.losses) = (Stage::Asks, 0, 0);
        self.attempt(id, handoff)
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

    /// Tries to decide the batch.
    pub(super) fn attempt(&mut self, id: usize, handoff: Option<Handoff>) -> Done {
        let has_time = self.has_time(id)?;
        let has_locks = self.fleet.costs.has_row_locks;
        let call = self.call(id)?;
        call.tries += 1;
        call.is_handed_off = handoff.is_some();
        match handoff {
            _ if call.tries > MAX_TRIES || !has_time => self.give_up(id),
            _ if call.losses >= LOST_BEFORE_LOCK && has_locks => self.request(id, Trip::Begin),
            None => self.request(id, Trip::Read),
            Some(Handoff { full_at, version, .. }) => {
                call.version = version;
                self.decide_on(id, full_at)
            }
        }
    }

    /// Decides on a state as often as the batch has members, and swaps it if that changes it.
    fn decide_on(&mut self, id: usize, full_at: Span) -> Done {
        let (limit, now) = (self.limit, self.now);
        let op = self.call(id)?.op;
        let batch = self.batches(id)?.asked.as_mut().ok_or("no batch")?;
        let mut after = full_at;
        batch.decisions.clear();
        for _ in &batch.members {
            let (decision, next) = decide(&limit, after, op, now)?;
            batch.decisions.push(decision);
            after = next;
        }
        let has_time = self.has_time(id)?;
        let call = self.call(id)?;
        call.state = after;
        match (call.trip == Trip::Lock, after != full_at) {
            (true, true) => self.request(id, Trip::Update),
            (true, false) => self.request(id, Trip::Rollback),
            (false, true) if has_time => self.request(id, Trip::Swap),
            (false, true) => self.give_up(id),
            // A decision that changes nothing is not verified by a swap, so it needs a read.
            (false, false) if call.is_handed_off => self.attempt(id, None),
            (false, false) => self.publish(id),
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
                self.batches(id)?.handoff = Some(handoff);
                self.publish(id)
            }
            Trip::Rollback => self.publish(id),
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

    /// The batch is decided on: its members have their decisions.
    fn publish(&mut self, id: usize) -> Done {
        let batch = self.batches(id)?.asked.take().ok_or("no batch")?;
        self.counts.batches += 1;
        self.wake_next(id)?;
        for (member, decision) in batch.members.into_iter().zip(batch.decisions) {
            let Some(member) = member else { continue };
            let call = self.call(member)?;
            call.decision = Some(decision);
            match call.stage {
                Stage::AwaitsBatch => self.wake(member, Stage::WakesDecided)?,
                // It is on its way already.
                Stage::WakesToAsk => call.stage = Stage::WakesDecided,
                _ => {}
            }
        }
        self.forget_idle_keys(id)?;
        self.decided(id)
    }

    /// The call that asks has no more time. The other members join the next batch.
    pub(super) fn give_up(&mut self, id: usize) -> Done {
        let op = self.call(id)?.op;
        let batches = self.batches(id)?;
        let members = batches.asked.take().map(|batch| batch.members).unwrap_or_default();
        for member in members.into_iter().flatten().filter(|member| *member != id) {
            batches.join(member, op);
        }
        self.wake_next(id)?;
        self.decided(id)
    }

    fn forget_idle_keys(&mut self, id: usize) -> Done {
        let (now, host) = (self.now, self.call(id)?.host);
        let Host { batches, .. } = self.hosts.get_mut(host).ok_or("no such host")?;
        if batches.len() > 10_000 {
            let is_fresh = |it: Handoff| now < it.at + HANDOFF_LIFETIME;
            batches.retain(|_, Batches { asked, open, handoff }| {
                asked.is_some() || !open.is_empty() || handoff.is_some_and(is_fresh)
            });
        }
        Ok(())
    }
}
