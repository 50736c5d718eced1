//! The simulation: calls, the trips that they make, and the queues that they wait in.
//!
//! Leases, denials and the arithmetic of limits are the extension's own code, which takes the time as an argument. Servers, the
//! network and workers are events on a simulated clock. `trips` has what happens between a request and its reply, `swaps` the stores that
//! compare and swap.

mod swaps;
mod trips;

use crate::costs::Protocol;
use crate::fleet::{Fleet, Load};
use crate::host::Host;
use crate::random::{Random, Zipf};
use crate::results::Counts;
use crate::server::{HandedOut, States, Station, decide};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use token_bucket::guard::leases;
use token_bucket::guard::leases::{Fetch, Step};
use token_bucket::limit::{Decision, Limit, Op, Span, TokenBucket};

/// The simulated clock begins here: no time is before the beginning.
const BEGIN: u64 = 3_600_000_000_000;
/// The default time-out of a call, in nanoseconds.
const TIMEOUT: u64 = 50_000_000;
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
    QueueTimeout(usize, u64),
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
        let bucket = TokenBucket::per_second(fleet.capacity, fleet.rate)
            .map_err(|error| format!("capacity or rate: {error}"))?;
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
            Event::QueueTimeout(call, number) => self.leave_queue_without_ticket(call, number),
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
                Step::Ask | Step::Await(_) => {}
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
                self.host(host)?
                    .with_lease(client, &bucket, lease, |lease| lease.give_up(&fetch, false));
            }
            self.counts.known_denials += 1;
            return self.decide_without_trip(id, self.fleet.costs.denied);
        }
        let op = fetch.as_ref().map_or(Op::Take { cost: 1 }, |fetch| fetch.op(&limit, 1, now));
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
                    let is_scarce = leases::is_scarce(&limit, &decision);
                    // A batch is at most 4,095.
                    let tokens = decision.taken.saturating_sub(1) as u32;
                    lease.put(&fetch, tokens, full_at, is_scarce, sent, now);
                }
                false => lease.give_up(&fetch, false),
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
