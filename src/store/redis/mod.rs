//! Buckets in Redis or Valkey: one call of a script decides, by the server's clock.
//!
//! * [`link`]: a connection that speaks RESP, logged in
//! * [`nodes`]: finds the server of a key: the single one, the master, or a node of a cluster,
//!   by its [`slots`]
//! * [`scripts`]: the scripts that decide on the server; [`script_call`] is a call of one
//! * [`permits`]: the script for permits; [`refusals`]: what a server's refusal concerns

mod link;
mod nodes;
mod permits;
mod refusals;
mod script_call;
mod scripts;
mod slots;

use super::answer::Answer;
use super::key::Key;
use super::name::{key_name, unused_name};
use super::permits::Permits;
use super::remote::RemoteStore;
use super::request::{JointRequest, Request, Store, charges, peek_all};
use crate::clock::frozen;
use crate::dsn::{Address, RedisTarget, Topology};
use crate::error::{Error, Result};
use crate::limit::{Decision, Op, TokenBucket, apply, take_all};
use crate::net::Timeouts;
use crate::net::budget::Budget;
use crate::net::failure::Failure;
use crate::net::tls::Encryption;
use ::redis::Value;
use nodes::Nodes;
#[cfg(fuzzing)]
pub use nodes::{parse_map, parse_master, parse_redirection};
#[cfg(fuzzing)]
pub use permits::parse_permit_reply;
use refusals::refuses_call;
use rustls::ClientConfig;
use script_call::ScriptCall;
use scripts::{arguments, arguments_for_all, remove_mark, script_for};
pub use scripts::{parse_reply, parse_reply_for_all};
use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

/// The most tries of a call, redirections of a cluster included.
const MAX_TRIES: u32 = 5;

/// Buckets in Redis or Valkey.
pub struct Redis {
    target: RedisTarget,
    encryption: Encryption,
    nodes: RefCell<Nodes>,
    /// The server that said last that it must not be written to.
    unwritable: RefCell<Option<Address>>,
}

/// What a call does after a try that failed.
enum Next {
    /// It tries the server of the key again.
    Again,
    /// It asks this node of a cluster, once.
    AskAt(Address),
    /// It fails.
    Fail,
}

/// A try that failed.
struct Failed {
    address: Address,
    /// Whether the connection was opened by an earlier call.
    reused: bool,
    failure: Failure,
}

impl Redis {
    /// The store at `target`. Nothing is opened yet.
    pub fn new(target: RedisTarget) -> Self {
        let (nodes, unwritable) = (RefCell::default(), RefCell::default());
        Self { target, encryption: Encryption::default(), nodes, unwritable }
    }

    /// Runs a script on the server. `may_repeat`: the script may run again if it is not known whether it
    /// ran.
    fn run(&self, call: &ScriptCall<'_>, may_repeat: bool, timeouts: &Timeouts) -> Result<Vec<u8>> {
        let mut budget = Budget::start(*timeouts);
        let tls = self
            .encryption
            .config_for(self.target.tls.as_ref())
            .map_err(|failure| Error::local(format!("{}: {}", self.name(), failure.reason())))?;
        let tls = tls.as_ref();
        let mut nodes = self.nodes.borrow_mut();
        let mut redirected = None;
        let mut tries = 0;
        loop {
            let failed = match self.ask(&mut nodes, tls, &mut budget, call, redirected.take()) {
                Ok(reply) => return Ok(reply),
                Err(failed) => failed,
            };
            tries += 1;
            let next = self.after_failure(&mut nodes, &failed, may_repeat);
            let may_try = tries < MAX_TRIES && budget.is_left();
            match next {
                Next::Again if may_try => {}
                Next::AskAt(node) if may_try => redirected = Some(node),
                _ => return Err(self.error(&mut nodes, tls, &mut budget, failed)),
            }
        }
    }

