//! Buckets in a table of MariaDB or MySQL: compare and swap, by the server's clock.
//!
//! A row holds a bucket's state, and is replaced only while it is as it was read: see
//! [`swap`](super::swap).
//!
//! * [`entry`]: how a row is read and swapped
//! * [`row`]: a state as the columns of a row
//! * [`statements`]: what is sent
//! * [`table`]: makes the table, or adds what it lacks
//! * [`link`], [`login`], [`packets`]: a session, how it begins, and the protocol below it

mod entry;
mod link;
mod login;
mod packets;
mod row;
mod statements;
mod table;

use super::name::row_name;
use super::net::{
    Timeouts, budget::Budget, failure::Failure, kept::KeptConnection, tls::Encryption,
};
use super::request::{Request, Store};
use super::shm::MappedFile;
use super::swap::Decider;
use crate::dsn::{Mysql as Target, sanitize};
use crate::error::{Error, Result};
use crate::limit::Decision;
use entry::RowEntry;
use link::Link;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// What is said of a statement that ran out of time. The server does not say what it waited for.
const TOO_SLOW: &str = "the statement was not done in time: the bucket's row may be locked";
/// How long a process may take to swap: a commit may have to wait for a disk.
const MAX_SWAP_TIME: Duration = Duration::from_millis(50);
/// How long it may take to prepare a table: a large one may have to be written anew.
const PREPARATION: Duration = Duration::from_secs(60);

/// The server's numbers of what can go wrong.
mod code {
    pub const NO_SUCH_COLUMN: &str = "1054";
    pub const COLUMN_EXISTS: &str = "1060";
    pub const DUPLICATE_ROW: &str = "1062";
    pub const NO_SUCH_TABLE: &str = "1146";
    pub const TABLE_ACCESS_DENIED: &str = "1142";
    pub const COLUMN_ACCESS_DENIED: &str = "1143";
    pub const DATA_TOO_LONG: &str = "1406";
    pub const WRONG_STRING: &str = "1366";
    /// Nothing was done, for others were in the way: a lock wait, a deadlock, a snapshot too old, a
    /// statement killed.
    pub const IN_THE_WAY: [&str; 4] = [LOCK_WAIT, "1213", "1020", "1317"];
    /// A lock was waited for in vain, for a second.
    pub const LOCK_WAIT: &str = "1205";
    /// Nothing was done within `max_statement_time`.
    pub const TOO_SLOW: &str = "1969";
    /// An option that the server runs with forbids the statement: which one, it says.
    pub const FORBIDDEN_BY_OPTION: &str = "1290";
    pub const READ_ONLY: [&str; 2] = ["1792", "1836"];
}

/// Buckets in a table of MariaDB or MySQL.
pub struct Mysql {
    target: Target,
    encryption: Encryption,
    decider: Decider,
    /// Server, database and table, as the hot-key queue knows them.
    table: Vec<u8>,
    link: KeptConnection<Link>,
    /// The identifier of the row that the call before was about, if that took too long.
    slow: RefCell<Option<Vec<u8>>>,
}

impl Mysql {
    /// The store at `target`, whose hot-key queue is in `host_file`. Nothing is opened yet.
    pub fn new(target: Target, host_file: Rc<MappedFile>) -> Self {
        let decider = Decider::new("MySQL", MAX_SWAP_TIME, host_file);
        let table = format!("{}/{}/{}", target.address, target.database, target.table).into_bytes();
        let (encryption, link, slow) =
            (Encryption::default(), KeptConnection::default(), RefCell::default());
        Self { target, encryption, decider, table, link, slow }
    }

    /// Calls `work` with a session. `may_repeat` tells whether that may be done again if it is not known
    /// whether it was done.
    fn run<R>(
        &self,
        budget: &mut Budget,
        may_repeat: bool,
        work: impl Fn(&mut Link, Instant) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let tls = self.encryption.of(self.target.tls.as_ref())?;
        let timeout = budget.timeouts().call;
        let open = |deadline| {
            let link = Link::open(&self.target, tls.as_ref(), timeout, deadline);
            link.map_err(Failure::of_opening)
        };
        let result = self.link.call(budget, may_repeat, open, |link, deadline| {
            link.limit_statements(timeout, deadline)?;
            work(link, deadline)
        });
        if matches!(result, Err(Failure::Local(_) | Failure::Down(_))) {
            self.encryption.suspect();
        }
        result
    }

