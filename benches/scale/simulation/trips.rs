//! What happens between a request and its reply: the network, the server's processors and the caller's.

use super::{Done, Event, Simulation, Stage, Trip};
use crate::random::mix;
use crate::server::Station;
use std::collections::VecDeque;
use token_bucket::limit::{Decision, Op};

impl Simulation<'_> {
    pub(super) fn request(&mut self, id: usize, trip: Trip) -> Done {
        let now = self.now;
        let call = self.call(id)?;
        (call.stage, call.trip) = (Stage::Asks, trip);
        if !matches!(trip, Trip::Lock | Trip::Update | Trip::Commit | Trip::Rollback) {
            call.trip_began = now;
        }
        // On one machine the time between two processors is the server's: see reach().
        self.at(now + self.fleet.network.unwrap_or_default(), Event::Reach(id));
        Ok(())
    }

    pub(super) fn reach(&mut self, id: usize) -> Done {
        let call = self.call(id)?;
        let (client, trip, op) = (call.client, call.trip, call.op);
        let now = self.now;
        let costs = &self.fleet.costs;
        let (time, bytes) = match (trip, op) {
            (Trip::Read | Trip::Lock, _) => (costs.read, costs.read_bytes),
            (Trip::Decide | Trip::Swap, Op::Lease { .. } | Op::GiveBack { .. }) => {
                (costs.batch, costs.batch_bytes)
            }
            // What begins and ends a transaction counts as an update, too.
            _ => (costs.take, costs.take_bytes),
        };
        self.counts.trips += 1;
        for (sum, bytes) in self.counts.bytes.iter_mut().zip(bytes) {
            *sum += bytes;
        }
        let (wake, gap) =
            (costs.server_wake, if self.fleet.network.is_none() { costs.gap / 2 } else { 0 });
        let station = self.station(client)?;
        let is_idle = station.is_idle();
        let time = if is_idle { time + wake } else { time };
        if station.take(id, time) {
            self.at(now + time + if is_idle { gap } else { 0 }, Event::Serve(id));
        }
        Ok(())
    }

    pub(super) fn station(&mut self, client: u32) -> Result<&mut Station, String> {
        let node = mix(u64::from(client) + 1) as usize % self.stations.len().max(1);
        self.stations.get_mut(node).ok_or_else(|| format!("no server {node}"))
    }

    pub(super) fn serve(&mut self, id: usize) -> Done {
        let now = self.now;
        let client = self.call(id)?.client;
        if let Some((next, time)) = self.station(client)?.end() {
            self.at(now + time, Event::Serve(next));
        }
        self.execute(id)
    }

    fn execute(&mut self, id: usize) -> Done {
        let (now, commit) = (self.now, self.fleet.commit);
        let call = self.call(id)?;
        let (client, trip, op, version) = (call.client, call.trip, call.op, call.version);
        let (number, end) = (call.number, call.sent + call.timeout);
        let mut delay = 0;
        match trip {
            Trip::Swap | Trip::Lock if self.rows.contains_key(&client) => {
                self.call(id)?.stage = Stage::AwaitsRow;
                self.rows.entry(client).or_default().push_back(id);
                self.at(end.max(now), Event::TimeOut(id, number));
                return Ok(());
            }
            Trip::Decide => {
                let decision = self.states.decide(client, op, now)?;
                self.note_handed_out(client, op, &decision)?;
                self.call(id)?.decision = Some(decision);
            }
            Trip::Read => self.read(id)?,
            Trip::Swap => {
                let is_lost = self.states.read(client).1 != version;
                self.call(id)?.is_lost = is_lost;
                if is_lost {
                    self.counts.lost_swaps += 1;
                } else {
                    self.write(id)?;
                    if commit > 0 {
                        delay = commit;
                        self.rows.insert(client, VecDeque::new());
                        self.at(now + commit, Event::Unlock(client));
                    }
                }
            }
            Trip::Begin => {}
            Trip::Lock => {
                self.counts.locked += 1;
                self.rows.insert(client, VecDeque::new());
                self.read(id)?;
            }
            Trip::Update => self.write(id)?,
            Trip::Commit | Trip::Rollback => {
                delay = if trip == Trip::Commit { commit } else { 0 };
                self.at(now + delay, Event::Unlock(client));
            }
        }
        self.call(id)?.stage = Stage::Asks;
        self.at(now + delay + self.fleet.network.unwrap_or(0), Event::Reply(id));
        Ok(())
    }

    fn read(&mut self, id: usize) -> Done {
        let client = self.call(id)?.client;
        let (full_at, version) = self.states.read(client);
        let call = self.call(id)?;
        (call.state, call.version) = (full_at, version);
        Ok(())
    }

    /// Writes what the call has come to.
    fn write(&mut self, id: usize) -> Done {
        let call = self.call(id)?;
        let (client, op, state, pending) = (call.client, call.op, call.state, call.pending);
        self.states.write(client, state);
        let decision = pending.ok_or("a swap without a decision")?;
        self.note_handed_out(client, op, &decision)
    }

    /// The calls that wait for a row go on, until one of them locks it again.
    pub(super) fn unlock(&mut self, client: u32) -> Done {
        let mut waiting = self.rows.remove(&client).unwrap_or_default();
        while let Some(next) = waiting.pop_front() {
            self.execute(next)?;
            if let Some(row) = self.rows.get_mut(&client) {
                *row = waiting;
                break;
            }
        }
        Ok(())
    }

    /// The call itself hands out a token when the server decides; those of a lease are handed out later.
    pub(super) fn note_handed_out(&mut self, client: u32, op: Op, decision: &Decision) -> Done {
        let takes = matches!(op, Op::Take { .. } | Op::TakeUpTo { .. });
        if takes && decision.is_accepted() {
            self.states.handed_out().note(client, decision.now)
        } else {
            Ok(())
        }
    }

    /// The caller has its reply, and has to wake up and to read it.
    pub(super) fn reply(&mut self, id: usize) -> Done {
        let costs = &self.fleet.costs;
        let time = match self.fleet.network {
            Some(_) => costs.caller + costs.caller_wake,
            None if self.callers.is_idle() => costs.caller + costs.caller_wake + costs.gap / 2,
            None => costs.caller,
        };
        self.occupy(id, time)
    }

    pub(super) fn work(&mut self, id: usize) -> Done {
        match self.call(id)?.stage {
            Stage::Ends => self.end(id),
            Stage::WakesToTake => self.take_from_lease(id),
            Stage::WakesToAsk => self.ask_in_turn(id),
            Stage::Asks => self.go_on(id),
            Stage::AwaitsRow | Stage::AwaitsTurn | Stage::AwaitsLease => {
                Err("a call works that waits".to_owned())
            }
        }
    }
}
