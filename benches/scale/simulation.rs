//! The simulation: calls, the trips that they make, and the queues that they wait in.
//!
//! Leases, denials and the arithmetic of limits are the extension's own code, which takes the time as an argument. Servers, the
//! network and workers are events on a simulated clock.

use crate::costs::Protocol;
use crate::fleet::{Fleet, Load};
use crate::host::{Handoff, Host, batch_to_ask};
use crate::random::{Random, Zipf, mix};
use crate::results::Counts;
use crate::server::{HandedOut, States, Station, decide};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use token_bucket::limit::{Decision, Limit, Op, Span, TokenBucket};
use token_bucket::store::{Fetch, Step};

/// The simulated clock begins here: no time is before the beginning.
const BEGIN: u64 = 3_600_000_000_000;
/// Of `src/store/swap.rs` and `src/store/host/queue.rs`, in nanoseconds.
const HANDOFF_LIFETIME: u64 = 50_000_000;
const QUEUE_PATIENCE: u64 = 25_000_000;
const MAX_TRIES: u32 = 64;
const TIMEOUT: u64 = 50_000_000;
/// How long a sleep takes longer than it was asked to, and how long a process sleeps in the queue (Linux' timer slack: 50 µs).
const SLACK: u64 = 55_000;
const POLL: u64 = 70_000;
/// The calls that wait for a worker at most, as in PHP-FPM.
const BACKLOG: usize = 511;

/// What a simulation comes to.
pub struct Outcome {
    pub counts: Counts,
    /// The share of time in which the servers' processors worked: of all, and of the busiest server.
    pub utilisation: f64,
    pub busiest: f64,
    /// The servers' processor time a decision, in nanoseconds.
    pub cpu: f64,
    /// Clients that got a token.
    pub clients: u32,
    /// The most tokens beyond capacity and rate x time in any stretch of time.
    pub most_beyond: f64,
    /// Calls under way at the end.
    pub unfinished: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The next call comes from somewhere.
    Arrive,
    /// A request has reached its server.
    Reach(usize),
    /// A server has done what a request asks for.
    Serve(usize),
    /// A reply has reached its host.
    Reply(usize),
    /// A caller has done its work on a reply, or on a decision without a trip.
    Work(usize),
    /// A caller's processor is free again.
    Worked(usize),
    /// A process in the queue of a key looks again.
    Poll(usize, u32),
    /// A call has waited after a lost swap.
    Resume(usize),
    /// A call has waited for its queue for too long.
    LosePatience(usize, u64),
}

/// What a request asks a server for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trip {
    /// To decide.
    Decide,
    Read,
    Swap,
}

struct Call {
    host: usize,
    client: u32,
    /// When its client came, and when a worker began with it.
    came: u64,
    began: u64,
    /// When the operation was sent.
    sent: u64,
    op: Op,
    trip: Trip,
    /// The right to fetch a batch.
    fetch: Option<Fetch>,
    /// What a trip has answered, and what to write.
    decision: Option<Decision>,
    after: Span,
    version: u32,
    is_handed_off: bool,
    is_lost: bool,
    tries: u32,
    has_ticket: bool,
    /// Whether it ends without a trip.
    is_local: bool,
    accepted: bool,
    number: u64,
}

pub struct Simulation<'a> {
    fleet: &'a Fleet,
    bucket: TokenBucket,
    limit: Limit,
    zipf: Zipf,
    random: Random,
    now: u64,
    events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    sequence: u64,
    hosts: Vec<Host>,
    states: States,
    /// Of limits in a host's own memory.
    local: HashMap<(usize, u32), Span>,
    stations: Vec<Station>,
    /// The processor that all callers share on one machine.
    callers: Station,
    locked_until: HashMap<u32, u64>,
    calls: Vec<Call>,
    free: Vec<usize>,
    /// Of each host: the workers that are at work, and when the calls came that wait for one.
    workers: Vec<(usize, VecDeque<u64>)>,
    counts: Counts,
}

