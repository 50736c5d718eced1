//! Buckets in Redis or Valkey: one script call a decision, by the server's clock.
//!
//! * [`link`]: a connection that speaks RESP, logged in
//! * [`nodes`]: which server to ask
//! * `bucket.lua`: the token bucket, on the server

mod link;
mod nodes;

use super::net::{Timeouts, budget::Budget, failure::Failure, tls};
use super::{Key, Store, name, record};
use crate::dsn::{Address, Redis as Target, Topology};
use crate::error::{Error, Result};
use crate::limit::{Decision, MAX_NOW, Op, SECOND, Span, State, TokenBucket, apply};
use ::redis::{Cmd, Script, Value};
use nodes::{Nodes, redirection};
use rustls::ClientConfig;
use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

const SOURCE: &str = include_str!("bucket.lua");

/// How often a cluster may send a call on, or a call be tried anew.
const MAX_TRIES: u32 = 5;

/// Buckets in Redis or Valkey.
pub struct Redis {
    target: Target,
    timeouts: Timeouts,
    /// The script's name: the hash of its text.
    script: Script,
    tls: OnceCell<Arc<ClientConfig>>,
    nodes: RefCell<Nodes>,
}

/// A try that came to nothing.
struct Failed {
    address: Address,
    /// Whether the connection had stood before.
    reused: bool,
    failure: Failure,
}

impl Redis {
    /// The store at `target`. Nothing is opened yet.
    pub fn new(target: Target, timeouts: Timeouts) -> Self {
        let (script, nodes) = (Script::new(SOURCE), RefCell::default());
        Self { target, timeouts, script, tls: OnceCell::new(), nodes }
    }

    fn tls(&self) -> Result<Option<&Arc<ClientConfig>>> {
        let Some(tls) = &self.target.tls else { return Ok(None) };
        if let Some(config) = self.tls.get() {
            return Ok(Some(config));
        }
        let config = tls::configure(tls)?;
        Ok(Some(self.tls.get_or_init(|| config)))
    }

    /// Has the server run the script for the key of this name. `may_repeat` tells whether that may
    /// be done again when it is not known if it was done.
    fn run(&self, name: &[u8], arguments: &[Vec<u8>], may_repeat: bool) -> Result<Vec<u8>> {
        let tls = self.tls()?;
        let mut nodes = self.nodes.borrow_mut();
        let mut budget = Budget::start(self.timeouts);
        let mut redirected = None;
        let mut tries = 0;
        loop {
            let call = (name, arguments);
            let failed = match self.ask(&mut nodes, tls, &mut budget, call, redirected.take()) {
                Ok(reply) => return Ok(reply),
                Err(failed) => failed,
            };
            tries += 1;
            let again = self.after_failure(&mut nodes, &failed, may_repeat, &mut redirected);
            if !again || tries == MAX_TRIES || !budget.is_left() {
                let Failed { address, failure, .. } = failed;
                let message = format!("Redis at {address}: {}", failure.reason());
                return Err(match failure {
                    // What has to do with the key says nothing of the others.
                    Failure::Refused { code, .. }
                        if matches!(code.as_str(), "WRONGTYPE" | "NOPERM") =>
                    {
                        Error::refused(message)
                    }
                    _ => Error::storage(message),
                });
            }
        }
    }

    /// One try, at the server for this name or the one that a cluster has `redirected` to.
    fn ask(
        &self,
        nodes: &mut Nodes,
        tls: Option<&Arc<ClientConfig>>,
        budget: &mut Budget,
        (name, arguments): (&[u8], &[Vec<u8>]),
        redirected: Option<Address>,
    ) -> Result<Vec<u8>, Failed> {
        let asks = redirected.is_some();
        let (address, reused) = match redirected {
            Some(address) => match nodes.link_to(&address, &self.target, tls, budget) {
                Ok(reused) => (address, reused),
                Err(failure) => return Err(Failed { address, reused: false, failure }),
            },
            None => match nodes.find(&self.target, tls, name, budget) {
                Ok(found) => (found.address, found.reused),
                Err((address, failure)) => return Err(Failed { address, reused: false, failure }),
            },
        };
        let Some(link) = nodes.link(&address) else {
            return Err(Failed { address, reused, failure: Failure::Lost });
        };
        let mut eval = |command: &str, script: &[u8], budget: &Budget| {
            let mut commands = Vec::with_capacity(2);
            if asks {
                commands.push(link::command("ASKING", &[]));
            }
            commands.push(call(command, script, name, arguments));
            let answers = link.exchange(&commands, budget.answer_by())?;
            answers.into_iter().last().unwrap_or(Err(Failure::Lost))
        };
        let answer = match eval("EVALSHA", self.script.get_hash().as_bytes(), budget) {
            // It was flushed, or the server is another: with the text it is known again.
            Err(failure) if failure.is("NOSCRIPT") => eval("EVAL", SOURCE.as_bytes(), budget),
            other => other,
        };
        let failure = match answer {
            Ok(Value::BulkString(reply)) => return Ok(reply),
            Ok(_) => Failure::Down("its answer is not the script's".to_owned()),
            Err(failure) => failure,
        };
        Err(Failed { address, reused, failure })
    }

