//! Buckets in memcached: compare and swap, by the hosts' wall clocks: see [`stamp`].
//!
//! An item holds a state as a record. The server returns a token with it, and replaces the item only while
//! the token is unchanged: see [`swap`](super::swap). Arithmetic on the server (`ma`) would charge first and correct
//! later, and other processes would see a wrong level in between.

mod link;
mod stamp;

use super::answer::Answer;
use super::key::Key;
use super::name::{key_name, unused_name};
use super::record;
use super::remote::RemoteStore;
use super::request::{Request, Store};
use super::swap::handoff::Handoff;
use super::swap::{Found, MAX_CLOCK_SKEW, Swap, SwapDecider, SwapEntry};
use crate::clock::{Reading, boot_time, frozen, unix_nanoseconds};
use crate::dsn::Address;
use crate::error::{Error, Result};
use crate::hash;
use crate::limit::{Op, SECOND, StoredState};
use crate::mapped::MappedFile;
use crate::net::Timeouts;
use crate::net::budget::Budget;
use crate::net::failure::Failure;
use crate::net::kept_connection::KeptConnection;
use crate::net::pause::Moment;
use link::{MemcachedLink, MetaReply};
use memcache::exp::{MetaCommand, MetaOp, ReturnCode};
use stamp::{Clock, Stamp};
use std::cell::Cell;
use std::rc::Rc;
use std::time::Duration;

/// The longest relative time to live, in seconds. memcached takes a larger number for a date.
const MAX_RELATIVE_TTL: u64 = 30 * 86_400;

/// Buckets in one memcached or several.
pub struct Memcached {
    servers: Vec<Server>,
    decider: SwapDecider,
    /// How far this host's clock was behind those that wrote states at most, since that was last asked.
    clock_behind: Cell<Duration>,
}

/// One memcached, and the connection to it.
struct Server {
    address: Address,
    link: KeptConnection<MemcachedLink>,
}

impl Memcached {
    /// The store on `servers`, whose hot keys have records in `host_file`. Nothing is opened yet.
    pub fn new(servers: Vec<Address>, host_file: Rc<MappedFile>) -> Self {
        let server = |address| Server { address, link: KeptConnection::default() };
        let decider = SwapDecider::new("memcached", host_file);
        let servers = servers.into_iter().map(server).collect();
        Self { servers, decider, clock_behind: Cell::default() }
    }

    /// The number of a key's server: the one with the highest hash of server and key (rendezvous hashing).
    ///
    /// The order of the servers does not matter, and if a server is added or removed only its own keys
    /// move. The hash has no secret, for all hosts must agree.
    fn server(&self, name: &[u8]) -> usize {
        let score =
            |server: &Server| hash::plain(&[server.address.to_string().as_bytes(), b"\0", name]);
        (0..self.servers.len()).max_by_key(|i| self.servers.get(*i).map(score)).unwrap_or_default()
    }

    /// Notes how far this host's clock is behind the time of a bucket, if it is more than clocks may differ.
    fn note_clock(&self, behind: u64) {
        if behind > MAX_CLOCK_SKEW * SECOND {
            self.clock_behind.set(self.clock_behind.get().max(Duration::from_nanos(behind)));
        }
    }

    fn addresses(&self) -> String {
        self.servers.iter().map(|it| it.address.to_string()).collect::<Vec<_>>().join(", ")
    }
}

impl Server {
    fn open(&self, deadline: Moment) -> Result<MemcachedLink, Failure> {
        MemcachedLink::open(&self.address, deadline, &self.link.round_trip)
    }

    /// Sends a command, and opens a connection if there is none. `may_repeat`: the command may be sent again if
    /// it is not known whether it was done.
    fn call(
        &self,
        command: &MetaCommand,
        may_repeat: bool,
        budget: &mut Budget,
    ) -> Result<MetaReply> {
        let open = |deadline| self.open(deadline);
        let answer = self.link.call(budget, may_repeat, open, |link, by| link.call(command, by));
        answer.map_err(|failure| self.error(failure))
    }

    /// Sends a swap by a token, if there is a connection to the very server process that gave the token: a
    /// restarted server counts its tokens from the start. None if there is no such connection, or if it was
    /// lost with the swap and `may_repeat`.
    fn swap(
        &self,
        command: &MetaCommand,
        token: &Token,
        may_repeat: bool,
        budget: &mut Budget,
    ) -> Result<Option<MetaReply>> {
        let is_same = |link: &MemcachedLink| link.opened < token.known_at;
        let called = self.link.call_only_on(budget, is_same, |link, by| link.call(command, by));
        let failure = match called {
            None => return Ok(None),
            Some(Ok(answer)) => return Ok(Some(answer)),
            Some(Err(failure)) if failure.is_lost() && may_repeat => return Ok(None),
            Some(Err(failure)) if failure.is_lost() => {
                self.link.after_loss(budget, |deadline| self.open(deadline))
            }
            Some(Err(failure)) => failure,
        };
        Err(self.error(failure))
    }

