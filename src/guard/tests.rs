//! A server in this process, and calls on it, for the tests of this folder.

use super::{Guard, Host, HostFiles, Report, decide};
use crate::clock::{boot_time, frozen, time_of_day_ahead};
use crate::dsn::Secret;
use crate::error::{Error, Result};
use crate::limit::{Limit, Op, SECOND, StoredState, TokenBucket, apply};
use crate::mapped::FileSettings;
pub use crate::mapped::tests::Folder;
use crate::net::Timeouts;
use crate::settings::{OnError, Settings};
use crate::store::{Answer, Key, LimitKind, RemoteStore, Request, Store, WriteOutcome, Writes};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

pub const TIMEOUTS: Timeouts = Timeouts {
    call: std::time::Duration::from_millis(50),
    connect: std::time::Duration::from_millis(100),
};

/// How far the server's clock is ahead of this host's.
const AHEAD: u64 = 10_000_000 * SECOND;

/// Two nodes of one server, which fail when a test says so.
pub struct Server {
    states: RefCell<HashMap<(LimitKind, Vec<u8>), StoredState>>,
    /// How calls fail.
    pub failure: RefCell<Option<Error>>,
    /// What it was asked, and the time-outs of that.
    pub asked: RefCell<Vec<(Op, Timeouts)>>,
    pub is_connected: Cell<bool>,
    pub keeps_connection: Cell<bool>,
    pub lacks_room: Cell<bool>,
    /// Whether its writes wait for a lock. They have the last breaker.
    pub writes_wait: Cell<bool>,
    writes: Writes,
    /// How often a process looked for another one.
    pub rediscoveries: Cell<u32>,
    pub round_trip: Cell<Duration>,
}

impl Server {
    fn new() -> Self {
        Self {
            states: RefCell::default(),
            failure: RefCell::default(),
            asked: RefCell::default(),
            is_connected: Cell::new(true),
            keeps_connection: Cell::new(false),
            lacks_room: Cell::new(false),
            writes_wait: Cell::new(false),
            writes: Writes::default(),
            rediscoveries: Cell::new(0),
            round_trip: Cell::default(),
        }
    }

    pub fn fail(&self, error: Error) {
        self.failure.replace(Some(error));
    }

    /// What it was asked since this was last called.
    pub fn take_asked(&self) -> Vec<Op> {
        self.asked.take().into_iter().map(|(op, _)| op).collect()
    }
}

impl Store for Server {
    fn decide(&self, request: &Request<'_>) -> Result<Answer> {
        self.asked.borrow_mut().push((*request.op, *request.timeouts));
        if let Some(error) = &*self.failure.borrow() {
            return Err(error.clone());
        }
        if self.writes_wait.get() && !matches!(request.op, Op::Peek { .. }) {
            let is_tried = self.writes.may_write();
            let reason = if is_tried { "the write waits" } else { "not tried" };
            let waited = WriteOutcome::Waited(reason.to_owned());
            self.writes.note(if is_tried { waited } else { WriteOutcome::Withheld });
            return Err(Error::refused(reason));
        }
        self.writes.note(WriteOutcome::Answered);
        let now = frozen().unwrap_or(boot_time() + AHEAD);
        let limit = request.limit.on_this_host(time_of_day_ahead(now));
        let mut states = self.states.borrow_mut();
        let key = (LimitKind::from(&limit), request.key.to_vec());
        let state = states.entry(key).or_insert(StoredState::FULL);
        let (decision, after) = apply(&limit, state, now, *request.op);
        *state = after;
        Ok(Answer { decision, lacked_room: self.lacks_room.get() })
    }

    fn prepare(&self, _: &[u8], _: &Timeouts) -> Result<()> {
        Ok(())
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

impl RemoteStore for Server {
    fn breaker(&self, key: &Key<'_>) -> u64 {
        (key.parts[0] == b"second").into()
    }

    fn writes(&self) -> Option<&Writes> {
        Some(&self.writes)
    }

    fn is_connected(&self) -> bool {
        self.is_connected.get()
    }

    fn keeps_connection(&self, _: u64) -> bool {
        self.keeps_connection.get()
    }

    fn rediscover(&self) {
        self.rediscoveries.set(self.rediscoveries.get() + 1);
    }

    fn round_trip(&self, _: u64) -> Duration {
        self.round_trip.get()
    }

    fn trips(&self, ops: &[Op]) -> u32 {
        if ops.iter().all(|op| matches!(op, Op::Peek { .. })) { 1 } else { 2 }
    }

    fn trips_to_connect(&self) -> u32 {
        3
    }

    fn name(&self) -> String {
        "The server".to_owned()
    }
}

/// What a process of this host knows of the server, which all processes share that use these files.
pub fn host_in(files: &FileSettings) -> Rc<Host> {
    Rc::new(host_with_password(files, "password"))
}

pub fn host_with_password(files: &FileSettings, password: &str) -> Host {
    let (name, password) = ("The server".to_owned(), Secret(password.to_owned()));
    Host::new(b"server", name, password, &HostFiles::new(files))
}

/// What a process knows that has no shared memory.
pub fn host_alone() -> Rc<Host> {
    host_in(&FileSettings { path: "/nowhere".into(), size: 0 })
}

pub fn settings(on_error: OnError) -> Settings {
    Settings { on_error, ..Settings::default() }
}

/// A process of the host, and the server that it asks.
pub struct Process {
    pub server: Rc<Server>,
    pub guard: Guard,
}

impl Process {
    pub fn new(host: Rc<Host>, settings: Settings) -> Self {
        let server = Rc::new(Server::new());
        let store = Rc::clone(&server) as Rc<dyn RemoteStore>;
        Self { guard: Guard::new(store, host, &settings), server }
    }

    /// Makes a call that begins now, on the bucket of [`limit`].
    pub fn call(&self, op: Op) -> Report {
        self.call_at(op, boot_time())
    }

    /// Makes a call that began at `sent`.
    pub fn call_at(&self, op: Op, sent: u64) -> Report {
        with_request(&limit(), op, |request| decide(&self.guard, request, sent))
    }
}

/// A bucket of 100 tokens, one of which comes back in 10,000 seconds.
pub fn limit() -> Limit {
    TokenBucket::per_second(100, 0.0001).unwrap().into()
}

pub fn with_request<R>(limit: &Limit, op: Op, work: impl FnOnce(&Request<'_>) -> R) -> R {
    crate::store::with_request(limit, op, |request| {
        work(&Request { timeouts: &TIMEOUTS, ..*request })
    })
}