    /// The error of a call whose last try failed.
    fn error(
        &self,
        nodes: &mut Nodes,
        tls: Option<&Arc<ClientConfig>>,
        budget: &mut Budget,
        failed: Failed,
    ) -> Error {
        let Failed { address, reused, mut failure } = failed;
        if reused && failure.is_lost() {
            // A firewall may have closed the idle connection: a new one shows whether the server
            // is up.
            let reopened = nodes.link_to(&address, &self.target, tls, budget);
            failure = reopened.err().unwrap_or(Failure::LostIdle);
        }
        self.encryption.note_failure(&failure);
        let single = self.is_single();
        let remedy = match single && failure.is("MOVED") {
            true => "; it is a node of a cluster, for redis+cluster:",
            false => "",
        };
        let (name, reason) = (format!("Redis at {address}"), failure.reason());
        let message = format!("{name}: {reason}{remedy}");
        if link::is_too_many_clients(&failure) {
            // Processes that have a connection keep it.
            return Error::local(message);
        }
        match failure {
            Failure::Refused { code, .. } if self.refuses_writes(&code) => {
                self.unwritable.replace(Some(address));
                Error::unwritable(&name, &reason)
            }
            Failure::Refused { code, detail } if refuses_call(&code, &detail) => {
                Error::refused(message)
            }
            Failure::LostIdle => Error::refused(message),
            Failure::Local(_) => Error::local(message),
            _ => Error::storage(message),
        }
    }

    /// Tries once: on the server of the key, or on the node that a cluster has `redirected` to.
    fn ask(
        &self,
        nodes: &mut Nodes,
        tls: Option<&Arc<ClientConfig>>,
        budget: &mut Budget,
        call: &ScriptCall<'_>,
        redirected: Option<Address>,
    ) -> Result<Vec<u8>, Failed> {
        let must_send_asking = redirected.is_some();
        let found = match redirected {
            Some(address) => Ok(address),
            None => nodes.find(&self.target, tls, call.first_name(), budget),
        };
        let address = match found {
            Ok(address) => address,
            Err((address, failure)) => return Err(Failed { address, reused: false, failure }),
        };
        let (link, reused) = match nodes.link_to(&address, &self.target, tls, budget) {
            Ok(link) => link,
            Err(failure) => return Err(Failed { address, reused: false, failure }),
        };
        let mut eval = |command: &str, script: &str, budget: &Budget| {
            let mut commands = Vec::with_capacity(2);
            if must_send_asking {
                commands.push(link::command("ASKING", &[]));
            }
            commands.push(call.packed(command, script));
            let answers = link.exchange(&commands, budget.answer_by())?;
            answers.into_iter().last().unwrap_or(Err(Failure::Lost))
        };
        let answer = match eval("EVALSHA", call.source.script.get_hash(), budget) {
            // The server does not know the script, or forgot it: EVAL sends the text.
            Err(failure) if failure.is("NOSCRIPT") => eval("EVAL", call.source.text, budget),
            other => other,
        };
        let failure = match answer {
            Ok(Value::BulkString(reply)) => match remove_mark(reply, call.arguments) {
                Some(reply) => return Ok(reply),
                None => Failure::ReplyToAnotherCall,
            },
            Ok(_) => Failure::Down("its answer is not the script's".to_owned()),
            Err(failure) => failure,
        };
        Err(Failed { address, reused, failure })
    }

    /// Closes the connection that failed, and forgets what is no longer true about the nodes.
    fn after_failure(
        &self,
        nodes: &mut Nodes,
        Failed { address, reused, failure }: &Failed,
        may_repeat: bool,
    ) -> Next {
        let single = self.is_single();
        let Failure::Refused { code, detail } = failure else {
            nodes.close(address);
            if !single {
                // Another node may have taken its place.
                nodes.forget();
            }
            // The server may have closed an idle connection without any fault.
            let idle = failure.is_lost() && *reused;
            return if may_repeat && (idle || !single) { Next::Again } else { Next::Fail };
        };
        match (code.as_str(), nodes::parse_redirection(detail, address)) {
            ("MOVED", Some((slot, to))) if !single => {
                nodes.moved(slot, to);
                Next::Again
            }
            ("ASK", Some((_, to))) if !single => Next::AskAt(to),
            // The connection is kept: the server decides on other keys, or denies.
            (code, _) if self.refuses_writes(code) || refuses_call(code, detail) => Next::Fail,
            // It may have become a replica, or lost its place: another server may be the master, have the slot, or be at this
            // address by now.
            (code, _) => {
                nodes.close(address);
                if single {
                    return Next::Fail;
                }
                nodes.look_elsewhere();
                match code {
                    "READONLY" | "MASTERDOWN" | "LOADING" | "MOVED" => Next::Again,
                    _ => Next::Fail,
                }
            }
        }
    }

    /// Whether a server that refuses with this code answers reads, and must not be written to: a single one that is a replica, or a
    /// master without its replicas. A replica where there should be a master is asked nothing more: the master is asked for.
    fn refuses_writes(&self, code: &str) -> bool {
        code == "NOREPLICAS" || self.is_single() && code == "READONLY"
    }