impl Outcome {
    /// Whether no call is late or denied for want of a turn, and no queue grows.
    pub fn keeps_up(&self, fleet: &Fleet) -> bool {
        let Counts { decisions, accepted, late, refused, .. } = self.counts;
        let calls = match fleet.load {
            Load::Arrivals(calls) => calls,
            Load::Workers => return true,
        };
        late * 1_000 <= decisions
            && refused == 0
            && self.busiest < 0.98
            && (self.unfinished as f64) < 100.0 + calls / 100.0
            && (fleet.clients > 1 || accepted * 1_000 >= decisions * 999)
    }
}

type Done = Result<(), String>;

impl<'a> Simulation<'a> {
    pub fn run(fleet: &'a Fleet) -> Result<Outcome, String> {
        let bucket =
            TokenBucket::per_second(fleet.capacity, fleet.rate).map_err(|e| e.to_string())?;
        let limit = Limit::from(bucket);
        let held = match fleet.costs.protocol {
            // Each host has the limit for itself.
            Protocol::Local => u64::from(u32::MAX),
            _ => fleet.hosts as u64 * u64::from(fleet.lease),
        };
        let mut simulation = Self {
            fleet,
            bucket,
            limit,
            zipf: Zipf::new(fleet.clients, fleet.zipf),
            random: Random::new(fleet.seed),
            now: BEGIN,
            events: BinaryHeap::new(),
            sequence: 0,
            hosts: (0..fleet.hosts).map(|_| Host::new(fleet.has_leases())).collect(),
            states: States::new(
                limit,
                fleet.clients,
                HandedOut::new(&limit, fleet.clients, held, BEGIN),
            ),
            local: HashMap::new(),
            stations: (0..fleet.nodes).map(|_| Station::new(fleet.costs.processors)).collect(),
            callers: Station::new(1),
            locked_until: HashMap::new(),
            calls: Vec::new(),
            free: Vec::new(),
            workers: vec![(0, VecDeque::new()); fleet.hosts],
            counts: Counts::new(),
        };
        simulation.go()?;
        Ok(simulation.outcome())
    }

    fn go(&mut self) -> Done {
        match self.fleet.load {
            Load::Arrivals(_) => self.at(BEGIN, Event::Arrive),
            Load::Workers => (0..self.fleet.hosts).try_for_each(|host| self.begin(host, BEGIN))?,
        }
        let (measured_from, end) =
            (BEGIN + self.fleet.warm_up, BEGIN + self.fleet.warm_up + self.fleet.duration);
        let mut is_warm = false;
        while let Some(Reverse((time, _, event))) = self.events.pop() {
            if time >= end {
                break;
            }
            if !is_warm && time >= measured_from {
                is_warm = true;
                self.counts = Counts::new();
                self.stations.iter_mut().for_each(|station| station.busy = 0);
            }
            self.now = time;
            self.handle(event)?;
        }
        Ok(())
    }

    fn outcome(mut self) -> Outcome {
        let time = self.fleet.duration as f64 * self.fleet.costs.processors as f64;
        let busy: Vec<f64> = self.stations.iter().map(|station| station.busy as f64).collect();
        let sum: f64 = busy.iter().sum();
        let handed_out = self.states.handed_out();
        Outcome {
            utilisation: sum / time / busy.len() as f64,
            busiest: busy.iter().copied().fold(0.0, f64::max) / time,
            cpu: sum / self.counts.decisions as f64,
            clients: handed_out.clients,
            most_beyond: handed_out.most_beyond,
            unfinished: self.calls.len() - self.free.len(),
            counts: self.counts,
        }
    }

    fn at(&mut self, time: u64, event: Event) {
        self.sequence += 1;
        self.events.push(Reverse((time, self.sequence, event)));
    }

    fn handle(&mut self, event: Event) -> Done {
        match event {
            Event::Arrive => {
                if let Load::Arrivals(rate) = self.fleet.load {
                    let ramp = self.fleet.ramp.max(1) as f64;
                    let part = ((self.now - BEGIN) as f64 / ramp).clamp(0.01, 1.0);
                    let next = self.now + self.random.until_next(1e9 / (rate * part));
                    self.at(next, Event::Arrive);
                }
                let host = self.random.below(self.fleet.hosts as u64) as usize;
                self.arrive(host)
            }
            Event::Reach(call) => self.reach(call),
            Event::Serve(call) => self.serve(call),
            Event::Reply(call) => self.reply(call),
            Event::Work(call) => self.work(call),
            Event::Worked(call) => {
                if let Some((next, time)) = self.callers.end() {
                    self.at(self.now + time, Event::Worked(next));
                }
                self.work(call)
            }
            Event::Poll(host, client) => self.poll(host, client),
            Event::Resume(call) => self.read(call),
            Event::LosePatience(call, number) => self.lose_patience(call, number),
        }
    }

