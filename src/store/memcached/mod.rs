//! Buckets in memcached: compare and swap, by this host's wall clock.
//!
//! A decision reads the bucket with its token, applies the operation, and has the server replace
//! it if the token is still the same. The processes of a host take turns at a key (see
//! [`turns`](super::shm::turns)) and hand on what they wrote with its token, so on a hot key the
//! reading is saved, and few tries are lost to others.

mod link;

use super::net::{Timeouts, budget::Budget, failure::Failure};
use super::shm::host::Host;
use super::shm::turns::{Left, Turn};
use super::{Key, Settings, Store, name, record};
use crate::dsn::{Address, Secret};
use crate::error::{Error, Result};
use crate::limit::{Decision, Limit, MAX_NOW, Op, SECOND, State, apply};
use link::{Answer, Link};
use memcache::exp::{MetaCommand, MetaOp, ReturnCode};
use siphasher::sip::SipHasher13;
use std::cell::{Cell, RefCell};
use std::hash::Hasher;
use std::time::{Duration, SystemTime};

/// How often a decision is tried before it is "no": others are faster, at every try.
const MAX_TRIES: u32 = 64;

/// How long to wait for the turn at a key, at most.
const LONGEST_WAIT: Duration = Duration::from_millis(100);

/// By how much hosts' clocks may differ, in seconds. So much longer than until it is full a
/// bucket is kept, too.
const SPARE: u64 = 2;
/// The same where a test has frozen the clock.
const SPARE_WHEN_FROZEN: u64 = 3_600;
/// The longest time memcached counts from now; what is longer is a date.
const LONGEST_RELATIVE: u64 = 30 * 86_400;

/// Buckets in one memcached or several.
pub struct Memcached {
    servers: Vec<Address>,
    timeouts: Timeouts,
    links: RefCell<Vec<Option<Link>>>,
    host: Host,
}

/// What a try came to.
enum Try {
    Decided(Decision),
    /// Someone else was faster, or what was handed on is not to be relied on.
    Again,
}

impl Memcached {
    /// The store on `servers`. Nothing is opened yet.
    pub fn new(servers: Vec<Address>, timeouts: Timeouts, settings: &Settings) -> Self {
        let links = RefCell::new(servers.iter().map(|_| None).collect());
        let host = Host::new("memcached turns", Secret(String::new()), settings);
        Self { servers, timeouts, links, host }
    }

    /// The server a key belongs to: of all, the one for which a hash of both is highest
    /// (rendezvous hashing). The order of the servers does not matter, and where one is added or
    /// removed only its own keys move. The hash is fixed, for all hosts must agree.
    fn server(&self, name: &[u8]) -> usize {
        let score = |server: &Address| {
            let mut hasher = SipHasher13::new();
            hasher.write(server.to_string().as_bytes());
            hasher.write_u8(0);
            hasher.write(name);
            hasher.finish()
        };
        (0..self.servers.len()).max_by_key(|i| self.servers.get(*i).map(score)).unwrap_or_default()
    }

    /// Sends a command to a server, on a new connection if need be. `may_repeat` tells whether
    /// that may be done again when it is not known if it was done.
    fn call(
        &self,
        server: usize,
        command: &MetaCommand,
        may_repeat: bool,
        budget: &mut Budget,
    ) -> Result<Answer> {
        let Some(address) = self.servers.get(server) else {
            return Err(Error::storage("The storage DSN names no memcached"));
        };
        let failed = |failure: Failure| {
            let message = format!("memcached at {address}: {}", failure.reason());
            Err(match failure {
                // Who is denied stays so, for that needs no room.
                Failure::Refused { .. } => Error::refused(message),
                _ => Error::storage(message),
            })
        };
        let mut links = self.links.borrow_mut();
        let Some(place) = links.get_mut(server) else { return failed(Failure::Lost) };
        loop {
            let (mut link, reused) = match place.take().and_then(Link::if_good) {
                Some(link) => (link, true),
                None => match Link::open(address, budget.connect_by()) {
                    Ok(link) => (link, false),
                    Err(failure) => return failed(failure),
                },
            };
            match link.call(command, budget.answer_by()) {
                Ok(answer) => {
                    *place = Some(link);
                    return Ok(answer);
                }
                // A connection that had been idle: nothing but the call itself was lost with it.
                Err(Failure::Lost) if reused && may_repeat && budget.is_left() => {}
                Err(failure) => return failed(failure),
            }
        }
    }

    /// When the connection to a server was opened; later than anything if there is none.
    fn opened(&self, server: usize) -> u64 {
        let links = self.links.borrow();
        links.get(server).and_then(Option::as_ref).map_or(u64::MAX, |link| link.opened)
    }
}

/// A decision on its way.
struct Attempt<'a> {
    store: &'a Memcached,
    server: usize,
    name: Vec<u8>,
    limit: &'a Limit,
    op: Op,
    frozen: Option<u64>,
}