    const fn is_single(&self) -> bool {
        matches!(self.target.topology, Topology::Single(_))
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
    fn decide(&self, request: &Request<'_>) -> Result<Answer> {
        let Request { key, limit, op: &op, timeouts, .. } = *request;
        let (name, arguments) = (key_name(key), arguments(limit, op));
        let call = ScriptCall { source: script_for(limit), names: &[name], arguments: &arguments };
        let reply = self.run(&call, op.may_repeat(), timeouts)?;
        let reply = parse_reply(&reply).ok_or_else(garbled)?;
        let (decision, _) = apply(limit, &reply.before, frozen().unwrap_or(reply.now), op);
        match op {
            Op::Peek { .. } => Ok(decision.into()),
            _ if decision.is_accepted() == reply.accepted => Ok(decision.into()),
            _ => Err(garbled()),
        }
    }

    fn can_decide_all(&self, requests: &[Request<'_>]) -> bool {
        let Topology::Cluster(_) = self.target.topology else { return true };
        let mut slots = requests.iter().map(|request| slots::slot(&key_name(request.key)));
        let first = slots.next();
        // A script may use keys of one slot only.
        slots.all(|slot| Some(slot) == first)
    }

    fn decide_all(&self, requests: &[JointRequest<'_>]) -> Result<Vec<Decision>> {
        let Some(JointRequest { request: first, .. }) = requests.first() else {
            return Ok(Vec::new());
        };
        let names: Vec<_> = requests.iter().map(|joint| key_name(joint.request.key)).collect();
        let is_peek = matches!(first.op, Op::Peek { .. });
        let arguments = arguments_for_all(requests, is_peek);
        let source = &scripts::ALL;
        let call = ScriptCall { source, names: &names, arguments: &arguments };
        let may_repeat = requests.iter().all(|joint| joint.request.op.may_repeat());
        let reply = self.run(&call, may_repeat, first.timeouts)?;
        let reply = parse_reply_for_all(&reply, names.len()).ok_or_else(garbled)?;
        let (now, states) = (frozen().unwrap_or(reply.now), &reply.before);
        if is_peek {
            return Ok(peek_all(requests, states, now));
        }
        let decided = take_all(&charges(requests, states), now);
        match decided.is_accepted == reply.accepted {
            true => Ok(decided.decisions()),
            false => Err(garbled()),
        }
    }

    fn prepare(&self, prefix: &[u8], timeouts: &Timeouts) -> Result<()> {
        // A peek opens the connection and loads the script.
        let limit = TokenBucket::SMALLEST.into();
        let arguments = arguments(&limit, Op::Peek { cost: 0 });
        let (source, name) = (script_for(&limit), unused_name(prefix));
        let call = ScriptCall { source, names: &[name], arguments: &arguments };
        self.run(&call, true, timeouts).map(drop)
    }

    fn permits(&self) -> Option<&dyn Permits> {
        Some(self)
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        vec![
            ("Redis", self.servers()),
            ("Connections of this process", self.nodes.borrow().connections().to_string()),
        ]
    }
}

impl RemoteStore for Redis {
    fn breaker(&self, key: &Key<'_>) -> u64 {
        match self.target.topology {
            Topology::Cluster(_) => slots::breaker(&key_name(key)),
            _ => 0,
        }
    }

    fn is_connected(&self) -> bool {
        self.nodes.borrow().connections() > 0
    }

    fn keeps_connection(&self, _: u64) -> bool {
        let mut nodes = self.nodes.borrow_mut();
        nodes.keep_reusable_links();
        // In a cluster it may be that to another node.
        !matches!(self.target.topology, Topology::Cluster(_)) && nodes.connections() > 0
    }

    fn rediscover(&self) {
        let Some(address) = self.unwritable.take() else { return };
        let mut nodes = self.nodes.borrow_mut();
        nodes.close(&address);
        nodes.look_elsewhere();
    }

    /// That to the server that answered last, of several.
    fn round_trip(&self, _: u64) -> Duration {
        self.nodes.borrow().round_trip.shortest()
    }

    fn trips(&self, _: &[Op]) -> u32 {
        1
    }

    /// TCP, TLS, and the login.
    fn trips_to_connect(&self) -> u32 {
        2 + u32::from(self.target.tls.is_some())
    }

    fn name(&self) -> String {
        format!("Redis at {}", self.servers())
    }
}

/// The error of a reply that is not a script's, or that the limits do not agree with.
fn garbled() -> Error {
    Error::refused("Redis's script gave an answer that cannot be read")
}