    fn call(&mut self, id: usize) -> Result<&mut Call, String> {
        self.calls.get_mut(id).ok_or_else(|| format!("no call {id}"))
    }

    fn host(&self, host: usize) -> Result<&Host, String> {
        self.hosts.get(host).ok_or_else(|| format!("no host {host}"))
    }

    /// A call comes to a host. It waits if all workers are at work.
    fn arrive(&mut self, host: usize) -> Done {
        let (now, limit) = (self.now, self.fleet.workers);
        let (busy, backlog) = self.workers.get_mut(host).ok_or("no such host")?;
        if *busy < limit {
            *busy += 1;
            return self.begin(host, now);
        }
        if backlog.len() < BACKLOG {
            backlog.push_back(now)
        } else {
            self.counts.refused += 1
        }
        Ok(())
    }

    /// A worker of a host makes a call for one token, for a client that came at `came`.
    fn begin(&mut self, host: usize, came: u64) -> Done {
        let client = self.zipf.pick(&mut self.random);
        let now = self.now;
        self.sequence += 1;
        let mut call = Call {
            host,
            client,
            came,
            began: now,
            sent: now,
            op: Op::Take { cost: 1 },
            trip: Trip::Decide,
            fetch: None,
            decision: None,
            after: Span::default(),
            version: 0,
            is_handed_off: false,
            is_lost: false,
            tries: 0,
            has_ticket: false,
            is_local: false,
            accepted: false,
            number: self.sequence,
        };
        let mut left_over = 0;
        if self.fleet.costs.protocol == Protocol::Local {
            call.is_local = true;
            call.accepted = self.decide_locally(host, client)?;
        } else if self.fleet.has_leases() {
            match self.host(host)?.take(client, &self.bucket, self.fleet.lease, now) {
                Step::Taken(_) => {
                    (call.is_local, call.accepted) = (true, true);
                    self.counts.leased += 1;
                    self.states.handed_out().note(client, now)?;
                }
                Step::Fetch(fetch) => {
                    left_over = fetch.left_over;
                    call.fetch = Some(fetch);
                }
                Step::Ask => {}
            }
        }
        let is_local = call.is_local;
        let id = match self.free.pop() {
            Some(id) => {
                *self.call(id)? = call;
                id
            }
            None => {
                self.calls.push(call);
                self.calls.len() - 1
            }
        };
        match (is_local, left_over) {
            (true, _) => self.decide_without_trip(id, self.fleet.costs.local),
            (false, 0) => self.ask_for_tokens(id),
            (false, left_over) => {
                self.send(id, Op::Refund { cost: left_over.into(), expiry: None })
            }
        }
    }

    /// Each host has a table of its own.
    fn decide_locally(&mut self, host: usize, client: u32) -> Result<bool, String> {
        let state = self.local.entry((host, client)).or_default();
        let (decision, after) = decide(&self.limit, *state, Op::Take { cost: 1 }, self.now)?;
        *state = after;
        Ok(decision.accepted)
    }

    fn decide_without_trip(&mut self, id: usize, time: u64) -> Done {
        self.call(id)?.is_local = true;
        self.occupy(id, time)
    }

    /// A caller works on a call for so long.
    fn occupy(&mut self, id: usize, time: u64) -> Done {
        if self.fleet.network.is_some() {
            self.at(self.now + time, Event::Work(id));
        } else if self.callers.take(id, time) {
            self.at(self.now + time, Event::Worked(id));
        }
        Ok(())
    }

