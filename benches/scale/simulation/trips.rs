//! What happens between a request and its reply: the network, the server's processors and the caller's.

use super::{Done, Event, Simulation, Trip};
use crate::random::mix;
use crate::server::Station;
use token_bucket::limit::{Decision, Op};

impl Simulation<'_> {
    pub(super) fn request(&mut self, id: usize) -> Done {
        // On one machine the time between two processors is the server's: see reach().
        self.at(self.now + self.fleet.network.unwrap_or_default(), Event::Reach(id));
        Ok(())
    }

    pub(super) fn reach(&mut self, id: usize) -> Done {
        let call = self.call(id)?;
        let (client, trip, op) = (call.client, call.trip, call.op);
        let now = self.now;
        let locked_until = if trip == Trip::Swap {
            self.locked_until.get(&client).copied().unwrap_or(0)
        } else {
            0
        };
        if locked_until > now {
            self.at(locked_until, Event::Reach(id));
            return Ok(());
        }
        let costs = &self.fleet.costs;
        let (time, bytes) = match (trip, op) {
            (Trip::Read, _) => (costs.read, costs.read_bytes),
            (_, Op::TakeUpTo { .. } | Op::Refund { .. }) => (costs.batch, costs.batch_bytes),
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
        let call = self.call(id)?;
        let (trip, op, version, after, decided) =
            (call.trip, call.op, call.version, call.after, call.decision);
        let mut delay = 0;
        match trip {
            Trip::Decide => {
                let decision = self.states.decide(client, op, now)?;
                self.note_handed_out(client, op, &decision)?;
                self.call(id)?.decision = Some(decision);
            }
            Trip::Read => {
                let (full_at, version) = self.states.read(client);
                let call = self.call(id)?;
                (call.after, call.version) = (full_at, version);
            }
            Trip::Swap => {
                let is_lost = self.states.read(client).1 != version;
                self.call(id)?.is_lost = is_lost;
                if is_lost {
                    self.counts.lost_swaps += 1;
                } else {
                    self.states.write(client, after);
                    let decision = decided.ok_or("a swap without a decision")?;
                    self.note_handed_out(client, op, &decision)?;
                    if self.fleet.commit > 0 {
                        delay = self.fleet.commit;
                        self.locked_until.insert(client, now + delay);
                    }
                }
            }
        }
        self.at(now + delay + self.fleet.network.unwrap_or(0), Event::Reply(id));
        Ok(())
    }

    /// The call itself hands out a token when the server decides; those of a lease are handed out later.
    pub(super) fn note_handed_out(&mut self, client: u32, op: Op, decision: &Decision) -> Done {
        let takes = matches!(op, Op::Take { .. } | Op::TakeUpTo { .. });
        if takes && decision.accepted {
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
        let call = self.call(id)?;
        if call.is_local {
            return self.end(id);
        }
        match call.trip {
            Trip::Decide => self.decided(id),
            Trip::Read => {
                let full_at = call.after;
                self.decide_on(id, full_at)
            }
            Trip::Swap if call.is_lost => self.try_again(id),
            Trip::Swap => {
                self.hand_off(id)?;
                self.decided(id)
            }
        }
    }
}