    /// Closes what failed and forgets what it belies; whether the call may succeed elsewhere, or on
    /// a new connection.
    fn after_failure(
        &self,
        nodes: &mut Nodes,
        Failed { address, reused, failure }: &Failed,
        may_repeat: bool,
        redirected: &mut Option<Address>,
    ) -> bool {
        let single = matches!(self.target.topology, Topology::Single(_));
        let Failure::Refused { code, detail } = failure else {
            nodes.close(address);
            if !single {
                // Another may have taken its place by now.
                nodes.forget();
            }
            // A connection that had been idle may have been closed: nothing but the call itself
            // was lost with it.
            let idle = matches!(failure, Failure::Lost) && *reused;
            return may_repeat && (idle || !single);
        };
        match (code.as_str(), redirection(detail, address)) {
            ("MOVED", Some((slot, to))) if !single => {
                nodes.moved(slot, to);
                true
            }
            ("ASK", Some((_, to))) if !single => {
                *redirected = Some(to);
                true
            }
            // The master has become a replica: another one is the master now.
            ("READONLY" | "MASTERDOWN", _) if !single => {
                nodes.forget();
                true
            }
            ("CLUSTERDOWN", _) => {
                nodes.forget();
                false
            }
            _ => false,
        }
    }

    fn servers(&self) -> String {
        let servers: Vec<&Address> = match &self.target.topology {
            Topology::Single(address) => vec![address],
            Topology::Cluster(nodes) => nodes.iter().collect(),
            Topology::Sentinel { sentinels, .. } => sentinels.iter().collect(),
        };
        servers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }
}

impl Store for Redis {
    fn decide(
        &self,
        key: &Key<'_>,
        limit: &TokenBucket,
        op: Op,
        now: Option<u64>,
    ) -> Result<Decision> {
        let reply = self.run(&name::of(key), &arguments(limit, op, now), op.may_repeat())?;
        let garbled = || Error::refused("Redis's script gave an answer that cannot be read");
        let reply = Reply::read(&reply).ok_or_else(garbled)?;
        let (decision, _) = apply(limit, reply.before, now.unwrap_or(reply.now), op);
        match op {
            Op::Peek { .. } => Ok(decision),
            _ if decision.accepted == reply.accepted => Ok(decision),
            _ => Err(garbled()),
        }
    }

    fn prepare(&self) -> Result<()> {
        // A look at a bucket brings up the connection and the script.
        let limit = TokenBucket::of_time(1).map_err(|_| Error::storage("no limit"))?;
        self.run(b"h:prepare", &arguments(&limit, Op::Peek { cost: 0 }, None), true).map(drop)
    }

    fn circuit(&self, key: &Key<'_>) -> u64 {
        match self.target.topology {
            Topology::Cluster(_) => nodes::circuit(&name::of(key)),
            _ => 0,
        }
    }

    fn name(&self) -> String {
        format!("Redis at {}", self.servers())
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        vec![
            ("Redis", self.servers()),
            ("Connections of this process", self.nodes.borrow().connections().to_string()),
        ]
    }
}

fn call(command: &str, script: &[u8], name: &[u8], arguments: &[Vec<u8>]) -> Cmd {
    let mut call = ::redis::cmd(command);
    call.arg(script).arg(1).arg(name);
    for argument in arguments {
        call.arg(argument.as_slice());
    }
    call
}

/// The script's arguments; `bucket.lua` tells what they mean.
fn arguments(limit: &TokenBucket, op: Op, now: Option<u64>) -> Vec<Vec<u8>> {
    let (letter, cost, rest) = match op {
        Op::Take { cost: 0 } | Op::Reserve { cost: 0, .. } => ("N", 0, None),
        Op::Take { cost } | Op::Reserve { cost, .. } if cost > limit.capacity() => ("D", 0, None),
        Op::Take { cost } => ("T", cost, None),
        Op::Peek { .. } => ("P", 0, None),
        Op::Check => ("C", 0, Some(limit.worth(1))),
        Op::Reserve { cost, max_wait } => ("R", cost, Some(Span::from_ns(max_wait))),
        Op::Refund { cost } => ("F", cost, None),
        Op::Reset => ("X", 0, None),
        Op::Start { missing } => ("S", 0, Some(Span::from_ns(missing))),
    };
    let mut worth = Vec::with_capacity(30);
    record::put_span(&mut worth, limit.worth(cost));
    record::put_span(&mut worth, limit.refill_time());
    worth.extend((limit.parts() as u32).to_be_bytes());
    let mut arguments = Vec::with_capacity(4);
    arguments.extend([letter.as_bytes().to_vec(), worth]);
    if rest.is_some() || now.is_some() {
        let mut bytes = Vec::new();
        rest.inspect(|rest| record::put_span(&mut bytes, *rest));
        arguments.push(bytes);
    }
    if let Some(now) = now {
        let mut bytes = Vec::new();
        record::put_time(&mut bytes, now);
        arguments.push(bytes);
    }
    arguments
}

/// What the script returns.
struct Reply {
    accepted: bool,
    /// The server's clock, in nanoseconds.
    now: u64,
    before: State,
}

impl Reply {
    fn read(bytes: &[u8]) -> Option<Self> {
        let (accepted, rest) = bytes.split_first()?;
        let mut parts = rest.splitn(3, |byte| *byte == b' ');
        let mut number = || std::str::from_utf8(parts.next()?).ok()?.parse::<u64>().ok();
        let (seconds, micros) = (number()?, number()?);
        let now = seconds.checked_mul(SECOND)?.checked_add(micros.checked_mul(1_000)?)?;
        let before = record::decode(parts.next()?);
        (now <= MAX_NOW).then_some(Self { accepted: *accepted == b'1', now, before })
    }
}