impl Attempt<'_> {
    fn decide(&self, turn: Option<&Turn<'_>>, budget: &mut Budget) -> Result<Decision> {
        let handed = turn.and_then(|turn| turn.left(self.store.opened(self.server)));
        if let Some(Left { state, cas }) = handed
            && let Try::Decided(decision) = self.on(state, Some(cas), true, turn, budget)?
        {
            return Ok(decision);
        }
        for tries in 1..=MAX_TRIES {
            let (state, cas) = self.read(budget)?;
            if let Try::Decided(decision) = self.on(state, cas, false, turn, budget)? {
                return Ok(decision);
            }
            // What the next try would need too: a server is not down for being asked too late.
            if !budget.is_left() {
                break;
            }
            // Apart from each other, and further with every try.
            let spread = 20u64 << tries.min(6);
            std::thread::sleep(Duration::from_micros(crate::clock::boot_time() / 64 % spread));
        }
        self.busy()
    }

    /// Others were faster, at every try: to be busy is not to be down.
    fn busy(&self) -> Result<Decision> {
        if let Op::Refund { .. } | Op::Reset = self.op {
            // That could not be told by a decision.
            return Err(Error::refused(format!("{}: the bucket is too busy", self.store.name())));
        }
        let full = apply(self.limit, State::FULL, self.now(), Op::Peek { cost: 0 }).0;
        Ok(Decision { accepted: false, retry_at: full.now + SECOND / 1_000, ..full })
    }

    /// Tries to decide on a state that the server may still have under the token.
    fn on(
        &self,
        state: State,
        cas: Option<u64>,
        handed: bool,
        turn: Option<&Turn<'_>>,
        budget: &mut Budget,
    ) -> Result<Try> {
        let own = self.now();
        let now = if self.frozen.is_some() { own } else { common_clock(self.limit, state, own) };
        let (decision, after) = apply(self.limit, state, now, self.op);
        let decision = told_by(own, decision);
        if after == state || matches!(self.op, Op::Peek { .. }) {
            // Nothing to replace, so nothing that tells whether it still was so.
            return Ok(if handed { Try::Again } else { Try::Decided(decision) });
        }
        let command = match (after == State::FULL, cas) {
            (true, None) => return Ok(Try::Decided(decision)),
            (true, Some(cas)) => {
                MetaCommand::new(MetaOp::Delete, self.name.as_slice()).flag(format!("C{cas}"))
            }
            (false, cas) => MetaCommand::new(MetaOp::Set, self.name.as_slice())
                .flag("c")
                .flag(self.expiry(after, now))
                // Where there is none, be the first.
                .flag(cas.map_or("ME".to_owned(), |cas| format!("C{cas}")))
                .value(record::encode(after)),
        };
        let answer = self.store.call(self.server, &command, self.op.may_repeat(), budget)?;
        if answer.code != ReturnCode::Hd {
            return Ok(Try::Again);
        }
        if let (Some(turn), Some(cas)) = (turn, answer.cas) {
            turn.leave(Left { state: after, cas });
        }
        Ok(Try::Decided(decision))
    }

    fn read(&self, budget: &mut Budget) -> Result<(State, Option<u64>)> {
        let command = MetaCommand::new(MetaOp::Get, self.name.as_slice()).flag("v").flag("c");
        let answer = self.store.call(self.server, &command, true, budget)?;
        Ok(match (answer.value, answer.cas) {
            (Some(value), Some(cas)) => (record::decode(&value), Some(cas)),
            _ => (State::FULL, None),
        })
    }

    fn now(&self) -> u64 {
        self.frozen.unwrap_or_else(wall_clock)
    }

    /// Until when the server keeps a state. It counts in seconds.
    fn expiry(&self, state: State, now: u64) -> String {
        let spare = if self.frozen.is_some() { SPARE_WHEN_FROZEN } else { SPARE };
        let seconds = state.new_again_at().saturating_sub(now).div_ceil(SECOND) + spare;
        match seconds {
            relative if relative <= LONGEST_RELATIVE => format!("T{relative}"),
            // It counts dates in 31 bits.
            long => format!("T{}", (wall_clock() / SECOND + long).min(i32::MAX as u64)),
        }
    }
}

impl Store for Memcached {
    fn decide(&self, key: &Key<'_>, limit: &Limit, op: Op, now: Option<u64>) -> Result<Decision> {
        let name = name::of(key);
        let server = self.server(&name);
        let attempt = Attempt { store: self, server, name, limit, op, frozen: now };
        let mut budget = Budget::start(self.timeouts);
        if matches!(op, Op::Peek { .. }) {
            return attempt.decide(None, &mut budget);
        }
        // A place of its own: the key's belongs to the one who called.
        let place = Default::default();
        let address = self.servers.get(server).map(ToString::to_string).unwrap_or_default();
        let parts = [attempt.name.as_slice(), b"@", address.as_bytes(), b""];
        // Waiting leaves half of the time for the call itself.
        let patience = (self.timeouts.call / 2).min(LONGEST_WAIT).as_nanos() as u64;
        let key = Key { parts, place: &place, window: false, evicted: Cell::new(false) };
        self.host.in_turn(&key, patience, |turn| attempt.decide(turn, &mut budget))
    }