    /// The error of a call that came to nothing, on the row of `identifier`.
    fn error(&self, failure: &Failure, identifier: &[u8]) -> Error {
        let (code, detail) = match failure {
            Failure::Refused { code, detail } => (code, detail),
            Failure::LostIdle => return self.refused(&failure.reason()),
            Failure::Local(reason) => return Error::local(format!("{}: {reason}", self.name())),
            _ => return self.failed(&failure.reason()),
        };
        if code == code::TOO_SLOW || code == code::LOCK_WAIT {
            return self.too_slow(identifier);
        }
        if failure.is_any(&code::IN_THE_WAY) {
            return self.refused(detail);
        }
        // A new session next time: this one may not learn of new rights.
        self.link.close();
        match self.hint(code) {
            Some(hint) => self.refused(&format!("{detail}; {hint}")),
            None => self.failed(&format!("{detail} (error {code})")),
        }
    }

    /// One locked row says nothing of the others, but two in a row do.
    fn too_slow(&self, identifier: &[u8]) -> Error {
        match self.slow.replace(Some(identifier.to_vec())) {
            Some(before) if before != identifier => self.failed(TOO_SLOW),
            _ => self.refused(TOO_SLOW),
        }
    }

    /// An error of the server as a whole.
    fn failed(&self, reason: &str) -> Error {
        Error::storage(format!("{}: {reason}", self.name()))
    }

    /// An error of this call alone: the server is up.
    fn refused(&self, reason: &str) -> Error {
        Error::refused(format!("{}: {reason}", self.name()))
    }

    fn unreadable(&self) -> Error {
        self.refused("the row cannot be read: `microtime` must be a DOUBLE, and the others as prepare() makes them")
    }

    /// What would help, where the server is up but the table is not as it should be.
    fn hint(&self, code: &str) -> Option<String> {
        let Target { user, table, .. } = &self.target;
        Some(match code {
            code::NO_SUCH_TABLE => format!(
                "prepare() makes `{table}`, as a user who may create it; its statement is in docs/stores.md, \
                 \"MariaDB and MySQL\""
            ),
            code::NO_SUCH_COLUMN => format!(
                "prepare() adds the columns to `{table}`, as a user who may alter it; their statement is \
                 in docs/stores.md, \"MariaDB and MySQL\""
            ),
            code::TABLE_ACCESS_DENIED | code::COLUMN_ACCESS_DENIED => format!(
                "the user \"{}\" needs SELECT, INSERT and UPDATE on `{table}`",
                sanitize(user)
            ),
            code::DATA_TOO_LONG | code::WRONG_STRING => {
                "the column `identifier` must take 255 characters of ASCII".to_owned()
            }
            code::FORBIDDEN_BY_OPTION => {
                "start the server without this option, or name another server in the storage DSN"
                    .to_owned()
            }
            code if code::READ_ONLY.contains(&code) => {
                "the storage DSN must name a server that can be written to".to_owned()
            }
            _ => return None,
        })
    }
}

impl Store for Mysql {
    fn decide(&self, request: &Request<'_>) -> Result<Decision> {
        let identifier = row_name(request.key);
        let entry = RowEntry { store: self, identifier, request: *request };
        let decision = self.decider.decide(&entry, request, &entry.identifier, &self.table)?;
        self.slow.take();
        Ok(decision)
    }

    fn prepare(&self, timeouts: &Timeouts) -> Result<()> {
        // It may take longer than a decision.
        let prepared = table::prepare(self, Timeouts { call: PREPARATION, ..*timeouts });
        // The kept session has statements prepared for the table as it was.
        self.link.close();
        prepared
    }

    fn name(&self) -> String {
        format!("MySQL at {}", self.target.address)
    }

    fn describe(&self) -> Vec<(&'static str, String)> {
        let Target { address, database, table, tls, .. } = &self.target;
        vec![
            ("MySQL", address.to_string()),
            ("Table", format!("{database}.{table}")),
            ("Connections of this process", u8::from(self.link.is_open()).to_string()),
            ("Encrypted", if tls.is_some() { "yes" } else { "no" }.to_owned()),
        ]
    }
}