    /// The error of a call that failed.
    fn error(&self, failure: Failure) -> Error {
        let message = format!("memcached at {}: {}", self.address, failure.reason());
        match failure {
            // A server without memory for a new key still denies, for a denial stores nothing.
            Failure::Refused { .. } | Failure::LostIdle => Error::refused(message),
            Failure::Local(_) => Error::local(message),
            _ => Error::storage(message),
        }
    }
}

/// Tells the values of an item apart. Valid for one run of the server.
struct Token {
    cas: u64,
    /// A time at which the server that gave the token was running. A connection that was opened before and
    /// is still open leads to the same run of the server.
    known_at: u64,
}

/// The failure of a server that tells no two values of an item apart: no call after a key's first one can be decided on.
fn no_tokens() -> Failure {
    let why = "it keeps no numbers for compare-and-swap; start memcached without -C, or name a server that keeps them";
    Failure::Down(why.to_owned())
}

/// The item of one key.
struct Item<'a> {
    store: &'a Memcached,
    server: &'a Server,
    name: Vec<u8>,
    /// Whether the operation may be repeated if it is not known whether it was done.
    may_repeat: bool,
    /// Whether a swap has failed because its connection was gone.
    lost: Cell<bool>,
}

impl SwapEntry for Item<'_> {
    /// The token for compare-and-swap, if there is an item.
    type Version = Option<Token>;

    fn read(&self, budget: &mut Budget) -> Result<Found<Option<Token>>> {
        let command = MetaCommand::new(MetaOp::Get, self.name.as_slice());
        let command = command.flag("v").flag("c").flag("t").flag("f");
        let answer = self.server.call(&command, true, budget)?;
        let (own, now) = (own_clock(), boot_time());
        let (time, state, version) = match (answer.value, answer.cas) {
            (Some(value), Some(cas @ 1..)) => {
                let stamp = answer.client_flags.and_then(Stamp::from_flags);
                let (time, state) = match (record::try_decode(&value), stamp) {
                    (Some(state), Some(stamp)) => {
                        (stamp.decide_at(own, &state, answer.left), state)
                    }
                    (Some(state), None) => (own.time, state),
                    (None, _) => (own.time, StoredState::FULL),
                };
                (time, state, Some(Token { cas, known_at: now }))
            }
            (Some(_), _) => return Err(self.server.error(no_tokens())),
            (None, _) => (own.time, StoredState::FULL, None),
        };
        self.store.note_clock(time.saturating_sub(own.time));
        let clock = Reading { time, sent_at: now, read_at: now };
        Ok(Found { state, version, now: [time; 2], clock })
    }

    fn handed_off(&self, handoff: &Handoff) -> Option<Option<Token>> {
        // The clock was read before the swap that gave the token.
        let token = Token { cas: handoff.version, known_at: handoff.clock.sent_at };
        let opened = self.server.link.with(|link| link.opened)?;
        (opened < token.known_at).then_some(Some(token))
    }

    fn swap(
        &self,
        version: &Option<Token>,
        state: &StoredState,
        now: u64,
        budget: &mut Budget,
    ) -> Result<Swap> {
        // ME (mode add) stores only where there is no item.
        let unchanged =
            version.as_ref().map_or("ME".to_owned(), |Token { cas, .. }| format!("C{cas}"));
        let stamp = Stamp::new(own_clock(), now);
        let command = match *state {
            StoredState::FULL => {
                MetaCommand::new(MetaOp::Delete, self.name.as_slice()).flag(unchanged)
            }
            _ => MetaCommand::new(MetaOp::Set, self.name.as_slice())
                .flag("c")
                .flag(expiry(stamp.time_to_live(state)))
                .flag(format!("F{}", stamp.flags()))
                .flag(unchanged)
                .value(record::encode(state)),
        };
        let (server, may_repeat) = (self.server, self.may_repeat);
        let answer = match version {
            None => server.call(&command, may_repeat, budget)?,
            Some(token) => match server.swap(&command, token, may_repeat, budget)? {
                Some(answer) => answer,
                // The item is read again on a new connection. A server that closes every connection is
                // down.
                None if !self.lost.replace(true) => return Ok(Swap::Lost),
                None => return Err(server.error(Failure::Lost)),
            },
        };
        Ok(if answer.code == ReturnCode::Hd { Swap::Done(answer.cas) } else { Swap::Lost })
    }

    fn connect(&self, budget: &mut Budget) -> Result<()> {
        let opened = self.server.link.open_if_none(budget, |deadline| self.server.open(deadline));
        opened.map_err(|failure| self.server.error(failure))
    }

    fn round_trip(&self) -> Duration {
        self.server.link.round_trip.expected()
    }

    fn server(&self) -> String {
        self.store.name()
    }
}

