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
use token_bucket::guard::leases::{Fetch, LeaseKey, Level, Step, is_scarce};
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
    /// Calls that are under way at the end, or wait for a worker.
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
    /// A call has waited after a lost swap.
    Resume(usize),
    /// The call of this number has waited for as long as it may.
    TimeOut(usize, u64),
    /// The row of a client is unlocked.
    Unlock(u32),
}

/// What a request asks a server for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trip {
    /// To decide.
    Decide,
    Read,
    Swap,
    /// To begin a transaction, to lock the row and read it, to update it, and to end the transaction.
    Begin,
    Lock,
    Update,
    Commit,
    Rollback,
}

/// What a call's process does, or waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Asks the server.
    Asks,
    /// Waits for the row on the server.
    AwaitsRow,
    /// Waits for its turn to ask.
    AwaitsTurn,
    /// Wakes up, for it is its turn.
    WakesToAsk,
    /// Waits for a lease's batch that is on its way.
    AwaitsLease,
    /// Wakes up, to look at the lease.
    WakesToTake,
    /// Ends.
    Ends,
}

struct Call {
    host: usize,
    client: u32,
    number: u64,
    stage: Stage,
    /// When its client came, and when a worker began with it.
    came: u64,
    began: u64,
    /// When the operation was sent, and how long it may take.
    sent: u64,
    timeout: u64,
    op: Op,
    trip: Trip,
    trip_began: u64,
    /// The right to fetch a batch.
    fetch: Option<Fetch>,
    /// None if the call was not decided in its time.
    decision: Option<Decision>,
    accepted: bool,
    /// The decision, until the server has what it changes.
    pending: Option<Decision>,
    /// What a trip has read, or what to write.
    state: Span,
    version: u32,
    is_handed_off: bool,
    /// Whether the last swap was lost, and how often the call has tried, and lost.
    is_lost: bool,
    tries: u32,
    losses: u32,
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
    /// The rows that are locked, and the calls that wait for each.
    rows: HashMap<u32, VecDeque<usize>>,
    calls: Vec<Call>,
    free: Vec<usize>,
    /// Of each host: the workers that are at work, and when the calls came that wait for one.
    workers: Vec<(usize, VecDeque<u64>)>,
    counts: Counts,
}

impl Outcome {
    /// Whether calls are decided in their time, and no queue grows.
    pub fn keeps_up(&self, fleet: &Fleet) -> bool {
        let Counts { decisions, accepted, late, busy, refused, .. } = self.counts;
        let calls = match fleet.load {
            Load::Arrivals(calls) => calls,
            Load::Workers => return true,
        };
        (late + busy) * 1_000 <= decisions
            && refused == 0
            && self.busiest < 0.98
            // As many as come within a call's time-out.
            && (self.unfinished as f64) < 100.0 + calls / 20.0
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
            rows: HashMap::new(),
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
            Load::Workers => (0..self.fleet.hosts * self.fleet.workers)
                .try_for_each(|worker| self.begin(worker % self.fleet.hosts, BEGIN))?,
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
            unfinished: self.calls.len() - self.free.len()
                + self.workers.iter().map(|(_, backlog)| backlog.len()).sum::<usize>(),
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
            Event::Resume(call) => self.attempt(call, None),
            Event::TimeOut(call, number) => self.time_out(call, number),
            Event::Unlock(client) => self.unlock(client),
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
        let call = Call {
            host,
            client,
            number: self.sequence,
            stage: Stage::Ends,
            came,
            began: now,
            sent: now,
            timeout: TIMEOUT,
            op: Op::Take { cost: 1 },
            trip: Trip::Decide,
            trip_began: now,
            fetch: None,
            decision: None,
            pending: None,
            accepted: false,
            state: Span::default(),
            version: 0,
            is_handed_off: false,
            is_lost: false,
            tries: 0,
            losses: 0,
        };
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
        if self.fleet.costs.protocol == Protocol::Local {
            self.call(id)?.accepted = self.decide_locally(host, client)?;
            self.decide_without_trip(id, self.fleet.costs.local)
        } else if self.fleet.has_leases() {
            self.take_from_lease(id)
        } else {
            self.ask_for_tokens(id)
        }
    }

    /// Takes a token from the lease. Waits for a batch that is on its way with half of the call's time at most: as
    /// `src/guard/leasing.rs`.
    fn take_from_lease(&mut self, id: usize) -> Done {
        let (now, max) = (self.now, self.fleet.lease);
        let call = self.call(id)?;
        let (host, client, number, may_wait_until) =
            (call.host, call.client, call.number, call.began + TIMEOUT / 2);
        call.timeout = (call.began + TIMEOUT).saturating_sub(now);
        match self.host(host)?.take(client, &self.bucket, max, now) {
            Step::Taken(_) => {
                self.call(id)?.accepted = true;
                self.counts.leased += 1;
                self.states.handed_out().note(client, now)?;
                self.decide_without_trip(id, self.fleet.costs.local)
            }
            Step::Fetch(fetch) => {
                let left_over = fetch.return_left_over(now);
                self.call(id)?.fetch = Some(fetch);
                match left_over {
                    None => self.ask_for_tokens(id),
                    Some(op) => self.send(id, op),
                }
            }
            Step::Await(_) if now < may_wait_until => {
                self.call(id)?.stage = Stage::AwaitsLease;
                self.waiting_for_lease(host, client)?.push(id);
                self.at(may_wait_until, Event::TimeOut(id, number));
                Ok(())
            }
            Step::Ask | Step::Await(_) => self.ask_for_tokens(id),
        }
    }