    fn prepare(&self) -> Result<()> {
        let mut budget = Budget::start(self.timeouts);
        let command = MetaCommand::new(MetaOp::Noop, "");
        (0..self.servers.len())
            .try_for_each(|server| self.call(server, &command, true, &mut budget).map(drop))
    }

    fn circuit(&self, key: &Key<'_>) -> u64 {
        match self.servers.len() {
            1 => 0,
            _ => self.server(&name::of(key)) as u64,
        }
    }

    fn name(&self) -> String {
        let servers: Vec<String> = self.servers.iter().map(ToString::to_string).collect();
        format!("memcached at {}", servers.join(", "))
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let servers: Vec<String> = self.servers.iter().map(ToString::to_string).collect();
        let links = self.links.borrow();
        vec![
            ("memcached", servers.join(", ")),
            ("Connections of this process", links.iter().flatten().count().to_string()),
        ]
    }
}

/// The later of our clock and that of the host which has written this state: whose clock is behind
/// shall not take what is left to wait for time that no clock could have written, and shorten it.
/// Only beyond what clocks may differ a clock has gone backwards.
fn common_clock(limit: &Limit, state: State, own: u64) -> u64 {
    let theirs = limit.written_at(state);
    if theirs > own && theirs - own <= SPARE * SECOND { theirs } else { own }
}

/// A decision by a common clock, as our own has it: who is accepted has nothing to wait for.
fn told_by(own: u64, decision: Decision) -> Decision {
    let retry_at = if decision.accepted { own } else { decision.retry_at };
    Decision { now: own, retry_at, ..decision }
}

/// Nanoseconds since 1970.
fn wall_clock() -> u64 {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(MAX_NOW).min(MAX_NOW)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::TokenBucket;

    fn store(names: &[&str]) -> Memcached {
        let server = |host: &&str| Address::Tcp { host: (*host).to_owned(), port: 11211 };
        Memcached::new(
            names.iter().map(server).collect(),
            Timeouts::default(),
            &Settings::default(),
        )
    }

    #[test]
    fn hosts_whose_clocks_differ_give_nothing_away() {
        let ops = [Op::Take { cost: 1 }, Op::Check, Op::Reserve { cost: 1, max_wait: SECOND }];
        for (op, skew_ms) in ops.into_iter().flat_map(|op| [(op, 0), (op, 5), (op, 900)]) {
            let limit = TokenBucket::per_second(100, 100.0).unwrap().into();
            let (mut state, mut accepted) = (State::FULL, 0);
            // Ten seconds, every 0.2 ms a call, by two hosts in turn.
            for call in 0..50_000u64 {
                let own = 1_000 * SECOND + call * 200_000 + call % 2 * skew_ms * 1_000_000;
                let (decision, after) = apply(&limit, state, common_clock(&limit, state, own), op);
                state = after;
                accepted += u64::from(decision.accepted);
            }
            // What ten seconds and the skew are worth, and a reservation's second.
            assert!(accepted <= 1_100 + skew_ms / 10 + 100, "{op:?}, {skew_ms} ms: {accepted}");
        }
    }

    #[test]
    fn who_is_accepted_by_another_hosts_clock_has_nothing_to_wait_for() {
        let limit = Limit::from(TokenBucket::per_second(100, 100.0).unwrap());
        let (own, theirs) = (1_000 * SECOND, 1_001 * SECOND);
        let (accepted, after) = apply(&limit, State::FULL, theirs, Op::Take { cost: 100 });
        assert_eq!(told_by(own, accepted).retry_after(), 0.0);
        let (denied, _) = apply(&limit, after, theirs, Op::Take { cost: 1 });
        assert_eq!(told_by(own, denied).retry_after(), 1.01);
    }

    #[test]
    fn keys_move_only_with_their_server() {
        let (three, two) = (store(&["a", "b", "c"]), store(&["c", "a"]));
        let mut counts = [0; 3];
        for i in 0..3_000 {
            let name = format!("tb:{i}");
            let at = three.server(name.as_bytes());
            counts[at] += 1;
            let then = two.servers[two.server(name.as_bytes())].to_string();
            match at {
                1 => {}
                _ => assert_eq!(then, three.servers[at].to_string()),
            }
        }
        assert!(counts.iter().all(|count| *count > 900), "{counts:?}");
        // As every host must do it, whatever the version.
        let servers = (0..8).map(|i| three.server(format!("tb:192.0.2.{i}").as_bytes()));
        assert_eq!(servers.collect::<Vec<_>>(), [2, 1, 2, 0, 2, 0, 2, 0]);
    }
}
