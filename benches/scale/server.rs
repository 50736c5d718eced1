//! The servers of a store: what they remember, and the queue before their processors.

use std::collections::VecDeque;
use token_bucket::limit::{Decision, Limit, Op, Span, State, StoredState, apply};

/// The states of all clients, as the servers have them, and a check of what was handed out.
pub struct States {
    limit: Limit,
    full_at: Vec<u64>,
    part: Vec<u32>,
    /// Tells one value of a client from the next.
    version: Vec<u32>,
    handed_out: HandedOut,
}

/// What hosts have handed out to each client, beside what the limit allows.
pub struct HandedOut {
    capacity: f64,
    /// Tokens a nanosecond.
    rate: f64,
    /// What hosts may hold of a client's tokens in all.
    held: f64,
    begin: u64,
    total: Vec<u32>,
    level: Vec<f64>,
    last: Vec<u64>,
    /// The most tokens beyond the capacity and the rate in any stretch of time.
    pub most_beyond: f64,
    pub clients: u32,
}

impl HandedOut {
    pub fn new(limit: &Limit, clients: u32, held: u64, begin: u64) -> Self {
        let capacity = limit.capacity() as f64;
        let count = clients as usize;
        Self {
            capacity,
            rate: capacity / limit.window() as f64,
            held: held as f64,
            begin,
            total: vec![0; count],
            level: vec![0.0; count],
            last: vec![0; count],
            most_beyond: 0.0,
            clients: 0,
        }
    }

    /// Notes a token that a client gets at `now`. Fails if the bounds of docs/stores.md do not hold.
    pub fn note(&mut self, client: u32, now: u64) -> Result<(), String> {
        let index = client as usize;
        let (Some(total), Some(level), Some(last)) =
            (self.total.get_mut(index), self.level.get_mut(index), self.last.get_mut(index))
        else {
            return Err(format!("no client {client}"));
        };
        self.clients += u32::from(*total == 0);
        *total += 1;
        *level = (*level - self.rate * now.saturating_sub(*last) as f64).max(0.0) + 1.0;
        *last = now.max(*last);
        self.most_beyond = self.most_beyond.max(*level - self.capacity);
        let allowed = self.capacity + self.rate * (now - self.begin) as f64;
        // The sums are of floats.
        if f64::from(*total) > allowed + 0.01 {
            return Err(format!("client {client} got {total} tokens where {allowed} are allowed"));
        }
        if *level > self.capacity + self.held + 0.01 {
            return Err(format!("client {client} got {level} tokens in a stretch of time"));
        }
        Ok(())
    }
}

impl States {
    pub fn new(limit: Limit, clients: u32, handed_out: HandedOut) -> Self {
        let count = clients as usize;
        Self {
            limit,
            full_at: vec![0; count],
            part: vec![0; count],
            version: vec![0; count],
            handed_out,
        }
    }

    pub fn handed_out(&mut self) -> &mut HandedOut {
        &mut self.handed_out
    }

    /// The state of a client, and its version.
    pub fn read(&self, client: u32) -> (Span, u32) {
        let index = client as usize;
        let ns = self.full_at.get(index).copied().unwrap_or_default();
        let part = self.part.get(index).copied().unwrap_or_default();
        (Span { ns, part: part.into() }, self.version.get(index).copied().unwrap_or_default())
    }

    pub fn write(&mut self, client: u32, state: Span) {
        let index = client as usize;
        if let (Some(full_at), Some(part), Some(version)) =
            (self.full_at.get_mut(index), self.part.get_mut(index), self.version.get_mut(index))
        {
            // A limit has at most 2^30 parts.
            (*full_at, *part) = (state.ns, state.part as u32);
            *version += 1;
        }
    }

    /// Applies an operation as a server does that runs the algorithm.
    pub fn decide(&mut self, client: u32, op: Op, now: u64) -> Result<Decision, String> {
        let (decision, after) = decide(&self.limit, self.read(client).0, op, now)?;
        self.write(client, after);
        Ok(decision)
    }
}

/// Applies an operation to the state of a bucket.
pub fn decide(limit: &Limit, full_at: Span, op: Op, now: u64) -> Result<(Decision, Span), String> {
    // Nobody refunds or resets here, so no host has to know what another one holds.
    let op = match op {
        Op::Lease { most, least, .. } => Op::TakeUpTo { most, least, leave: 0 },
        Op::GiveBack { cost, .. } => Op::Refund { cost, expiry: None },
        other => other,
    };
    match apply(limit, &State::Filling { full_at }.into(), now, op) {
        (decision, StoredState::Word(State::Filling { full_at })) => Ok((decision, full_at)),
        (_, other) => Err(format!("not the state of a bucket: {other:?}")),
    }
}

/// Processors with one queue: of a server, or of the callers on this machine.
pub struct Station {
    free: usize,
    count: usize,
    /// What waits, and how long it will take.
    waiting: VecDeque<(usize, u64)>,
    pub busy: u64,
}

impl Station {
    pub fn new(count: usize) -> Self {
        Self { free: count, count, waiting: VecDeque::new(), busy: 0 }
    }

    pub fn is_idle(&self) -> bool {
        self.free == self.count
    }

    /// Returns whether a job begins at once; if not, it waits.
    pub fn take(&mut self, job: usize, time: u64) -> bool {
        if self.free == 0 {
            self.waiting.push_back((job, time));
            return false;
        }
        self.free -= 1;
        self.busy += time;
        true
    }

    /// Ends a job; returns the next one.
    pub fn end(&mut self) -> Option<(usize, u64)> {
        let next = self.waiting.pop_front();
        match next {
            Some((_, time)) => self.busy += time,
            None => self.free += 1,
        }
        next
    }
}