    fn ask_for_tokens(&mut self, id: usize) -> Done {
        let (now, limit, bucket, lease) = (self.now, self.limit, self.bucket, self.fleet.lease);
        let has_deny_cache = self.fleet.deny_cache;
        let call = self.call(id)?;
        let (host, client) = (call.host, call.client);
        let fetch = call.fetch.take();
        if has_deny_cache && self.host(host)?.knows_denial(client, &limit, now) {
            if let Some(fetch) = fetch {
                self.host(host)?.with_lease(client, &bucket, lease, |lease| lease.give_up(&fetch));
            }
            self.counts.known_denials += 1;
            return self.decide_without_trip(id, self.fleet.costs.denied);
        }
        let op =
            fetch.as_ref().map_or(Op::Take { cost: 1 }, |fetch| batch_to_ask(&limit, fetch, now));
        self.call(id)?.fetch = fetch;
        self.send(id, op)
    }

    /// Asks the server for an operation.
    fn send(&mut self, id: usize, op: Op) -> Done {
        let now = self.now;
        let is_swap = self.fleet.costs.protocol == Protocol::Swap;
        let call = self.call(id)?;
        (call.op, call.sent, call.tries, call.trip) = (op, now, 0, Trip::Decide);
        if is_swap { self.queue(id) } else { self.request(id) }
    }

    // The hot-key queue.

    fn queue(&mut self, id: usize) -> Done {
        let call = self.call(id)?;
        let (host, client, number) = (call.host, call.client, call.number);
        let queue = self.hosts.get_mut(host).ok_or("no host")?.queues.entry(client).or_default();
        if !queue.is_taken {
            queue.is_taken = true;
            return self.enter(id);
        }
        queue.waiting.push_back(id);
        self.at(self.now + QUEUE_PATIENCE, Event::LosePatience(id, number));
        Ok(())
    }

    /// The call has the queue's ticket: it swaps the state that was handed off, or reads.
    fn enter(&mut self, id: usize) -> Done {
        let now = self.now;
        let call = self.call(id)?;
        call.has_ticket = true;
        let (host, client) = (call.host, call.client);
        let handoff = self
            .hosts
            .get(host)
            .and_then(|host| host.queues.get(&client))
            .and_then(|queue| queue.handoff);
        match handoff {
            Some(Handoff { full_at, version, at }) if now < at + HANDOFF_LIFETIME => {
                let call = self.call(id)?;
                (call.version, call.is_handed_off) = (version, true);
                self.decide_on(id, full_at)
            }
            _ => self.read(id),
        }
    }

    fn poll(&mut self, host: usize, client: u32) -> Done {
        let Some(queue) = self.hosts.get_mut(host).and_then(|host| host.queues.get_mut(&client))
        else {
            return Ok(());
        };
        if queue.is_taken {
            return Ok(());
        }
        let Some(next) = queue.waiting.pop_front() else { return Ok(()) };
        queue.is_taken = true;
        self.enter(next)
    }

    fn lose_patience(&mut self, id: usize, number: u64) -> Done {
        let call = self.call(id)?;
        let (is_same, host, client) =
            (call.number == number && !call.has_ticket, call.host, call.client);
        let Some(queue) = self.hosts.get_mut(host).and_then(|host| host.queues.get_mut(&client))
        else {
            return Ok(());
        };
        let Some(place) = queue.waiting.iter().position(|waiting| *waiting == id && is_same) else {
            return Ok(());
        };
        queue.waiting.remove(place);
        self.read(id)
    }