    /// Ends the fetching of a batch: with tokens, or without.
    fn end_fetch(&mut self, id: usize, work: impl FnOnce(&LeaseKey<'_>, &Fetch)) -> Done {
        let (bucket, max) = (self.bucket, self.fleet.lease);
        let call = self.call(id)?;
        let (host, client) = (call.host, call.client);
        let Some(fetch) = call.fetch.take() else { return Ok(()) };
        self.host(host)?.with_lease(client, &bucket, max, |lease| work(lease, &fetch));
        let waiting = self.hosts.get_mut(host).and_then(|host| host.waiting.remove(&client));
        waiting.into_iter().flatten().try_for_each(|id| self.wake(id, Stage::WakesToTake))
    }

    fn waiting_for_lease(&mut self, host: usize, client: u32) -> Result<&mut Vec<usize>, String> {
        let host = self.hosts.get_mut(host).ok_or("no such host")?;
        Ok(host.waiting.entry(client).or_default())
    }

    /// Wakes a process that slept.
    fn wake(&mut self, id: usize, stage: Stage) -> Done {
        let time = self.fleet.costs.caller_wake + self.fleet.costs.local;
        self.call(id)?.stage = stage;
        self.occupy(id, time)
    }

    /// A call has waited for as long as it may.
    fn time_out(&mut self, id: usize, number: u64) -> Done {
        let now = self.now;
        let call = self.call(id)?;
        let (host, client, stage) = (call.host, call.client, call.stage);
        let is_over = now >= call.sent + call.timeout;
        match stage {
            _ if call.number != number => Ok(()),
            Stage::AwaitsLease => {
                self.waiting_for_lease(host, client)?.retain(|waiting| *waiting != id);
                self.take_from_lease(id)
            }
            Stage::AwaitsTurn if is_over => self.give_up_turn(id),
            Stage::AwaitsRow if is_over => {
                if let Some(row) = self.rows.get_mut(&client) {
                    row.retain(|waiting| *waiting != id);
                }
                self.end_turn(id)
            }
            _ => Ok(()),
        }
    }

    /// Each host has a table of its own.
    fn decide_locally(&mut self, host: usize, client: u32) -> Result<bool, String> {
        let state = self.local.entry((host, client)).or_default();
        let (decision, after) = decide(&self.limit, *state, Op::Take { cost: 1 }, self.now)?;
        *state = after;
        Ok(decision.is_accepted())
    }

    fn decide_without_trip(&mut self, id: usize, time: u64) -> Done {
        self.call(id)?.stage = Stage::Ends;
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
        let (now, limit) = (self.now, self.limit);
        let has_deny_cache = self.fleet.deny_cache;
        let call = self.call(id)?;
        let (host, client) = (call.host, call.client);
        if has_deny_cache && self.host(host)?.knows_denial(client, &limit, now) {
            self.end_fetch(id, |lease, fetch| lease.give_up(fetch, false, true))?;
            self.counts.known_denials += 1;
            return self.decide_without_trip(id, self.fleet.costs.denied);
        }
        let fetch = self.call(id)?.fetch.as_ref();
        let op = fetch.map_or(Op::Take { cost: 1 }, |fetch| fetch.op(&limit, 1, now));
        self.send(id, op)
    }

    /// Asks the server for an operation.
    fn send(&mut self, id: usize, op: Op) -> Done {
        let now = self.now;
        let is_swap = self.fleet.costs.protocol == Protocol::Swap;
        let call = self.call(id)?;
        (call.op, call.sent, call.decision) = (op, now, None);
        if is_swap { self.take_turn(id) } else { self.request(id, Trip::Decide) }
    }

    /// The operation is decided on, or its time is over.
    fn decided(&mut self, id: usize) -> Done {
        let (now, limit) = (self.now, self.limit);
        let call = self.call(id)?;
        if let Op::GiveBack { .. } = call.op {
            return self.ask_for_tokens(id);
        }
        let (host, client, sent) = (call.host, call.client, call.sent);
        let decision = call.decision;
        call.accepted = decision.is_some_and(|decision| decision.is_accepted());
        match decision {
            Some(decision) if decision.is_accepted() => self.end_fetch(id, |lease, fetch| {
                let level = Level::new(&limit, &decision, sent);
                // A batch is at most 4,095.
                let tokens = decision.taken.saturating_sub(1) as u32;
                lease.put(fetch, tokens, level, is_scarce(&limit, &decision), sent, now);
            })?,
            Some(denial) => {
                self.host(host)?.note_denial(client, &denial, sent, now);
                self.end_fetch(id, |lease, fetch| lease.give_up(fetch, false, true))?;
            }
            None => {
                self.counts.busy += 1;
                self.end_fetch(id, |lease, fetch| lease.give_up(fetch, true, false))?;
            }
        }
        self.end(id)
    }

    fn end(&mut self, id: usize) -> Done {
        let now = self.now;
        let call = self.call(id)?;
        call.stage = Stage::Ends;
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