/// The clock that a call of this thread goes by.
fn own_clock() -> Clock {
    let time = frozen();
    Clock { time: time.unwrap_or_else(unix_nanoseconds), is_test: time.is_some() }
}

/// A time to live in seconds, as a flag.
fn expiry(seconds: u64) -> String {
    match seconds {
        relative if relative <= MAX_RELATIVE_TTL => format!("T{relative}"),
        // A date has 31 bits.
        long => format!("T{}", (unix_nanoseconds() / SECOND + long).min(i32::MAX as u64)),
    }
}

impl Store for Memcached {
    fn decide(&self, request: &Request<'_>) -> Result<Answer> {
        let name = key_name(request.key);
        let Some(server) = self.servers.get(self.server(&name)) else {
            return Err(Error::storage("The storage DSN names no memcached server"));
        };
        let address = server.address.to_string();
        let may_repeat = request.op.may_repeat();
        let item = Item { store: self, server, name, may_repeat, lost: Cell::new(false) };
        Ok(self.decider.decide(&item, request, &item.name, address.as_bytes())?.into())
    }

    fn prepare(&self, prefix: &[u8], timeouts: &Timeouts) -> Result<()> {
        let mut budget = Budget::start(*timeouts);
        let is_harmless = prefix.len() <= 100 && prefix.iter().all(u8::is_ascii_graphic);
        let prefix = if is_harmless { prefix } else { b"" };
        // An item for a second shows whether the server gives tokens.
        let command =
            MetaCommand::new(MetaOp::Set, unused_name(prefix)).flag("c").flag("T1").value(*b"1");
        self.servers.iter().try_for_each(|server| {
            let answer = server.call(&command, true, &mut budget)?;
            let is_stored = answer.code == ReturnCode::Hd;
            match answer.cas {
                Some(1..) => Ok(()),
                _ if is_stored => Err(server.error(no_tokens())),
                _ => Err(server.error(Failure::Down("it does not store an item".to_owned()))),
            }
        })
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let open = self.servers.iter().filter(|server| server.link.is_open()).count();
        vec![("memcached", self.addresses()), ("Connections of this process", open.to_string())]
    }
}

impl RemoteStore for Memcached {
    fn breaker(&self, key: &Key<'_>) -> u64 {
        match self.servers.len() {
            1 => 0,
            _ => self.server(&key_name(key)) as u64,
        }
    }

    fn is_connected(&self) -> bool {
        self.servers.iter().any(|server| server.link.is_open())
    }

    fn keeps_connection(&self, breaker: u64) -> bool {
        let server = usize::try_from(breaker).ok().and_then(|number| self.servers.get(number));
        server.is_some_and(|server| server.link.keep_if_reusable())
    }

    fn round_trip(&self, breaker: u64) -> Duration {
        let server = usize::try_from(breaker).ok().and_then(|number| self.servers.get(number));
        server.map_or(Duration::ZERO, |server| server.link.round_trip.shortest())
    }

    /// A read, and a swap.
    fn trips(&self, ops: &[Op]) -> u32 {
        if ops.iter().all(|op| matches!(op, Op::Peek { .. })) { 1 } else { 2 }
    }

    fn take_clock_behind(&self) -> Duration {
        self.clock_behind.take()
    }

    /// TCP.
    fn trips_to_connect(&self) -> u32 {
        1
    }

    fn name(&self) -> String {
        format!("memcached at {}", self.addresses())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapped::{FileSettings, HOST, Location, Purpose};

    fn store(names: &[&str]) -> Memcached {
        let server = |host: &&str| Address::Tcp { host: (*host).to_owned(), port: 11211 };
        let host_file = Location::new(&FileSettings::default(), HOST, Purpose::Host);
        Memcached::new(names.iter().map(server).collect(), Rc::new(MappedFile::new(host_file)))
    }

    #[test]
    fn keys_move_only_with_their_server() {
        let (three, two) = (store(&["a", "b", "c"]), store(&["c", "a"]));
        let mut counts = [0; 3];
        for i in 0..3_000 {
            let name = format!("tb:{i}");
            let at = three.server(name.as_bytes());
            counts[at] += 1;
            let then = &two.servers[two.server(name.as_bytes())].address;
            assert!(at == 1 || *then == three.servers[at].address);
        }
        assert!(counts.iter().all(|count| *count > 900), "{counts:?}");
        // Every host and every version must choose these.
        let servers = (0..8).map(|i| three.server(format!("tb:192.0.2.{i}").as_bytes()));
        assert_eq!(servers.collect::<Vec<_>>(), [2, 1, 2, 0, 2, 0, 2, 0]);
    }
}
