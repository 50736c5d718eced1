//! Stores that compare and swap, and their hot-key queue: as `src/store/swap.rs` and `src/store/host/queue.rs`.

use super::{Done, Event, Simulation, TIMEOUT, Trip};
use crate::host::{Handoff, Queue};
use crate::server::decide;
use token_bucket::limit::Span;

/// Of those two files, in nanoseconds.
const HANDOFF_LIFETIME: u64 = 50_000_000;
const QUEUE_TIMEOUT: u64 = 25_000_000;
const MAX_TRIES: u32 = 64;
/// How long a sleep takes longer than it was asked to (Linux' timer slack is 50 µs), and how long a process in the queue sleeps.
const SLACK: u64 = 55_000;
const POLL: u64 = 70_000;

impl Simulation<'_> {
    fn queue_of(&mut self, host: usize, client: u32) -> Option<&mut Queue> {
        self.hosts.get_mut(host)?.queues.get_mut(&client)
    }

    /// Waits for the ticket of the queue of the call's key.
    pub(super) fn queue(&mut self, id: usize) -> Done {
        let call = self.call(id)?;
        let (host, client, number) = (call.host, call.client, call.number);
        let queue = self.hosts.get_mut(host).ok_or("no host")?.queues.entry(client).or_default();
        if !queue.is_taken {
            queue.is_taken = true;
            return self.enter(id);
        }
        queue.waiting.push_back(id);
        self.at(self.now + QUEUE_TIMEOUT, Event::QueueTimeout(id, number));
        Ok(())
    }

    /// The call has the queue's ticket: it swaps the state that was handed off, or reads.
    pub(super) fn enter(&mut self, id: usize) -> Done {
        let now = self.now;
        let call = self.call(id)?;
        call.has_ticket = true;
        let (host, client) = (call.host, call.client);
        let handoff = self.queue_of(host, client).and_then(|queue| queue.handoff);
        match handoff {
            Some(Handoff { full_at, version, at }) if now < at + HANDOFF_LIFETIME => {
                let call = self.call(id)?;
                (call.version, call.is_handed_off) = (version, true);
                self.decide_on(id, full_at)
            }
            _ => self.read(id),
        }
    }

    /// Gives the ticket to a call that waits for it.
    pub(super) fn poll(&mut self, host: usize, client: u32) -> Done {
        let Some(queue) = self.queue_of(host, client) else {
            return Ok(());
        };
        if queue.is_taken {
            return Ok(());
        }
        let Some(next) = queue.waiting.pop_front() else {
            return Ok(());
        };
        queue.is_taken = true;
        self.enter(next)
    }

    /// A call that has waited for too long goes on without the ticket.
    pub(super) fn leave_queue_without_ticket(&mut self, id: usize, number: u64) -> Done {
        let call = self.call(id)?;
        let (is_same, host, client) =
            (call.number == number && !call.has_ticket, call.host, call.client);
        let Some(queue) = self.queue_of(host, client) else {
            return Ok(());
        };
        let Some(place) = queue.waiting.iter().position(|waiting| *waiting == id && is_same) else {
            return Ok(());
        };
        queue.waiting.remove(place);
        self.read(id)
    }

    /// Gives the ticket back.
    pub(super) fn leave_queue(&mut self, id: usize) -> Done {
        let call = self.call(id)?;
        let (host, client) = (call.host, call.client);
        if !std::mem::replace(&mut call.has_ticket, false) {
            return Ok(());
        }
        let now = self.now;
        let Some(host_state) = self.hosts.get_mut(host) else {
            return Ok(());
        };
        let Some(queue) = host_state.queues.get_mut(&client) else {
            return Ok(());
        };
        queue.is_taken = false;
        let waiting = queue.waiting.len() as u64;
        if waiting > 0 {
            // The first of those that look at it at random.
            let wait = self.random.below(2 * POLL / (waiting + 1));
            self.at(now + wait, Event::Poll(host, client));
        } else if host_state.queues.len() > 10_000 {
            host_state.queues.retain(|_, queue| {
                queue.is_taken
                    || !queue.waiting.is_empty()
                    || queue.handoff.is_some_and(|handoff| now < handoff.at + HANDOFF_LIFETIME)
            });
        }
        Ok(())
    }

    pub(super) fn read(&mut self, id: usize) -> Done {
        let call = self.call(id)?;
        (call.trip, call.is_handed_off) = (Trip::Read, false);
        self.request(id)
    }

    /// Decides on a state, and swaps it if the decision changes it.
    pub(super) fn decide_on(&mut self, id: usize, full_at: Span) -> Done {
        let (limit, now) = (self.limit, self.now);
        let call = self.call(id)?;
        let (decision, after) = decide(&limit, full_at, call.op, now)?;
        call.decision = Some(decision);
        call.after = after;
        if after != full_at {
            call.trip = Trip::Swap;
            return self.request(id);
        }
        // A decision that changes nothing is not verified by a swap, so it needs a read.
        if call.is_handed_off { self.read(id) } else { self.decided(id) }
    }

    /// Hands the state that a call has written to the next one in its queue.
    pub(super) fn hand_off(&mut self, id: usize) -> Done {
        let at = self.now;
        let call = self.call(id)?;
        let (host, client, has_ticket) = (call.host, call.client, call.has_ticket);
        let handoff = Handoff { full_at: call.after, version: call.version + 1, at };
        if let Some(queue) = self.queue_of(host, client).filter(|_| has_ticket) {
            queue.handoff = Some(handoff);
        }
        Ok(())
    }

    /// Waits for a random time that grows with every try.
    pub(super) fn try_again(&mut self, id: usize) -> Done {
        let now = self.now;
        let call = self.call(id)?;
        call.tries += 1;
        let tries = call.tries;
        if tries >= MAX_TRIES || now - call.sent > TIMEOUT {
            // The key is too busy: the call is denied.
            if let Some(decision) = call.decision.as_mut() {
                decision.accepted = false;
                decision.expires_at = decision.now;
            }
            return self.decided(id);
        }
        let pause = self.random.below(20_000 << tries.min(6)) + SLACK;
        self.at(now + pause, Event::Resume(id));
        Ok(())
    }
}