    fn leave_queue(&mut self, id: usize) -> Done {
        let call = self.call(id)?;
        let (host, client) = (call.host, call.client);
        if !std::mem::replace(&mut call.has_ticket, false) {
            return Ok(());
        }
        let now = self.now;
        let Some(host_state) = self.hosts.get_mut(host) else { return Ok(()) };
        let Some(queue) = host_state.queues.get_mut(&client) else { return Ok(()) };
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

    // Swaps.

    fn read(&mut self, id: usize) -> Done {
        let call = self.call(id)?;
        (call.trip, call.is_handed_off) = (Trip::Read, false);
        self.request(id)
    }

    /// Decides on a state, and swaps it if the decision changes it.
    fn decide_on(&mut self, id: usize, full_at: Span) -> Done {
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

    // Trips.

    fn request(&mut self, id: usize) -> Done {
        // On one machine the time between two processors is the server's: see reach().
        self.at(self.now + self.fleet.network.unwrap_or_default(), Event::Reach(id));
        Ok(())
    }

    fn reach(&mut self, id: usize) -> Done {
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

    fn station(&mut self, client: u32) -> Result<&mut Station, String> {
        let node = mix(u64::from(client) + 1) as usize % self.stations.len().max(1);
        self.stations.get_mut(node).ok_or_else(|| format!("no server {node}"))
    }

    fn serve(&mut self, id: usize) -> Done {
        let now = self.now;
        let client = self.call(id)?.client;
        if let Some((next, time)) = self.station(client)?.end() {
            self.at(now + time, Event::Serve(next));
        }
        let call = self.call(id)?;
        let (trip, op, version, after, began) =
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
                    let decision = began.ok_or("a swap without a decision")?;
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
    fn note_handed_out(&mut self, client: u32, op: Op, decision: &Decision) -> Done {
        let takes = matches!(op, Op::Take { .. } | Op::TakeUpTo { .. });
        if takes && decision.accepted {
            self.states.handed_out().note(client, decision.now)
        } else {
            Ok(())
        }
    }

    /// The caller has its reply, and has to wake up and to read it.
    fn reply(&mut self, id: usize) -> Done {
        let costs = &self.fleet.costs;
        let time = match self.fleet.network {
            Some(_) => costs.caller + costs.caller_wake,
            None if self.callers.is_idle() => costs.caller + costs.caller_wake + costs.gap / 2,
            None => costs.caller,
        };
        self.occupy(id, time)
    }

    fn work(&mut self, id: usize) -> Done {
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
                let handoff =
                    Handoff { full_at: call.after, version: call.version + 1, at: self.now };
                let call = self.call(id)?;
                let (host, client, has_ticket) = (call.host, call.client, call.has_ticket);
                if let Some(queue) = self
                    .hosts
                    .get_mut(host)
                    .and_then(|host| host.queues.get_mut(&client))
                    .filter(|_| has_ticket)
                {
                    queue.handoff = Some(handoff);
                }
                self.decided(id)
            }
        }
    }

    /// Waits for a random time that grows with every try.
    fn try_again(&mut self, id: usize) -> Done {
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

    /// The server has answered an operation.
    fn decided(&mut self, id: usize) -> Done {
        self.leave_queue(id)?;
        let (now, limit, bucket, max) = (self.now, self.limit, self.bucket, self.fleet.lease);
        let call = self.call(id)?;
        if let Op::Refund { .. } = call.op {
            return self.ask_for_tokens(id);
        }
        let decision = call.decision.ok_or("no decision")?;
        let (host, client, sent) = (call.host, call.client, call.sent);
        call.accepted = decision.accepted;
        let fetch = call.fetch.take();
        let host = self.host(host)?;
        if !decision.accepted {
            host.note_denial(client, &decision, sent, now);
        }
        if let Some(fetch) = fetch {
            host.with_lease(client, &bucket, max, |lease| match decision.accepted {
                true => {
                    let full_at = sent + (decision.expires_at - decision.now);
                    let is_scarce = limit.remaining(&decision) < limit.capacity() / 4;
                    // A batch is at most 4,095.
                    let tokens = decision.taken.saturating_sub(1) as u32;
                    lease.put(&fetch, tokens, full_at, is_scarce, sent, now);
                }
                false => lease.give_up(&fetch),
            });
        }
        self.end(id)
    }

    fn end(&mut self, id: usize) -> Done {
        let now = self.now;
        let call = self.call(id)?;
        let (host, came, began, accepted) = (call.host, call.came, call.began, call.accepted);
        self.free.push(id);
        let counts = &mut self.counts;
        counts.decisions += 1;
        counts.accepted += u64::from(accepted);
        counts.late += u64::from(now - began > TIMEOUT);
        counts.times.note(now - came);
        if let Load::Workers = self.fleet.load {
            return self.begin(host, now);
        }
        let (busy, backlog) = self.workers.get_mut(host).ok_or("no such host")?;
        match backlog.pop_front() {
            Some(came) => self.begin(host, came),
            None => {
                *busy -= 1;
                Ok(())
            }
        }
    }
}
